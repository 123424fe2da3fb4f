"""What the lines near STS tests in the bundled encoders' training text are worth: the recipe without them.

    PARALOOM_DATA=… python benchmarks/trained_without_twins.py /path/to/all-MiniLM-L6-v2 -o runs/without-twins --record

The pipeline of examples/bundled-encoder.toml with `held_out` in its stage `sentences`, so that no line is near a test
(equal, 13 and 8 words in a row, near-duplicates): `english` with three seeds, `english-small` with one. As the bundled
ones were trained on other machines, `english` is also trained, with three seeds, on all lines, those near a test
included, with words that start from their contexts in all. Stopped, the same command resumes; two hours of two cores.

--few trains `english` on few of that run's sentences instead, to the last step: what the last encoder, the best one by
development pairs, and the one that agrees best with the teacher on held-out sentences score. Half an hour of a core.

Pearson x 100; 95 % intervals of differences, of the means of the seeds, by a paired bootstrap over the pairs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from decontamination import DATA, NEAR_SUBSETS, ROOT
from results_pages import FOLDER, put_result, write_pages

from paraloom.api.decontamination import decontaminate
from paraloom.core.protocols import EncoderLike
from paraloom.embed import distillation
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.development import read_development
from paraloom.evaluate.resampling import SAMPLES, pearson, percentile_interval, resampled_pearson
from paraloom.evaluate.sts import overlap_of, similarities
from paraloom.evaluate.sts_tasks import TASKS, YEARS, STSPairs, read_task

HEADING = "Trained without these lines"
WITHOUT = ("english-exact", "english-second", "english-third")
WITH = tuple(name.replace("english", "english-with") for name in WITHOUT)
STAGE = re.compile(r'\[\[stage\]\]\nname = "(.+?)"\n(?:.+\n)+')
SYSTEMS = {
    "overlap": (),
    "english": (),
    "with": WITH,
    "without": WITHOUT,
    "english-small": (),
    "small without": ("small",),
}
"""Columns: overlap, the bundled encoders, and stages of the run whose mean a column is."""

DIFFERENCES = (("without", "with"), ("small without", "english-small"))

FEW = "Which step of a distillation is kept"
STEPS = {5_000: 2000, 15_000: 2000, 50_000: 1000, 200_000: 1000}
"""Number of sentences → number of steps."""

Floats = npt.NDArray[np.float64]


def reported_tasks() -> list[str]:
    """The files of STS 2012 to 2015, and of the development pairs of STS-B, relative to the folder of STS."""
    return [task.file for task in TASKS if task.group in YEARS or task.name == "STS-B/dev"]


def pipeline() -> str:
    """The TOML: the example's stages that read text, with `held_out`, then trainings with and without near lines."""
    example = (ROOT / "examples/bundled-encoder.toml").read_text(encoding="utf-8")
    stages = {match[1]: match[0] for match in STAGE.finditer(example)}
    tests = ", ".join(f'"${{PARALOOM_DATA}}/sts/{file}"' for file in reported_tasks())
    stages["sentences"] = re.sub("# held_out.+", lambda _: f"held_out = [{tests}]", stages["sentences"])
    stages["near"] = '[[stage]]\nname = "near"\nuse = "read-sentences"\ntext_files = ["near-lines.txt"]\n'
    stages["taught-near"] = stages["taught"].replace('"taught"', '"taught-near"')
    stages["all"] = re.sub("held_out.+\n", "", stages["sentences"]).replace('"sentences"', '"all"')
    words = stages["words-in-context"].replace('"sentences"', '"all"')
    stages["words-with"] = words.replace('"words-in-context"', '"words-with"')
    for seed in WITHOUT:
        name = seed.replace("english", "english-with")
        stage = stages[seed].replace(f'"{seed}"', f'"{name}"').replace('"words-in-context"', '"words-with"')
        stages[name] = stage.replace('["taught"]', '["taught", "taught-near"]')
    order = (
        *("posts", "titles", "sides", "help", "sentences", "teacher", "taught", "words-in-context"),
        *("english-exact", "english", "near", "taught-near", "english-third", "small-exact", "small", "english-second"),
        *("all", "words-with", *WITH),
    )
    return "\n".join(['name = "without-twins"\nseed = 1\n', *(stages[name] for name in order)])


