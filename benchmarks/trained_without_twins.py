"""What the lines near STS tests in an encoder's training text are worth: the same training with and without them.

    PARALOOM_DATA=… python benchmarks/trained_without_twins.py /path/to/all-MiniLM-L6-v2 -o build/twins --record

Text: lines of the pipeline of `english`: some that are near no test, drawn at random, and all that are near one by
`paraloom research decontaminate` (equal, 13 and 8 words in a row, near-duplicates). *Without*: the random lines.
*With*: as many of them as there are near lines give way to those. *Same files*: they give way to as many other lines
of the files that have near ones, which separates text of a test's source from text of the test. The stages of
`english` train on each, in as many passes over the text as the bundled one; words start from their contexts in the
random lines, and the encoder is not quantized. A seed draws what gives way, and trains. The teacher's vectors and the
cosines of each training are kept in the output folder. Pearson x 100; 95 % intervals of differences, mean over the
seeds, by a paired bootstrap over the pairs; in parentheses the lowest and the highest seed.
"""

from __future__ import annotations

import argparse
import shutil
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from decontamination import DATA, NEAR_SUBSETS, ROOT
from results_pages import FOLDER, put_result, write_pages

from paraloom.api.decontamination import decontaminate
from paraloom.core.batches import batched
from paraloom.core.schema import SENTENCES
from paraloom.core.seeds import generator
from paraloom.core.stage import StageContext
from paraloom.embed.average import normalize_vectors
from paraloom.embed.distillation import START, DistillationConfig, distill_encoder
from paraloom.embed.store import load_encoder
from paraloom.embed.transformer import TransformerEncoder, convert_transformer
from paraloom.embed.word_vectors import FILE
from paraloom.evaluate.resampling import SAMPLES, pearson, percentile_interval, resampled_pearson
from paraloom.evaluate.sts import overlap_of, similarities
from paraloom.evaluate.sts_tasks import TASKS, YEARS, STSPairs, read_task
from paraloom.io.corpus import write_corpus
from paraloom.pairs.filtering.held_out import HeldOut
from paraloom.stages import DistillWords, ReadSentences

HEADING = "Trained without these lines"
CONDITIONS = ("without", "with", "same files")
RECIPE = {
    stage["name"]: stage
    for stage in tomllib.loads((ROOT / "examples/bundled-encoder.toml").read_text(encoding="utf-8"))["stage"]
}

Floats = npt.NDArray[np.float32]


class Text(NamedTuple):
    """Lines, and which of them are drawn at random, near a test, and of the files of those; of how many lines."""

    lines: list[str]
    total: int
    random: npt.NDArray[np.intp]
    near: npt.NDArray[np.intp]
    same_files: npt.NDArray[np.intp]


def files() -> Iterator[tuple[str, list[str]]]:
    """The text files of the pipeline of `english`, with their lines as its stages read them."""
    for stage in RECIPE.values():
        for file in stage.get("text_files", []):
            path = Path(file.replace("${PARALOOM_DATA}", str(DATA)))
            reader = ReadSentences(text_files=(path,), field=stage.get("field", 0), limit=stage.get("limit", 0))
            kept = (batch.filter(batch.column("keep")) for batch in reader.batches(StageContext(seed=1)))
            yield f"{path.parent.name}/{path.name}", [text for batch in kept for text in batch["text"].to_pylist()]


def sts_tests() -> dict[str, STSPairs]:
    """STS 2012 to 2015, and the development pairs of STS-B."""
    reported = [task for task in TASKS if task.group in YEARS or task.name == "STS-B/dev"]
    return {task.name: read_task(DATA / "sts", task) for task in reported}


def near_tests(texts: list[str], tests: dict[str, STSPairs]) -> npt.NDArray[np.bool_]:
    """Whether each text is near one of the tests."""
    index = HeldOut([[*pairs.first, *pairs.second] for pairs in tests.values()])
    return np.concatenate([index.find(list(batch)) for batch in batched(texts, 10_000)]) > 0


def draw_text(count: int, tests: dict[str, STSPairs]) -> Text:
    """So many random lines, all near ones, and twice as many of the same files."""
    lines: dict[str, str] = {}
    for name, of_file in files():
        lines |= {line: name for line in of_file if line not in lines}
    texts, names = list(lines), np.array(list(lines.values()))
    is_near = near_tests(texts, tests)
    near, others = np.flatnonzero(is_near), generator(1).permutation(np.flatnonzero(~is_near))
    by_file = Counter(names[near].tolist())
    print(f"{len(texts):,} lines, near {len(near):,}: {dict(by_file.most_common())}")
    drawn, rest = others[:count], others[count:]
    same = [rest[names[rest] == name][: 2 * of_file] for name, of_file in by_file.items()]
    chosen = np.concatenate([drawn, near, *same])
    ends = np.cumsum([len(drawn), len(near)])
    places = np.split(np.arange(len(chosen)), ends)
    return Text([texts[k] for k in chosen], len(texts), *places)


