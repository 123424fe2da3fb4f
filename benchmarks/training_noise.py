"""A translator trained with noise and without, at equal updates, on clean text and on text with noise.

    PARALOOM_DATA=… python benchmarks/training_noise.py -o runs/training-noise --write

The bundled `de-en` continues on the 29,000 German captions of Multi30k, once as they are and once with noise, with
three seeds each. Test are the 1,000 captions of 2016, greedily. Their typing errors are those of the training (other
draws), or neighboring keys of a German keyboard, which the training does not have. References of text without final
punctuation have none. A stopped run resumes.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from results_pages import FOLDER, put_result
from utilities import Corpus, captions

from paraloom.bundled import bundled_path
from paraloom.mt import Translator
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.noise import add_noise
from paraloom.mt.training import train_translator

NOISE = ("typos:0.15", "unpunctuated:0.1", "titlecase:0.05", "uppercase:0.1")
ARMS: dict[str, tuple[str, ...]] = {"without noise": (), "with noise": NOISE}
SEEDS = (1, 2, 3)
_KEYS = ("qwertzuiopü", "asdfghjklöä", "yxcvbnm")


def config(noise: tuple[str, ...], steps: int) -> TranslatorConfig:
    """As examples/continued_pair.py continues, without an average of start and end."""
    return TranslatorConfig(
        steps=steps, batch_tokens=2000, subword_sampling=0.0, muon_learning_rate=0.004, adam_learning_rate=0.001,
        warmup_steps=20, evaluate_every=steps, patience=0, keep_last=True, threads=1, ema_decay=0.98, noise=noise,
    )  # fmt: skip


def neighboring_keys(text: str, random: np.random.Generator) -> str:
    """A text in which one letter, and another for every ten words, is that of a key beside the right one."""
    letters = list(text)
    for _ in range(1 + len(text.split()) // 10):
        at = int(random.choice([i for i, letter in enumerate(letters) if any(letter in row for row in _KEYS)]))
        row = next(row for row in _KEYS if letters[at] in row)
        key = row.index(letters[at]) + (1 if random.random() < 0.5 else -1)
        letters[at] = row[key] if 0 <= key < len(row) else row[1 if key < 0 else -2]
    return "".join(letters)


def texts(pairs: list[tuple[str, str]]) -> dict[str, tuple[list[str], list[str]]]:
    """Kind of text → sentences and references."""
    sides = [source for source, _ in pairs], [target for _, target in pairs]
    keys = np.random.default_rng(77)

    def noisy(kind: str) -> tuple[list[str], list[str]]:
        ((sources, targets),) = add_noise([sides], (f"{kind}:1",), 77, 0)
        return list(sources), list(targets)

    return {
        "clean": sides,
        "without final punctuation": noisy("unpunctuated"),
        "typing errors": noisy("typos"),
        "neighboring keys": ([neighboring_keys(text, keys) for text in sides[0]], sides[1]),
    }


def measured(kind: str, corpus: tuple[list[str], list[str]], models: dict[str, list[list[str]]]) -> list[str]:
    """A row of the table: BLEU of the start and of both arms, and their difference with an interval."""
    scorer = Corpus(corpus[1], models["start"][0])
    statistics = {name: [scorer.statistics(one)["bleu"] for one in seeds] for name, seeds in models.items()}
    scores = {name: [scorer.score("bleu", one.sum(axis=0)) for one in seeds] for name, seeds in statistics.items()}
    drawn = {
        name: np.mean([[scorer.score("bleu", row) for row in scorer.counts @ one] for one in statistics[name]], axis=0)
        for name in ARMS
    }
    with_noise, without = "with noise", "without noise"
    low, high = np.percentile(drawn[with_noise] - drawn[without], [2.5, 97.5])
    difference = np.mean(scores[with_noise]) - np.mean(scores[without])
    cells = [f"{np.mean(scores[name]):.1f}" for name in ("start", without, with_noise)]
    return [kind, *cells, f"{difference:+.1f} [{low:+.1f}, {high:+.1f}]".replace("-", "−")]


def main() -> None:
    """Train, translate, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=90)
    parser.add_argument("--write", action="store_true", help="put the figures on the page of results")
    options = parser.parse_args()
    os.environ["PARALOOM_DATA"]  # fails before any work
    pairs, development = captions("train", 0, 29_000), captions("val", 0, 200)
    batches = [tuple(zip(*pairs[first : first + 1000], strict=True)) for first in range(0, len(pairs), 1000)]
    held_out = [([source for source, _ in development], [target for _, target in development])]
    folders: dict[str, list[Path]] = {"start": [Path(str(bundled_path("de-en")))]}
    seconds: dict[str, list[float]] = {}
    for seed in SEEDS:
        for name, noise in ARMS.items():
            folder = options.output / f"{name.replace(' ', '-')}-{seed}"
            folders.setdefault(name, []).append(folder)
            if not (folder / "model.bin").is_file():
                folder.mkdir(parents=True, exist_ok=True)
                train_translator(
                    lambda: iter(batches), held_out, config(noise, options.steps), folder,  # type: ignore[arg-type]
                    seed=seed, init_from=folders["start"][0],
                )  # fmt: skip
            seconds.setdefault(name, []).append(json.loads((folder / "timings.json").read_text())["seconds"])
            print(folder, seconds[name][-1], flush=True)
    table: list[list[str]] = []
    shown: dict[str, Any] = {}
    for kind, corpus in texts(captions("test_2016_flickr", 0, 1000)).items():
        started = time.process_time()
        models = {
            name: [
                [
                    group[0].text
                    for group in Translator.load(one, decode="greedy", check_costs=False).translate(corpus[0])
                ]
                for one in those
            ]
            for name, those in folders.items()
        }
        table.append(measured(kind, corpus, models))
        shown[kind] = [
            [corpus[0][i], *(models[name][0][i] for name in models), corpus[1][i]] for i in range(0, 1000, 100)
        ]
        print(table[-1], round(time.process_time() - started, 1), flush=True)
    (options.output / "outputs.json").write_text(json.dumps(shown, indent=1, ensure_ascii=False), encoding="utf-8")
    print(json.dumps(seconds))
    if options.write:
        write(options, table, seconds)


def write(options: argparse.Namespace, table: list[list[str]], seconds: dict[str, list[float]]) -> None:
    """Put the figures on the page of translators."""
    put_result(FOLDER / "translators.json", {
        "heading": "Trained with noise",
        "command": [f"python benchmarks/training_noise.py -o runs/training-noise --steps {options.steps} --write"],
        "machine": "bfloat16",
        "seeds": "1, 2 and 3",
        "columns": ["text", "`de-en`", "without noise", "with noise", "difference"],
        "align": "lrrrl",
        "rows": table,
    })  # fmt: skip


if __name__ == "__main__":
    main()