def train(teacher: str, folder: Path) -> dict[str, Path]:
    """Run the pipeline; stage → its encoder."""
    recipe, near = folder / "pipeline.toml", folder / "near-lines.txt"
    recipe.write_text(pipeline(), encoding="utf-8")
    near.touch()
    run = [sys.executable, "-m", "paraloom", "run", str(recipe), "-o", str(folder / "run")]
    environment = {"PARALOOM_DATA": str(DATA), "TEACHER": teacher}
    subprocess.run([*run, "--until", "sentences"], check=True, env=os.environ | environment)
    rejected = pa.concat_tables(map(pq.read_table, sorted(folder.glob("run/*-sentences/rejected/*.parquet"))))
    is_near = ["held-out" in reason for reason in rejected["reason"].to_pylist()]
    lines = dict.fromkeys(rejected.filter(pa.array(is_near))["text"].to_pylist())
    near.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    subprocess.run(run, check=True, env=os.environ | environment)
    return {path.parent.name.split("-", 1)[1]: path for path in folder.glob("run/*/artifact")}


def cosines_of(encoders: dict[str, Path], tests: dict[str, STSPairs]) -> dict[str, list[npt.NDArray[np.float32]]]:
    """System → for each test the cosines of its pairs, a row for each seed."""
    result = {}
    for system, names in SYSTEMS.items():
        opened = [open_encoder(str(encoders[name])) for name in names]
        if system == "overlap":
            opened = [overlap_of(read_task(DATA / "sts", task) for task in TASKS if task.default and not task.optional)]
        elif not names:
            opened = [open_encoder(system)]
        result[system] = [
            np.stack([similarities(encoder, of.first, of.second) for encoder in opened]) for of in tests.values()
        ]
    return result


def table(
    tests: dict[str, STSPairs], cosines: dict[str, list[npt.NDArray[np.float32]]], near: dict[str, float]
) -> list[list[str]]:
    """Rows: the near subsets, means of the years with and without them, development pairs."""
    names = list(tests)
    figures = np.empty((len(SYSTEMS), len(names)))
    samples = np.empty((len(SYSTEMS), SAMPLES, len(names)))
    for row, of_tests in enumerate(cosines.values()):
        for column, (pairs, of_test) in enumerate(zip(tests.values(), of_tests, strict=True)):
            figures[row, column] = np.mean([100 * pearson(pairs.scores, seed) for seed in of_test])
            samples[row, :, column] = resampled_pearson(pairs.scores, of_test, SAMPLES, 1, column).mean(1)
    years = [[name for name in names if name[:4] == year] for year in YEARS]
    others = [[name for name in of_year if name not in NEAR_SUBSETS] for of_year in years]
    groups = {
        **{f"STS {name.replace('/', ' ')}": [[name]] for name in NEAR_SUBSETS},
        "mean of the years": years,
        f"mean of the years without the {len(NEAR_SUBSETS)}": others,
        **{name.replace("/", " "): [[name]] for name in names if name[:4] not in YEARS},
    }
    shares = np.array([near[name] for name in names])
    systems = list(SYSTEMS)
    rows = []
    for title, of_group in groups.items():
        parts = [[names.index(name) for name in part] for part in of_group]
        value, sample, share = (
            np.mean([array[..., at].mean(-1) for at in parts], axis=0) for array in (figures, samples, shares)
        )
        cells = [title, f"{share:.1f}", *(f"{one:.1f}" for one in value)]
        for one, other in DIFFERENCES:
            difference = sample[systems.index(one)] - sample[systems.index(other)]
            low, high = percentile_interval(difference)
            cells.append(f"{value[systems.index(one)] - value[systems.index(other)]:.1f} [{low:.1f}, {high:.1f}]")
        rows.append(cells)
    return rows


def sample_of(taught: Path, count: int) -> pa.Table:
    """Random sentences with the teacher's vectors, in random order."""
    parts = [pq.read_table(path, columns=["text", "vector"]) for path in sorted(taught.glob("part-*.parquet"))]
    draw = np.random.default_rng(1)
    drawn = np.sort(draw.permutation(sum(map(len, parts)))[:count])
    ends = np.cumsum([len(part) for part in parts])
    rows = np.split(drawn, np.searchsorted(drawn, ends[:-1]))
    of_parts = [part.take(pa.array(of - end + len(part))) for part, of, end in zip(parts, rows, ends, strict=True)]
    return pa.concat_tables(of_parts).take(pa.array(draw.permutation(count)))


