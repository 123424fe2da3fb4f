"""When does diversity train better? Many small trainings with back-translations of exactly known quality.

    python benchmarks/when_diversity_trains.py runs/when-diversity

A student translates Tatoeba into English. Half of the text of each update is parallel, half is back-translated: English
sentences with a foreign side in which each word was replaced, at a given rate, by another word of the corpus. The
copies of a sentence are `one`, `independent` (three copies of one wording, with errors of their own) or `wordings`
(three translations by people, with errors of their own); the sentences are `novel`, `few` (of these) or `seen` in the
parallel text. A bundled translator makes copies, too: `base`, one by a beam, and `nucleus`, three samples.

All students of a language continue one translator of the parallel text; seeds are of the continuation and the errors.
Each training is a line of trainings.jsonl: a run that was cut resumes. `benchmarks/diversity_rule.py` reads them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
from augmentation_ladder import Pairs, lines, reader, shuffled

from paraloom.core.seeds import derive_seed, generator
from paraloom.evaluate.translation import evaluate_translation
from paraloom.mt import Translator, TranslatorConfig
from paraloom.mt.checkpoint import CHECKPOINT
from paraloom.mt.data import mixture_sizes, repeat_to
from paraloom.mt.presets import method
from paraloom.mt.subwords import train_subwords
from paraloom.mt.training import train_translator

SIZES = {"test": 600, "development": 200, "parallel": 2500, "novel": 1500}
FEW = 300
"""Sentences of each part, all with three translations; `few` novel ones are read often."""

COPIES = ("one", "independent", "wordings")
SEEDS = (1, 2, 3)
TEACHER = "en-de"
FIRST = TranslatorConfig(
    vocab_size=1000, d_model=96, ffn_dim=192, encoder_layers=1, decoder_layers=1, max_length=32, threads=1, steps=900,
    batch_tokens=1000, warmup_steps=50, evaluate_every=900, subword_sampling=0.0, sampled_softmax_size=0,
    ema_decay=0.98, keep_last=True,
)  # fmt: skip
"""Of the translator of the parallel text that all students continue; then of the students."""

CONTINUED = replace(FIRST, batch_tokens=2000, steps=100, evaluate_every=100, warmup_steps=10)


@dataclass(frozen=True)
class Cell:
    """One training; the teacher is a rate of wrong words or the name of a translator, "" for parallel text alone."""

    language: str
    teacher: str
    copies: str
    novelty: str
    seed: int


@dataclass(frozen=True)
class Sentence:
    """An English sentence and what people translated it into."""

    english: str
    wordings: tuple[str, ...]


class Corpus:
    """Tatoeba in one language: short English sentences with three and more translations, in parts."""

    def __init__(self, language: str, data: Path) -> None:
        table = [line.split("\t") for line in lines(data / f"bitext/tatoeba/{language}-en.tsv.gz")]
        groups: dict[str, list[str]] = defaultdict(list)
        for row in table:
            groups[row[1]].append(row[0])
        chosen = [Sentence(english, tuple(texts[:3])) for english, texts in groups.items() if len(texts) > 2]
        chosen = shuffled([sentence for sentence in chosen if len(sentence.english.split()) <= 8])
        if len(chosen) < (needed := sum(SIZES.values())):
            sys.exit(f"{language}: {len(chosen):,} sentences with three translations, {needed:,} needed")
        rest = iter(chosen)
        self.parts = {name: list(islice(rest, size)) for name, size in SIZES.items()}
        texts = (text for name in ("parallel", "novel") for one in self.parts[name] for text in one.wordings)
        self.words = [word for text in texts for word in re.findall(r"\w+", text)]

    def pairs(self, part: str) -> Pairs:
        """The first translation of each sentence, and the sentence."""
        return [(sentence.wordings[0], sentence.english) for sentence in self.parts[part]]


def corrupted(text: str, rate: float, words: Sequence[str], random: np.random.Generator) -> str:
    """The text with each word replaced, with a probability, by another word, drawn by its frequency in the corpus."""

    def other(match: re.Match[str]) -> str:
        word = match.group()
        if random.random() < rate:
            while word.casefold() == match.group().casefold():
                word = words[random.integers(len(words))]
        return word

    return re.sub(r"\w+", other, text)


def precision(rows: Sequence[tuple[str, Sentence]]) -> float:
    """The share of words that are in the second or third translation of their sentence by people."""
    shared = total = 0
    for text, sentence in rows:
        known = set(re.findall(r"\w+", " ".join(sentence.wordings[1:]).casefold()))
        words = re.findall(r"\w+", text.casefold())
        shared, total = shared + sum(word in known for word in words), total + len(words)
    return shared / total


class Trainings:
    """The trainings of a folder, with what they share: corpora, subwords, and the translator that they continue."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.folder, self.data = folder, data
        self.corpora: dict[str, Corpus] = {}

    def corpus(self, language: str) -> Corpus:
        """The corpus of a language, with subwords of its clean text."""
        if language not in self.corpora:
            corpus = self.corpora[language] = Corpus(language, self.data)
            texts = (side for name in ("parallel", "novel") for pair in corpus.pairs(name) for side in pair)
            folder = self.folder / language / CHECKPOINT
            train_subwords(texts, folder, vocab_size=FIRST.vocab_size, seed=1, special_tokens=())
        return self.corpora[language]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Train a student, and measure it."""
        started = time.process_time()
        corpus = self.corpus(cell.language)
        bitexts, quality = [corpus.pairs("parallel")], dict[str, float]()
        if cell.teacher:
            part = corpus.parts["parallel" if cell.novelty == "seen" else "novel"]
            sentences = part[: FEW if cell.novelty == "few" else SIZES["novel"]]
            copies = self.copies(cell, sentences)
            rows = [(text, one) for one, group in zip(sentences, copies, strict=True) for text in group]
            quality["precision"] = precision(rows)
            if cell.teacher == TEACHER:
                best = evaluate_translation([group[0] for group in copies], [one.wordings[0] for one in sentences])
                quality["teacher_bleu"] = best.bleu.score
            bitexts.append([(text, one.english) for text, one in rows])
        folder, first = self.folder / "student", self.first(cell.language)
        shutil.rmtree(folder, ignore_errors=True)
        figures = self.train(bitexts, corpus.pairs("test"), CONTINUED, folder, seed=cell.seed, init_from=first)
        hypotheses = translate(folder, "base", [source for source, _ in corpus.pairs("test")])
        scores = evaluate_translation([group[0] for group in hypotheses], [t for _, t in corpus.pairs("test")])
        quality |= {"bleu": scores.bleu.score, "chrf": scores.chrf.score, "loss": figures["development_loss"]}
        return {**asdict(cell), **quality, "seconds": time.process_time() - started}

    def copies(self, cell: Cell, sentences: Sequence[Sentence]) -> list[list[str]]:
        """The foreign sides of each sentence."""
        if cell.teacher == TEACHER:
            return translate(Translator.load(TEACHER).folder, cell.copies, [one.english for one in sentences])
        random = generator(derive_seed(*asdict(cell).values()))
        words = self.corpus(cell.language).words
        sources = [one.wordings if cell.copies == "wordings" else one.wordings[:1] for one in sentences]
        times = 3 if cell.copies == "independent" else 1
        return [[corrupted(text, float(cell.teacher), words, random) for text in texts * times] for texts in sources]

    def first(self, language: str) -> Path:
        """The translator that all students continue."""
        folder = self.folder / f"{language}-first"
        if not (folder / "training.json").exists():
            corpus = self.corpus(language)
            start = {"subwords_from": self.folder / language}
            self.train([corpus.pairs("parallel")], corpus.pairs("development"), FIRST, folder, **start)
        return folder

    def train(
        self,
        bitexts: Sequence[Pairs],
        development: Pairs,
        config: TranslatorConfig,
        folder: Path,
        seed: int = 1,
        **start: Any,
    ) -> dict[str, Any]:
        """Train on bitexts in equal shares."""
        sizes = mixture_sizes([len(bitext) for bitext in bitexts], [1.0] * len(bitexts))

        def mixed() -> Iterator[tuple[Sequence[str], Sequence[str]]]:
            for bitext, size in zip(bitexts, sizes, strict=True):
                yield from repeat_to(reader(bitext), len(bitext), size, seed)

        return train_translator(mixed, reader(development)(), config, folder, seed=seed, shortlist=False, **start)


def translate(folder: Path, name: str, sentences: Sequence[str]) -> list[list[str]]:
    """Translations of sentences by a method of BBH22, three where it makes several."""
    translator = Translator(folder, method(name, 3).decoding, check_costs=False)
    return [[variant.text for variant in group] for group in translator.translate(sentences, seed=1)]


def cells() -> list[Cell]:
    """All trainings, in the order that gives one seed of everything first."""
    designs = [
        ("de", "", "", ""),
        *product(["de"], ["0", "0.2", "0.4", "0.6"], ["one"], ["novel"]),
        *product(["de"], ["0.2", "0.4", "0.6"], ["independent"], ["novel"]),
        *product(["de"], ["0", "0.4"], ["wordings"], ["novel"]),
        *product(["de"], ["0.4"], ["one", "independent"], ["seen", "few"]),
        *product(["de"], [TEACHER], ["base", "nucleus"], ["novel"]),
        ("fr", "", "", ""),
        *product(["fr"], ["0.1", "0.5"], ["one", "independent"], ["novel"]),
        ("fr", "0.5", "wordings", "novel"),
    ]
    return [Cell(*design, seed) for seed in SEEDS for design in designs]


def read(folder: Path) -> dict[Cell, dict[str, Any]]:
    """Training → its figures; a line that a kill cut is left out."""
    path = folder / "trainings.jsonl"
    rows = map(json.loads, path.read_text("utf-8").split("\n")[:-1] if path.is_file() else [])
    return {Cell(*(row[name] for name in Cell.__dataclass_fields__)): row for row in rows}


def main() -> None:
    """Train what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="folder of the trainings")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    done, trainings = read(folder), Trainings(folder, Path(os.environ["PARALOOM_DATA"]))
    for cell in cells():
        if cell not in done:
            result = json.dumps(trainings.run(cell))
            with (folder / "trainings.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(result + "\n")
            print(result, flush=True)


if __name__ == "__main__":
    main()
