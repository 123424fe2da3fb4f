"""How small `english` can be without training: product quantization, or fewer words, dimensions and bits.

    PARALOOM_DATA=… python benchmarks/encoder_sizes.py --write

*Codes*: what `paraloom research export english --megabytes 1` writes. *Cut*: the most frequent words and trigrams,
rotated by PCA of 20,000 sentences' vectors and cut, four bits a number; of three shapes that which is best on
development text, STS 2012's training pairs and SICK's. *Random*: vectors of as many words, damped by frequency.
Pearson x 100; 95 % intervals of differences from `english` by a paired bootstrap.
`--tables` prints the figures on development text of tables that were changed otherwise, in float32.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from results_pages import FOLDER, put_result, write_pages

from paraloom.core.seeds import generator
from paraloom.embed.average import Average, SentenceEncoder, normalize_vectors, quantize
from paraloom.embed.product_quantization import product_quantize
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.vocabulary import Vocabulary
from paraloom.evaluate.resampling import pearson, percentile_interval, resampled_pearson
from paraloom.evaluate.sts import System, overlap_of, similarities, task_weights
from paraloom.evaluate.sts_tasks import TASKS, YEARS, STSPairs, read_task
from paraloom.io import read_lines

DATA = Path(os.environ.get("PARALOOM_DATA", ""))
TEXT = ("forum.reddit-posts", "headlines.reddit-press", "captions.coco-texygen", "glosses.open-english-wordnet")
REPORTED = ("2012-2015", "SICK", "PIT")
SAMPLES = 500
COLUMNS = ["table", "words", "MB", "STS 2012–15", "difference", "SICK", "PIT"]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Shape:
    """Words, trigrams, dimensions of each."""

    words: int
    trigrams: int
    dimension: int


CUTS = (Shape(19_000, 4_000, 64), Shape(12_000, 3_500, 96), Shape(25_000, 4_000, 40))
HALF = Shape(60_000, 24_000, 128)
MEGABYTES = (5.0, 3.0, 2.0, 1.0, 0.5)


class Table:
    """The vectors of `english`, rotated so that the first dimensions tell most of its sentences; counts of types."""

    def __init__(self, encoder: SentenceEncoder, sentences: list[str]) -> None:
        units = normalize_vectors(encoder.encode(sentences))
        columns = encoder.spec.columns(encoder.part_dimension)
        self.rotated, self.entries, self.counts = {}, {}, {}
        for name, part in encoder.parts.items():
            of_part = units[:, columns[name] : columns[name] + part.dimension]
            axes = np.linalg.eigh(of_part.T @ of_part)[1][:, ::-1]
            self.rotated[name] = part.vectors @ axes
            self.entries[name] = part.vocabulary.entries
            rows = part.vocabulary.row_lists(sentences).rows
            self.counts[name] = np.bincount(rows, minlength=len(part.vocabulary))

    def cut(self, shape: Shape) -> SentenceEncoder:
        """The most frequent types in float32."""
        sizes = {"word": shape.words, "trigram": shape.trigrams}
        tables = {name: self.rotated[name][:size, : shape.dimension] for name, size in sizes.items()}
        return average(tables, self.entries)

    def random(self, shape: Shape) -> SentenceEncoder:
        """Random vectors, damped by the frequency of their types."""
        tables = {}
        for index, (name, size) in enumerate((("word", shape.words), ("trigram", shape.trigrams))):
            shares = self.counts[name] / self.counts[name].sum()
            drawn = generator(1, index).standard_normal((size, shape.dimension), np.float32)
            tables[name] = drawn * (1 / (1 + 3000 * shares[:size])).astype(np.float32)[:, None]
        return average(tables, self.entries)


def average(tables: dict[str, Floats], entries: dict[str, tuple[str, ...]]) -> SentenceEncoder:
    """An encoder of words and trigrams."""
    parts = {
        name: Average(Vocabulary(name, entries[name][: len(table)]), np.ascontiguousarray(table, np.float32))
        for name, table in tables.items()
    }
    return SentenceEncoder(parse_spec("word,trigram"), parts)


def stored(encoder: SentenceEncoder) -> tuple[SentenceEncoder, int, float]:
    """The encoder as it is read from files, their bytes, and the processor seconds of reading them."""
    with tempfile.TemporaryDirectory() as folder:
        save_encoder(encoder, folder)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        start = time.process_time()
        read = load_encoder(folder)
        return read, size, time.process_time() - start


def development(encoder: SentenceEncoder, pairs: dict[str, STSPairs]) -> float:
    """Mean of STS 2012's training pairs and of SICK's."""
    figures = {name: 100 * pearson(of.scores, similarities(encoder, of.first, of.second)) for name, of in pairs.items()}
    years = [value for name, value in figures.items() if name.startswith("2012-train")]
    return float(np.mean([np.mean(years), figures["SICK/train"]]))


def sentences() -> Iterator[str]:
    """20,000 sentences of four kinds."""
    for name in TEXT:
        yield from itertools.islice(read_lines(DATA / f"sentences-en/{name}.txt.xz"), 5_000)


def main() -> None:
    """Choose shapes and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into the page of results")
    parser.add_argument("--tables", action="store_true", help="compare other changes of the table instead")
    options = parser.parse_args()
    english = load_encoder("english")
    table = Table(english, list(sentences()))
    chosen_on = {
        task.name: read_task(DATA / "sts", task)
        for task in TASKS
        if task.group == "2012-train" or task.name == "SICK/train"
    }
    if options.tables:
        for title, changed in changed_tables(table, english):
            print(f"{title}: {development(changed, chosen_on):.2f}", flush=True)
        return
    encoders: dict[str, SentenceEncoder] = {}
    described: dict[str, list[str]] = {}

    def add(title: str, exact: SentenceEncoder) -> None:
        encoders[title], size, seconds = stored(exact)
        described[title] = [f"{len(exact.parts['word'].vocabulary):,}", f"{size / 1e6:.2f}"]
        figure = development(encoders[title], chosen_on)
        print(f"{title}: {described[title]}, development {figure:.1f}, read in {1000 * seconds:.0f} ms", flush=True)

    add("`english`", quantize(english, 4))
    add("cut, all words", quantize(table.cut(HALF), 4))
    for megabytes in MEGABYTES:
        small = product_quantize(english, megabytes)
        add(f"**codes, {megabytes:g} MB**", small)
    shape = max(CUTS, key=lambda one: development(quantize(table.cut(one), 4), chosen_on))
    add("cut", quantize(table.cut(shape), 4))
    add("*random*", quantize(table.random(shape), 4))

    present = [task for task in TASKS if task.default and (DATA / "sts" / task.file).is_file()]
    reported = {task.name: read_task(DATA / "sts", task) for task in present}
    systems: dict[str, System] = {"*overlap*": overlap_of(reported.values()), **encoders}
    cosines = {
        task: np.stack([similarities(system, pairs.first, pairs.second) for system in systems.values()])
        for task, pairs in reported.items()
    }
    figures = np.array([[100 * pearson(reported[task].scores, row) for row in cosines[task]] for task in cosines])
    samples = np.stack(
        [
            resampled_pearson(reported[task].scores, cosines[task], SAMPLES, 1, index)
            for index, task in enumerate(cosines)
        ],
        axis=2,
    )
    weights = task_weights(present, [*YEARS, *REPORTED])
    base = list(systems).index("`english`")
    cells = []
    for k, title in enumerate(systems):
        low, high = percentile_interval((samples[:, k] - samples[:, base]) @ weights[REPORTED[0]])
        value = (figures[:, k] - figures[:, base]) @ weights[REPORTED[0]]
        means = [f"{figures[:, k] @ weights[group]:.1f}" for group in REPORTED]
        difference = "" if k == base else f"{value:.1f} [{low:.1f}, {high:.1f}]"
        cells.append([title, *described.get(title, [""] * 2), means[0], difference, *means[1:]])
        print("|", " | ".join(cells[-1]), "|", flush=True)
    if options.write:
        put_result(
            FOLDER / "encoder-training.json",
            {
                "heading": "A megabyte for browsers, without training",
                "command": ["python benchmarks/encoder_sizes.py --write"],
                "machine": "cores",
                "seeds": "1",
                "columns": COLUMNS,
                "align": "l" + "r" * (len(COLUMNS) - 1),
                "rows": cells,
            },
        )
        write_pages()


def changed_tables(table: Table, english: SentenceEncoder) -> Iterator[tuple[str, SentenceEncoder]]:
    """Tables of `english` with other numbers, or fewer dimensions."""
    plain = {name: part.vectors for name, part in english.parts.items()}
    for power in (1.0, 0.85, 0.7):
        powers = {name: np.sign(values) * np.abs(values) ** np.float32(power) for name, values in plain.items()}
        yield f"sign(E) |E|^{power}", average(powers, table.entries)
    for dimension in (192, 144):
        yield f"first {dimension} axes", table.cut(Shape(60_000, 24_000, dimension))
    rest = {name: values[:, 1:] for name, values in table.rotated.items()}
    yield "without the first axis", average(rest, table.entries)
    small = {name: len(part.vocabulary) for name, part in product_quantize(english, 1.0).parts.items()}
    yield "words of 1 MB, first 144 axes", table.cut(Shape(small["word"], small["trigram"], 144))


if __name__ == "__main__":
    main()
