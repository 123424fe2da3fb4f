"""Train a larger pair of translators by iterative back-translation and distillation: on a GPU in minutes, or for days.

    PARALOOM_DATA=/path/to/corpora python examples/larger_pair.py runs/larger --until data     # a processor, minutes
    python examples/larger_pair.py runs/larger --device cuda                                   # 12 minutes of a GPU
    python examples/larger_pair.py runs/larger --minutes teachers=600 translations=300 students=2400          # days
    PARALOOM_DATA=/path/to/corpora python examples/larger_pair.py runs/trial --limit 200 \\
        --minutes teachers=.05 translations=.05 students=.05                                   # all of it, in little

Each step resumes where it was stopped. `data` reads and cleans the text of larger-pair.toml; later steps need nothing
but this folder. `teachers-N` learn from everything at hand and the translations so far, whose synthetic sources have a
tag (Caswell et al. 2019). `translations-N` are what they make of English and of the other side of the bitext; those
with the lowest dual cross-entropy are kept (Junczys-Dowmunt 2018). `students` learn from scratch, from text that may be
distributed and all translations. `scores` has BLEU and chrF of both, and the students' costs and cards.
`--minutes` are those of a step, for both directions: side by side on a GPU, one after the other on a processor. From
them and the speed of a few updates follows the number of updates, which is kept: a run that resumes has one schedule.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import random
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from paraloom import Pipeline
from paraloom.core.batches import batched
from paraloom.core.devices import parse_device
from paraloom.evaluate.translation import evaluate_translation
from paraloom.io import Corpus
from paraloom.mt import Translator
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.costs import COST_DECODING, CostDistribution, write_costs
from paraloom.mt.model_card import write_card
from paraloom.mt.streams import best_variants
from paraloom.mt.subwords import train_subwords
from paraloom.mt.training import train_translator, training_speed
from paraloom.stages import Clean, Filter, JoinPairs, ReadPairs, ReadSentences, Split
from paraloom.text.normalize import normalize

SIZES = {"d_model": 384, "heads": 6, "encoder_layers": 6, "decoder_layers": 3, "ffn_dim": 1536, "vocab_size": 16000}
TRIAL = {"d_model": 64, "heads": 2, "ffn_dim": 128, "vocab_size": 1000}
TAG, OLD = "<BT>", "<OLD>"
# An H100 trains a network of 2.5 times this size on 274,000 tokens a second (benchmarks/gpu.py). At 400,000 these are
# 60 million tokens for the teachers and 108 million for the students; the steps take three more minutes to start.
MINUTES = {"teachers": 1.25, "translations": 1.0, "students": 4.5}
KEPT = 0.6  # share of the translations that is trained on


class Run:
    """A run folder, and what its steps need."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.folder, self.data = options.folder, options.folder / "data"
        self.device, self.limit, self.rounds = options.device, options.limit, options.rounds
        self.sizes = TRIAL if self.limit else SIZES
        self.cuda = parse_device(options.device).kind != "cpu"
        given = {name: float(number) for name, _, number in (one.partition("=") for one in options.minutes)}
        self.seconds = {name: minutes * (60 if self.cuda else 30) for name, minutes in (MINUTES | given).items()}
        self.x = options.pair.removesuffix("-en")
        self.directions = [f"{self.x}-en", f"en-{self.x}"]
        self.text = tomllib.loads(Path(__file__).with_name("larger-pair.toml").read_text(encoding="utf-8"))

    def side(self, direction: str, file: str) -> list[tuple[str, str]]:
        """The rows of a bitext, source first."""
        return [(a, b) if direction.startswith(self.x) else (b, a) for a, b in read_rows(self.data / f"{file}.tsv.gz")]


