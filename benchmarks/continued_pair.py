"""Fine-tune a bundled translator on what `beam:16,utility=reverse+chrf` chooses, and on what its beam finds.

    PARALOOM_DATA=/path/to/corpora python benchmarks/distilled_choice.py -o runs/distilled-choice
    PARALOOM_DATA=/path/to/corpora python benchmarks/distilled_choice.py --source de --target en -o runs/distilled-de-en

Both learn from the same sentences, captions of COCO and news of ABC, and differ in their translations alone. Each row
compares a fine-tuned translator with the bundled one on 1,000 captions (Multi30k test 2016) and 200 sentences of
newstest2019: chrF and BLEU, means of the seeds, with 95 % intervals of 1,000 paired bootstrap samples of the
sentences. The bundled translator's weights are int8: the row `converted` has them read back and converted again.
A killed run resumes where it stopped.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from utilities import Corpus, captions, news

from paraloom.bundled import bundled_path
from paraloom.mt import Translator
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.training import train_translator

CHOICES = {"beam": "beam:5", "choice": "beam:16,utility=reverse+chrf"}
TEXTS = {"captions.coco-texygen": 7000, "news.nltk-abc": 1500}
CHUNK = 100
SETTINGS: dict[str, Any] = {
    **{"batch_tokens": 2000, "warmup_steps": 20, "subword_sampling": 0.0, "patience": 0, "keep_last": True},
    **{"muon_learning_rate": 0.004, "adam_learning_rate": 0.001, "threads": 1, "evaluate_every": 1000},
}


def english(name: str, count: int, unseen: set[str]) -> list[str]:
    """Sentences of 4 to 40 words, evenly spaced, none of them in a test set."""
    with lzma.open(Path(os.environ["PARALOOM_DATA"]) / f"sentences-en/{name}.txt.xz", "rt", encoding="utf-8") as stream:
        lines = dict.fromkeys(" ".join((line[:1].upper() + line[1:]).split()) for line in stream)
    kept = [line for line in lines if 4 <= len(line.split()) <= 40 and line.casefold() not in unseen]
    return kept[:: max(1, len(kept) // count)][:count]


def write_choice(name: str, decode: str, sources: list[str], folder: Path, pair: tuple[str, str]) -> Path:
    """Write the translations of a decoding beside their sources, from where it stopped."""
    file = folder / f"{name}.tsv"
    done = len(file.read_text(encoding="utf-8").splitlines()) if file.is_file() else 0
    translator = Translator.load("-".join(pair), decode=decode, check_costs=False)
    start = time.process_time()
    with file.open("a", encoding="utf-8") as stream:
        for at in range(done, len(sources), CHUNK):
            part = sources[at : at + CHUNK]
            rows = [group[0].text for group in translator.translate(part)]
            stream.write("".join(f"{a}\t{b or '.'}\n" for a, b in zip(part, rows, strict=True)))
            stream.flush()
    print(f"{name}: {time.process_time() - start:.0f} s for {len(sources) - done} sentences", flush=True)
    return file


def translations(folder: Path | str, sources: list[str]) -> list[str]:
    """What a translator makes of the test sentences, by a beam of 5."""
    return [group[0].text for group in Translator.load(folder, decode="beam:5", check_costs=False).translate(sources)]


def main() -> None:
    """Translate, fine-tune, and write a row for each translator and text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--source", default="en")
    parser.add_argument("--target", default="de")
    parser.add_argument("--texts", nargs="*", type=Path, help="sentences of the source language; default: English ones")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--share", type=float, default=1.0, help="share of the sentences, for a trial")
    arguments = parser.parse_args()
    folder, pair = arguments.output, (arguments.source, arguments.target)
    folder.mkdir(parents=True, exist_ok=True)
    tests = {"captions": captions("test_2016_flickr", 0, 1000), "news": news("deu-eng/newstest2019", 200)}
    ordered = {name: rows if pair[0] == "de" else [row[::-1] for row in rows] for name, rows in tests.items()}
    unseen = {side.casefold() for rows in tests.values() for row in rows for side in row}
    if arguments.texts:
        sources = [line for file in arguments.texts for line in file.read_text(encoding="utf-8").splitlines()]
    else:
        sources = [
            line for name, count in TEXTS.items() for line in english(name, round(count * arguments.share), unseen)
        ]
    bitexts = {name: write_choice(name, decode, sources, folder, pair) for name, decode in CHOICES.items()}
    base = {name: translations("-".join(pair), [a for a, _ in rows]) for name, rows in ordered.items()}
    corpora = {name: Corpus([b for _, b in rows], base[name]) for name, rows in ordered.items()}
    trainings = [("converted", "beam", 1, 0)]
    trainings += [(name, name, seed, 1) for seed in range(1, arguments.seeds + 1) for name in CHOICES]
    translated: dict[str, dict[str, list[list[str]]]] = {}
    for name, bitext, seed, share in trainings:
        model = folder / f"{name}-{seed}"
        if not (model / "training.json").is_file():
            rates = {} if share else {"muon_learning_rate": 0.0, "adam_learning_rate": 0.0}
            config = TranslatorConfig(**SETTINGS | rates, steps=arguments.steps if share else 1)
            lines = [line.split("\t") for line in bitexts[bitext].read_text(encoding="utf-8").splitlines()]
            batch = ([line[0] for line in lines], [line[1] for line in lines])
            figures = train_translator(
                lambda batch=batch: [batch], [tuple(side[:64] for side in batch)], config, model, seed=seed,
                init_from=bundled_path("-".join(pair)), shortlist=False,
            )  # fmt: skip
            print(f"{name} {seed}: {figures['seconds']} s, {figures['epochs']} passes", flush=True)
        for text, rows in ordered.items():
            translated.setdefault(name, {}).setdefault(text, []).append(translations(model, [a for a, _ in rows]))
        (folder / "rows.json").write_text(
            json.dumps(list(rows_of(translated, corpora)), indent=1) + "\n", encoding="utf-8"
        )
    for row in rows_of(translated, corpora):
        print(row)