def settings(name: str) -> dict[str, Any]:
    """The values of a stage of the recipe, without what it refers to."""
    references = ("name", "use", "encoder", "corpora", "sentences", "vectors", "sts")
    return {key: value for key, value in RECIPE[name].items() if key not in references}


def taught(text: Text, teacher: str, folder: Path) -> Floats:
    """The teacher's vectors of all lines, and word vectors to start with, of their contexts in the random lines."""
    converted, kept, corpus = folder / "teacher", folder / "vectors.npy", folder / "random"
    if not kept.exists():
        convert_transformer(teacher, converted)
        start = time.process_time()
        np.save(kept, normalize_vectors(TransformerEncoder(converted).encode(text.lines)).astype(np.float16))
        print(f"{len(text.lines) / (time.process_time() - start):,.0f} lines per processor second", flush=True)
    if not (folder / FILE).exists():
        start = time.process_time()
        random = pa.array([text.lines[k] for k in text.random], pa.string())
        columns = {"doc_id": ["random"] * len(random), "sent_id": range(len(random)), "lang": ["en"] * len(random)}
        batch = pa.record_batch({**columns, "text": random}, schema=SENTENCES)
        shutil.rmtree(corpus, ignore_errors=True)
        write_corpus(corpus, [batch], kind="SENTENCES")
        stage = DistillWords(encoder=converted, corpora=(corpus,), **settings("words-in-context"))
        print(stage.fit(folder, StageContext(seed=1, inputs={"encoder": converted, "corpora.0": corpus})))
        print(f"words in context: {time.process_time() - start:.0f} processor seconds", flush=True)
    return np.load(kept)


def training_lines(text: Text, condition: str, seed: int) -> npt.NDArray[np.intp]:
    """The lines of a condition: those of `without`, of which some give way."""
    if condition == "without":
        return text.random
    draw = generator(seed, 1)
    kept = draw.permutation(text.random)[len(text.near) :]
    others = text.near if condition == "with" else draw.permutation(text.same_files)[: len(text.near)]
    return np.concatenate([kept, others])


def train(text: Text, vectors: Floats, rows: npt.NDArray[np.intp], folder: Path, seed: int) -> None:
    """`english` before its quantization, with as many passes over these lines as the recipe has."""
    shape = DistillationConfig(**settings("english-exact"))
    shape = replace(shape, steps=round(shape.steps * len(rows) / text.total))
    width = vectors.shape[1]
    batches = (
        pa.record_batch(
            {
                "text": pa.array([text.lines[k] for k in part], pa.string()),
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors[list(part)].ravel()), width),
            }
        )
        for part in batched(rows.tolist(), 10_000)
    )
    distill_encoder(batches, shape, folder, seed=seed, vectors=folder.parent / FILE, threads=1)


def cosines_of(
    text: Text, vectors: Floats, tests: dict[str, STSPairs], folder: Path, seeds: int
) -> dict[str, npt.NDArray[np.float32]]:
    """Condition → cosines of all pairs of all tests, a row for each seed; `start` is that of `without`, untrained."""
    result: dict[str, list[Floats]] = {}
    for seed in range(1, seeds + 1):
        for condition in CONDITIONS:
            kept = folder / f"{condition}-{seed}.npz"
            if not kept.exists():
                trained, start = folder / "encoder", time.process_time()
                train(text, vectors, training_lines(text, condition, seed), trained, seed)
                seconds = time.process_time() - start
                of_training = {
                    name: np.concatenate(
                        [similarities(load_encoder(path), of.first, of.second) for of in tests.values()]
                    )
                    for name, path in (("trained", trained), ("start", trained / START))
                }
                np.savez(kept, **of_training)
                shutil.rmtree(trained)
                print(f"{condition}, seed {seed}: {seconds:.0f} processor seconds", flush=True)
            loaded = np.load(kept)
            result.setdefault(condition, []).append(loaded["trained"])
            if condition == "without":
                result.setdefault("start", []).append(loaded["start"])
    return {condition: np.stack(of_seeds) for condition, of_seeds in result.items()}