def read_rows(file: Path) -> list[list[str]]:
    """Read a table without a header."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return [line.rstrip("\n").split("\t") for line in stream]


def write_rows(file: Path, *folders: Path) -> None:
    """Write the texts of corpora, normalized; sources of the Bible, which is a century old, with a tag."""
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        for batch in (batch for folder in folders for batch in Corpus.open(folder).batches()):
            names = [name for name in ("src", "tgt", "text") if name in batch.schema.names]
            sides = zip(*(normalize(batch.column(name)).to_pylist() for name in names), strict=True)
            origins = batch.column("origin").to_pylist() if "origin" in batch.schema.names else [""] * batch.num_rows
            for origin, row in zip(origins, sides, strict=True):
                stream.write((f"{OLD} " if origin == "bible-read" else "") + "\t".join(row).replace("\n", " ") + "\n")


def prepare(run: Run) -> None:
    """Read, clean and split all text, and learn subwords."""
    root, text = Path(os.environ["PARALOOM_DATA"]), run.text[run.x]
    stages: list[Any] = []

    def read(name: str, file: str, keys: dict[str, Any] | None = None) -> None:
        keys = (keys or {}) | ({"limit": run.limit} if run.limit else {})
        source = root / file.replace("{x}", run.x)
        stages.append(ReadPairs(name=name, source=source, src_lang=run.x, tgt_lang="en", origin=name, **keys))

    for name, *source in text["tests"]:
        read(f"{name}-test", *source)
    tests = tuple(stage.name for stage in stages)
    for kind in ("free", "others"):
        for name, *source in text[kind]:
            read(f"{name}-read", *source)
            stages.append(Clean(name=f"{name}-clean", held_out=tests, max_words=80))
        stages.append(JoinPairs(name=f"{kind}-all", corpora=tuple(f"{name}-clean" for name, *_ in text[kind])))
        stages.append(Split(name=kind, share=0.02))
        stages.append(Split(name=f"{kind}-development", input=f"{kind}-all", part="test", share=0.01))
    stages.append(Split(name="tatoeba-held-out", input="tatoeba-clean", part="test", share=0.02))
    stages.append(Split(name="tatoeba-test", share=0.01))  # without the development pairs
    files = tuple(root / f"sentences-en/{name}.txt.xz" for name in run.text["english"])
    stages.append(ReadSentences(name="english-read", text_files=files, capitalize=True, limit=10 * run.limit))
    stages.append(Clean(name="english-clean", held_out=tests, min_words=4, max_words=40))
    stages.append(Filter(name="english", sample=run.text["english_rows"]))
    result = Pipeline(stages, name="larger-pair").run(run.folder / "corpora")
    folders = {stage.name: stage.folder for stage in result.stages}
    run.data.mkdir(exist_ok=True)
    for name in ("free", "others", "english", *tests, "tatoeba-test"):
        write_rows(run.data / f"{name}.tsv.gz", folders[name])
    write_rows(run.data / "development.tsv.gz", folders["free-development"], folders["others-development"])
    sides = (side for name in ("free", "others") for row in read_rows(run.data / f"{name}.tsv.gz") for side in row)
    size = run.sizes["vocab_size"]
    train_subwords(sides, run.data / "subwords/huggingface", vocab_size=size, special_tokens=(TAG, OLD))


def dual_costs(file: Path) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Translations and their dual cross-entropy: the mean cost of both directions, plus their gap."""
    rows = [line.split("\t") for line in file.read_text(encoding="utf-8").split("\n")[:-1]]
    costs = np.array([row[2:] for row in rows], dtype=float).reshape(-1, 2)
    dual = np.nan_to_num(costs.mean(axis=1) + abs(costs[:, 0] - costs[:, 1]), nan=np.inf)
    return [(row[0], row[1]) for row in rows], dual


def likely(file: Path) -> list[tuple[str, str]]:
    """The translations with the lowest dual cross-entropy."""
    rows, dual = dual_costs(file)
    return [rows[row] for row in np.argsort(dual)[: round(KEPT * len(rows))] if dual[row] < np.inf]


def training_pairs(run: Run, direction: str, bitexts: list[str], rounds: int) -> list[tuple[str, str]]:
    """Bitext, and what was translated in either direction; sources that are synthetic, or old, have a tag."""
    rows = (row for name in bitexts for row in run.side(direction, name))
    pairs = [(f"{OLD} {a}", b.removeprefix(f"{OLD} ")) if b.startswith(OLD) else (a, b) for a, b in rows]
    for number in range(1, rounds + 1):
        for other in run.directions:
            kept = likely(run.folder / f"translations-{number}/{other}.tsv")
            pairs += kept if other == direction else [(f"{TAG} {b}", a) for a, b in kept]
    random.Random(1).shuffle(pairs)
    return pairs