def rows_of(translated: dict[str, dict[str, list[list[str]]]], corpora: dict[str, Corpus]) -> list[dict[str, Any]]:
    """Mean differences to the bundled translator, and of the choice to the beam."""
    rows = []
    for text, corpus in corpora.items():
        base = {metric: corpus.score(metric, own.sum(axis=0)) for metric, own in corpus.base.items()}
        for name, texts in translated.items():
            gains = mean_gains(corpus, [corpus.base], [corpus.statistics(one) for one in texts[text]])
            rows.append({"text": text, "translator": name, "than": "bundled", "bundled": base, **gains})
        if {"beam", "choice"} <= translated.keys():
            beam, choice = ([corpus.statistics(one) for one in translated[name][text]] for name in ("beam", "choice"))
            rows.append({"text": text, "translator": "choice", "than": "beam", **mean_gains(corpus, beam, choice)})
    return rows


def mean_gains(corpus: Corpus, base: list[Any], own: list[Any]) -> dict[str, list[float]]:
    """The difference of the means over seeds of two translators, with its interval."""
    gains = {}
    for metric in corpus.metrics:

        def mean(models: list[Any], counts: np.ndarray, metric: str = metric) -> np.ndarray:
            return np.mean([[corpus.score(metric, row) for row in counts @ one[metric]] for one in models], axis=0)

        whole = np.ones((1, len(corpus.references)), dtype=int)
        drawn = mean(own, corpus.counts) - mean(base, corpus.counts)
        value = float((mean(own, whole) - mean(base, whole))[0])
        gains[metric] = [value, *np.percentile(drawn, [2.5, 97.5]).tolist()]
    return gains


if __name__ == "__main__":
    main()