def near_shares(text: Text, names: list[str], folder: Path) -> dict[str, float]:
    """Per cent of the texts of each test that are near a line of `with`."""
    train_file = folder / "near.txt"
    train_file.write_text("".join(f"{text.lines[k]}\n" for k in text.near), encoding="utf-8")
    files_of = {task.name: DATA / "sts" / task.file for task in TASKS}
    overlaps = decontaminate(train_file, [files_of[name] for name in names])
    return {name: 100 * of.total / of.texts for name, of in zip(names, overlaps.tests, strict=True)}


def table(tests: dict[str, STSPairs], cosines: dict[str, Floats], near: dict[str, float]) -> list[list[str]]:
    """Rows: the near subsets, means of the years with and without them, development pairs."""
    names = list(tests)
    systems = ["overlap", "start", *CONDITIONS]
    seeds = len(cosines["start"])
    overlap = overlap_of(read_task(DATA / "sts", task) for task in TASKS if task.default and not task.optional)
    of_pairs = np.concatenate([similarities(overlap, of.first, of.second) for of in tests.values()])
    cosines = {"overlap": np.tile(of_pairs, (seeds, 1)), **cosines}
    ends = np.cumsum([len(of.scores) for of in tests.values()])[:-1]
    by_task = [np.split(cosines[system], ends, axis=1) for system in systems]
    figures = np.empty((len(systems), seeds, len(names)))
    samples = np.empty((len(systems), SAMPLES, len(names)))
    for column, (name, pairs) in enumerate(tests.items()):
        stacked = np.concatenate([of_system[column] for of_system in by_task])
        figures[..., column] = np.reshape([100 * pearson(pairs.scores, row) for row in stacked], (len(systems), seeds))
        drawn = resampled_pearson(pairs.scores, stacked, SAMPLES, 1, column)
        samples[..., column] = drawn.reshape(SAMPLES, len(systems), seeds).mean(axis=2).T
        print(
            name, " ".join(f"{one:.1f}" for one in figures[..., column].mean(axis=1)), f"{near[name]:.1f}", flush=True
        )
    years = [[name for name in names if name[:4] == year] for year in YEARS]
    others = [[name for name in of_year if name not in NEAR_SUBSETS] for of_year in years]
    groups = {
        **{f"STS {name.replace('/', ' ')}": [[name]] for name in NEAR_SUBSETS},
        f"mean of the {len(NEAR_SUBSETS)}": [list(NEAR_SUBSETS)],
        "mean of the years": years,
        f"mean of the years without the {len(NEAR_SUBSETS)}": others,
        **{name.replace("/", " "): [[name]] for name in names if name[:4] not in YEARS},
    }
    shares = np.array([near[name] for name in names])
    rows = []
    for title, of_group in groups.items():
        of_parts = [[names.index(name) for name in part] for part in of_group]
        value, sample, share = (
            np.mean([array[..., at].mean(axis=-1) for at in of_parts], axis=0) for array in (figures, samples, shares)
        )
        cells = [title, f"{share:.1f}", *(f"{one:.1f}" for one in value.mean(1))]
        for condition in CONDITIONS[1:]:
            k, base = systems.index(condition), systems.index("without")
            low, high = percentile_interval(sample[k] - sample[base])
            gain = value[k] - value[base]
            cells.append(f"{gain.mean():.1f} [{low:.1f}, {high:.1f}] ({gain.min():.1f} to {gain.max():.1f})")
        rows.append(cells)
    return rows


def record(rows: list[list[str]], options: argparse.Namespace) -> None:
    """Put the table into the page."""
    page = FOLDER / "decontamination.json"
    result = {
        **{"heading": HEADING, "machine": "bfloat16", "seeds": str(options.seeds)},
        "command": [
            "python benchmarks/trained_without_twins.py /path/to/all-MiniLM-L6-v2 \\",
            "    -o build/twins --record",
        ],
        "columns": [
            "test",
            "near, %",
            "*overlap*",
            "*start*",
            *CONDITIONS,
            *(f"{one} − without" for one in CONDITIONS[1:]),
        ],
        **{"align": "l" + "r" * 8, "rows": rows},
    }
    put_result(page, result)
    write_pages()


def main() -> None:
    """Train under each condition, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", help="a folder of sentence-transformers")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/twins"))
    parser.add_argument("--lines", type=int, default=70_000, help="random lines")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--record", action="store_true", help="put the table into docs/explanations/results")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    tests = sts_tests()
    text = draw_text(options.lines, tests)
    vectors = taught(text, options.teacher, options.output)
    cosines = cosines_of(text, vectors, tests, options.output, options.seeds)
    rows = table(tests, cosines, near_shares(text, list(tests), options.output))
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))
    if options.record:
        record(rows, options)


if __name__ == "__main__":
    main()