def evaluator() -> Callable[[EncoderLike], dict[str, float]]:
    """Measures an encoder on the development pairs, and as the mean of the years of STS."""
    development = read_development(DATA / "sts")
    tests = [(task.group, read_task(DATA / "sts", task)) for task in TASKS if task.group in YEARS]

    def measure(encoder: EncoderLike) -> dict[str, float]:
        years: dict[str, list[float]] = {}
        for year, of in tests:
            years.setdefault(year, []).append(100 * pearson(of.scores, similarities(encoder, of.first, of.second)))
        return {**development.figures(encoder), "sts": fmean(map(fmean, years.values()))}

    return measure


def train_on_few(folder: Path) -> Iterator[list[str]]:
    """Rows: sentences, passes over them, steps, and what is chosen, with its step."""
    distillation._PATIENCE = math.inf
    (taught,), (words,) = folder.glob("run/*-taught"), folder.glob("run/*-words-in-context/artifact")
    sentences, measure = sample_of(taught, max(STEPS)), evaluator()
    for count, steps in STEPS.items():
        output = folder / f"few-{count}-{steps}-1"
        if not (output / "config.json").is_file():
            config = distillation.DistillationConfig(
                dimension=256, word_vocab_size=60000, trigram_vocab_size=24000, loss="softmax", steps=steps
            )
            batches = sentences.slice(0, count).to_batches()
            distillation.distill_encoder(batches, config, output, measure, vectors=words, threads=1)
        lines = map(json.loads, (output / "curve.jsonl").read_text(encoding="utf-8").splitlines())
        start, *chosen = choices([line for line in lines if "dev" in line])
        cells = [f"{line['dev']['sts']:.2f} ({line['step']:,})" for line in chosen]
        yield [f"{count:,}", f"{steps * 512 / count:.1f}", f"{start['dev']['sts']:.2f}", *cells]


def choices(curve: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The lines of a curve: the start, the last, the best by development pairs, and what agreement keeps."""
    best = max(curve, key=lambda line: line["dev"]["dev_pearson"])
    return [curve[0], curve[-1], best, distillation.kept_line(curve)]


def record_few(rows: list[list[str]]) -> None:
    """Put the table of trainings on few sentences into its page."""
    result = {
        **{"heading": FEW, "machine": "bfloat16", "seeds": "1"},
        "command": [
            "python benchmarks/trained_without_twins.py /path/to/all-MiniLM-L6-v2 \\",
            "    -o runs/without-twins --few --record",
        ],
        "columns": [
            *("sentences", "passes", "*untrained*", "last (step)", "best by development pairs (step)"),
            "**kept by agreement (step)**",
        ],
        **{"align": "r" * 6, "rows": rows},
    }
    put_result(FOLDER / "encoder-training.json", result)
    write_pages()


def record(rows: list[list[str]]) -> None:
    """Put the table into the page."""
    result = {
        **{"heading": HEADING, "machine": "bfloat16", "seeds": "3 of `english`, 1 of `english-small`"},
        "command": [
            "python benchmarks/trained_without_twins.py /path/to/all-MiniLM-L6-v2 \\",
            "    -o runs/without-twins --record",
        ],
        "columns": [
            *("test", "near, %", "*overlap*", "`english`, bundled", "with", "without", "`english-small`, bundled"),
            *("without", "`english`: without − with", "`english-small`: without − bundled"),
        ],
        **{"align": "l" + "r" * (1 + len(SYSTEMS) + len(DIFFERENCES)), "rows": rows},
    }
    put_result(FOLDER / "decontamination.json", result)
    write_pages()


def main() -> None:
    """Train, evaluate, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", help="a folder of sentence-transformers")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/without-twins"))
    parser.add_argument("--few", action="store_true", help="train on few of the sentences, with the run in OUTPUT")
    parser.add_argument("--record", action="store_true", help="put the table into docs/explanations/results")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if options.few:
        rows = []
        for row in train_on_few(options.output):
            print(f"| {' | '.join(row)} |", flush=True)
            rows.append(row)
        if options.record:
            record_few(rows)
        return
    encoders = train(str(Path(options.teacher).resolve()), options.output)
    tests = {task.name: read_task(DATA / "sts", task) for task in TASKS if task.file in reported_tasks()}
    of_tests = decontaminate(options.output / "near-lines.txt", [DATA / "sts" / file for file in reported_tasks()])
    near = {name: 100 * of.total / of.texts for name, of in zip(tests, of_tests.tests, strict=True)}
    rows = table(tests, cosines_of(encoders, tests), near)
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))
    if options.record:
        record(rows)


if __name__ == "__main__":
    main()