def train(run: Run, name: str, bitexts: list[str], rounds: int, start: str, direction: str) -> None:
    """Train one direction."""
    folder = run.folder / name / direction
    if (folder / "training.json").is_file():
        return
    common = {"special_tokens": (TAG, OLD), "subword_sampling": 0.0, "patience": 0, "keep_last": True}
    config = TranslatorConfig(batch_tokens=4000, device=run.device, **common, **run.sizes)
    if run.cuda:
        precision = "int8" if name == "students" else "float16"
        config = replace(config, batch_tokens=50_000, sampled_softmax_size=0, precision=precision)
    if start:
        config = replace(config, muon_learning_rate=0.008, adam_learning_rate=0.002)
    if not (plan := folder / "steps").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        seconds = run.seconds[name.partition("-")[0]]
        plan.write_text(str(max(10, round(seconds * training_speed(config) / config.batch_tokens))))
    steps = int(plan.read_text())
    config = replace(config, steps=steps, warmup_steps=min(500, steps // 10), evaluate_every=-(-steps // 10))
    pairs = training_pairs(run, direction, bitexts, rounds)
    batches = [([a for a, _ in part], [b for _, b in part]) for part in batched(pairs, 1000)]
    development = [([a], [b]) for a, b in training_pairs(run, direction, ["development"], 0)]
    options: dict[str, Any] = {"subwords_from": run.data / "subwords", "shortlist": name == "students"}
    options["init_from"] = run.folder / start / direction if start else None
    figures = train_translator(lambda: batches, development, config, folder, **options)
    print(f"{name} {direction}: {figures}", flush=True)


def translate(run: Run, number: int, direction: str) -> None:
    """Translate until the time is over, from where it stopped; each part is appended, with the costs of both ways."""
    file = run.folder / f"translations-{number}" / f"{direction}.tsv"
    name = "english" if direction.startswith("en") else "free"
    sources = [row[0].removeprefix(f"{OLD} ") for row in read_rows(run.data / f"{name}.tsv.gz")]
    random.Random(1).shuffle(sources)
    folders = [run.folder / f"teachers-{number}" / way for way in (direction, "-".join(direction.split("-")[::-1]))]
    forward, reverse = (Translator.load(folder, device=run.device, check_costs=False) for folder in folders)
    size, tokens = (20_000, 40_000) if run.cuda else (200, None)
    forward = partial(forward.translate, decode="beam:3", batch_tokens=tokens)
    append_translations(file, sources[number - 1 :: run.rounds], forward, reverse, size, run.seconds["translations"])


def append_translations(
    file: Path, sources: list[str], forward: Any, reverse: Translator, size: int, seconds: float = np.inf
) -> None:
    """Write the best translation of each source and its costs both ways, from where it stopped, as long as it may."""
    file.parent.mkdir(parents=True, exist_ok=True)
    complete = file.read_text(encoding="utf-8").split("\n")[:-1] if file.is_file() else []  # the last line may be cut
    file.write_text("".join(f"{line}\n" for line in complete), encoding="utf-8")
    end = time.monotonic() + seconds
    with file.open("a", encoding="utf-8") as stream:
        for part in batched(sources[len(complete) :], size):
            best = [group[0] for group in forward(part)]
            back = reverse.score([one.text for one in best], part)
            for source, one, (logprob, count) in zip(part, best, back, strict=True):
                cost = -one.logprob / one.tokens if one.text and not one.cut else np.nan
                stream.write(f"{source}\t{one.text}\t{cost:.3f}\t{-logprob / count:.3f}\n")
            stream.flush()
            if time.monotonic() > end:
                break


def score(run: Run) -> None:
    """Measure the students and the last teachers; write costs and cards of the students."""
    rows = []
    for name in (f"teachers-{run.rounds}", "students"):
        for direction in run.directions:
            folder = run.folder / name / direction
            translator = Translator.load(folder, device=run.device, decode=COST_DECODING, check_costs=False)
            for file in sorted(run.data.glob("*-test.tsv.gz")):
                sources, references = zip(*run.side(direction, file.name.removesuffix(".tsv.gz")), strict=True)
                result = evaluate_translation([one.text for one in best_variants(translator, sources)], references)
                rows.append({"model": name, "direction": direction, "test": file.name, **result.to_dict()})
                print(name, direction, file.name, result.format(), flush=True)
            costs = CostDistribution.of(best_variants(translator, [a for a, _ in run.side(direction, "development")]))
            write_costs(folder, costs, "held-out pairs")
            facts = {"languages": direction.replace("-", " → "), "license": run.text["license"][run.x]}
            write_card(folder, title=f"{direction}, larger", facts=facts, text="Trained by examples/larger_pair.py.")
    (run.folder / "scores.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Take the steps that are not done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="run folder")
    parser.add_argument("--pair", default="de-en", choices=["de-en", "es-en"])
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of back-translation (default: %(default)s)")
    parser.add_argument("--minutes", nargs="*", default=[], metavar="STEP=N", help=f"default: {MINUTES}")
    parser.add_argument("--limit", type=int, default=0, help="rows of each source, and small networks, for a trial")
    parser.add_argument("--until", default="scores", help="last step, such as data or teachers-2")
    options = parser.parse_args()
    run = Run(options)
    steps: dict[str, Any] = {"data": prepare}
    for number in range(1, run.rounds + 1):
        start = f"teachers-{number - 1}" if number > 1 else ""
        steps[f"teachers-{number}"] = partial(train, run, f"teachers-{number}", ["free", "others"], number - 1, start)
        steps[f"translations-{number}"] = partial(translate, run, number)
    steps |= {"students": partial(train, run, "students", ["free"], run.rounds, ""), "scores": score}
    if options.until not in steps:
        parser.error(f"unknown step '{options.until}': expected one of {', '.join(steps)}")
    for name, step in list(steps.items())[: list(steps).index(options.until) + 1]:
        if not (done := run.folder / f"{name}.done").is_file():
            started = time.monotonic()
            if name in ("data", "scores"):
                step(run)
            elif not run.cuda:
                list(map(step, run.directions))
            else:  # side by side: one direction does not fill a GPU
                with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
                    list(pool.map(step, run.directions))
            done.touch()
            print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
