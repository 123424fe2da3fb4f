"""How small `english` can be without training: fewer words, fewer dimensions, fewer bits, or product quantization.

    PARALOOM_DATA=… python benchmarks/encoder_sizes.py

Of each size the best of a few shapes by development text is reported: STS 2012's training pairs and SICK's. *Cut*: the
most frequent words and trigrams, rotated by PCA of 20,000 sentences' vectors and cut, four bits a number: files that
`Encoder.load` opens. *Product quantization*: rows as codes of groups of dimensions, 256 centroids in float16 each,
words listed in alphabetical order and deflated, which no loader here opens. *Random*: vectors of as many words, damped
by frequency. Pearson x 100; 95 % intervals of differences from `english` by a paired bootstrap.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import os
import tempfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from paraloom.core.seeds import generator
from paraloom.embed.average import Average, SentenceEncoder, normalize_vectors, quantize
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.vocabulary import Vocabulary
from paraloom.evaluate.resampling import pearson, percentile_interval, resampled_pearson
from paraloom.evaluate.sts import overlap_of, similarities, task_weights
from paraloom.evaluate.sts_tasks import TASKS, YEARS, STSPairs, read_task
from paraloom.io import read_lines

DATA = Path(os.environ.get("PARALOOM_DATA", ""))
TEXT = ("forum.reddit-posts", "headlines.reddit-press", "captions.coco-texygen", "glosses.open-english-wordnet")
REPORTED = ("2012-2015", "STS-B", "SICK", "PIT")
SAMPLES = 500

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Shape:
    """Words, trigrams, dimensions of each; bits of a number, or bytes of a row of words and of trigrams."""

    words: int
    trigrams: int
    dimension: int
    bits: Literal[4, 8] = 4
    codes: tuple[int, int] | None = None
    rotated: bool = True

    def __str__(self) -> str:
        how = f"{self.codes[0]} and {self.codes[1]} bytes a row" if self.codes else f"{self.bits} bits"
        rotation = "" if self.rotated else ", first dimensions"
        return f"{self.words:,} words, {self.trigrams:,} trigrams, {self.dimension} + {self.dimension}, {how}{rotation}"


CUTS = {
    "1 MB": (Shape(19_000, 4_000, 64), Shape(12_000, 3_500, 96), Shape(25_000, 4_000, 40)),
    "0.5 MB": (Shape(9_000, 2_000, 64), Shape(13_000, 2_000, 40), Shape(15_000, 2_000, 32)),
    "0.25 MB": (Shape(4_500, 1_000, 64), Shape(6_500, 1_000, 40), Shape(7_500, 1_000, 32)),
}
QUANTIZED = {
    "1 MB": (
        Shape(60_000, 24_000, 96, codes=(8, 6)),
        Shape(50_000, 16_000, 120, codes=(10, 8)),
        Shape(40_000, 16_000, 144, codes=(12, 8)),
    ),
    "0.5 MB": (Shape(30_000, 8_000, 48, codes=(6, 6)), Shape(24_000, 8_000, 64, codes=(8, 8))),
    "0.25 MB": (Shape(13_000, 4_000, 32, codes=(4, 4)), Shape(10_000, 3_000, 32, codes=(8, 4))),
}


class Table:
    """The vectors of `english`, rotated so that the first dimensions tell most of its sentences; counts of types."""

    def __init__(self, encoder: SentenceEncoder, sentences: list[str]) -> None:
        units = normalize_vectors(encoder.encode(sentences))
        columns = encoder.spec.columns(encoder.part_dimension)
        self.plain, self.rotated, self.entries, self.counts = {}, {}, {}, {}
        for name, part in encoder.parts.items():
            of_part = units[:, columns[name] : columns[name] + part.dimension]
            axes = np.linalg.eigh(of_part.T @ of_part)[1][:, ::-1]
            self.plain[name], self.rotated[name] = part.vectors, part.vectors @ axes
            self.entries[name] = part.vocabulary.entries
            rows = part.vocabulary.row_lists(sentences).rows
            self.counts[name] = np.bincount(rows, minlength=len(part.vocabulary))

    def cut(self, shape: Shape) -> SentenceEncoder:
        """The most frequent types in float32."""
        vectors = self.rotated if shape.rotated else self.plain
        sizes = {"word": shape.words, "trigram": shape.trigrams}
        return average({name: vectors[name][:size, : shape.dimension] for name, size in sizes.items()}, self.entries)

    def random(self, shape: Shape) -> SentenceEncoder:
        """Random vectors, damped by the frequency of their types."""
        tables = {}
        for index, (name, size) in enumerate((("word", shape.words), ("trigram", shape.trigrams))):
            shares = self.counts[name] / self.counts[name].sum()
            drawn = generator(1, index).standard_normal((size, shape.dimension), np.float32)
            tables[name] = drawn * (1 / (1 + 3000 * shares[:size])).astype(np.float32)[:, None]
        return average(tables, self.entries)

    def quantized(self, shape: Shape) -> tuple[SentenceEncoder, int]:
        """Codes and centroids, read back into float32, and the bytes that they and the words take."""
        tables, size = {}, 0
        assert shape.codes is not None
        for name, rows, codes in zip(("word", "trigram"), (shape.words, shape.trigrams), shape.codes, strict=True):
            weights = np.sqrt(self.counts[name][:rows] + 0.3)
            tables[name] = product_quantized(self.rotated[name][:rows, : shape.dimension], weights, codes)
            listed = "".join(f"{entry}\n" for entry in sorted(self.entries[name][:rows])).encode()
            size += rows * codes + 2 * 256 * shape.dimension + len(zlib.compress(listed, 9))
        return average(tables, self.entries), size


def average(tables: dict[str, Floats], entries: dict[str, tuple[str, ...]]) -> SentenceEncoder:
    """An encoder of words and trigrams."""
    parts = {
        name: Average(Vocabulary(name, entries[name][: len(table)]), np.ascontiguousarray(table, np.float32))
        for name, table in tables.items()
    }
    return SentenceEncoder(parse_spec("word,trigram"), parts)


def product_quantized(table: Floats, weights: npt.NDArray[np.float64], groups: int) -> Floats:
    """The rows, each group of their dimensions replaced by the nearest of 256 centroids.

    Reference:
        Jégou, Douze and Schmid 2011, "Product quantization for nearest neighbor search".
    """
    draw, result = generator(1, groups), np.empty_like(table)
    # Each group has dimensions of large and of small variance.
    order = np.arange(table.shape[1]).reshape(-1, groups)
    order[1::2] = order[1::2, ::-1]
    for columns in order.T:
        values = np.ascontiguousarray(table[:, columns])
        centroids = values[draw.choice(len(values), 256, replace=False, p=weights / weights.sum())]
        for _ in range(6):
            nearest = _nearest(values, centroids)
            totals = np.bincount(nearest, weights, 256)
            for column in range(values.shape[1]):
                sums = np.bincount(nearest, weights * values[:, column], 256)
                centroids[:, column] = np.where(totals > 0, sums / np.maximum(totals, 1e-9), centroids[:, column])
        centroids = centroids.astype(np.float16).astype(np.float32)
        result[:, columns] = centroids[_nearest(values, centroids)]
    return result


def _nearest(values: Floats, centroids: Floats) -> npt.NDArray[np.intp]:
    nearest: npt.NDArray[np.intp] = ((centroids**2).sum(1) - 2 * values @ centroids.T).argmin(1)
    return nearest


def stored(encoder: SentenceEncoder, bits: Literal[4, 8]) -> tuple[SentenceEncoder, int, float]:
    """The encoder in integers as it is read from files, their bytes, and the processor seconds of reading them."""
    with tempfile.TemporaryDirectory() as folder:
        save_encoder(quantize(encoder, bits), folder)
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
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    english = load_encoder("english")
    table = Table(english, list(sentences()))
    chosen_on = {
        task.name: read_task(DATA / "sts", task)
        for task in TASKS
        if task.group == "2012-train" or task.name == "SICK/train"
    }
    rows: list[tuple[str, int, float, SentenceEncoder]] = []

    def add(title: str, encoder: SentenceEncoder, size: int, seconds: float = 0.0) -> float:
        figure = development(encoder, chosen_on)
        print(f"{title}: {size / 1e6:.3f} MB, development {figure:.1f}, read in {1000 * seconds:.0f} ms", flush=True)
        rows.append((title, size, figure, encoder))
        return figure

    add("english", *stored(english, 4))
    for size, shapes in CUTS.items():
        cuts = [(shape, *stored(table.cut(shape), shape.bits)) for shape in shapes]
        best = max(cuts, key=lambda one: development(one[1], chosen_on))
        add(f"cut, {best[0]}", *best[1:])
        if size == "1 MB":
            for shape in (Shape(19_000, 4_000, 64, rotated=False), Shape(10_000, 3_000, 64, bits=8)):
                add(f"cut, {shape}", *stored(table.cut(shape), shape.bits))
            add(f"random, {best[0]}", *stored(table.random(best[0]), 4))
        coded = [(shape, *table.quantized(shape)) for shape in QUANTIZED[size]]
        smaller = max(coded, key=lambda one: development(one[1], chosen_on))
        add(f"product quantization, {smaller[0]}", *smaller[1:])

    present = [task for task in TASKS if task.default and (DATA / "sts" / task.file).is_file()]
    reported = {task.name: read_task(DATA / "sts", task) for task in present}
    systems = {"overlap": overlap_of(reported.values()), **{title: encoder for title, *_, encoder in rows}}
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
    sizes = {title: (size, figure) for title, size, figure, _ in rows}
    base = list(systems).index("english")
    print("| table | MB | development |", " | ".join(REPORTED), "| difference of STS 2012-15 |")
    for k, title in enumerate(systems):
        cells = [f"{figures[:, k] @ weights[group]:.1f}" for group in REPORTED]
        size, figure = sizes.get(title, (0, float("nan")))
        low, high = percentile_interval((samples[:, k] - samples[:, base]) @ weights["2012-2015"])
        value = (figures[:, k] - figures[:, base]) @ weights["2012-2015"]
        row = f"| {title} | {size / 1e6:.2f} | {figure:.1f} | {' | '.join(cells)} |"
        print(f"{row} {value:.1f} [{low:.1f}, {high:.1f}] |", flush=True)

    with gzip.open(DATA / "bitext/multi30k/task2/train.1.en.gz", "rt", encoding="utf-8") as lines:
        captions = [line.rstrip("\n") for line in lines][:20_000]
    for title, _, _, encoder in rows:
        encoder.encode(captions[:3_000])
        start = time.process_time()
        encoder.encode(captions)
        print(f"{title}: {len(captions) / (time.process_time() - start):,.0f} captions per processor second")


if __name__ == "__main__":
    main()
