"""Score the sentence aligner on texts that chose none of its constants, or compare constants on those that may choose.

PARALOOM_DATA=… python benchmarks/alignment_unseen.py --folds unseen
PARALOOM_DATA=… python benchmarks/alignment_unseen.py --folds development --constants gap
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean

import numpy as np
from alignment_priors import (
    CANDIDATES,
    GoldText,
    changed,
    help_pages,
    magazine,
    with_vectors,
    yearbook,
)

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.nearest_words import encoder_lexicon
from paraloom.alignment.prepared_pairs import LexiconPair
from paraloom.alignment.sentences import fit_aligner
from paraloom.alignment.text_pairs import TextPair
from paraloom.bundled import ALIGNMENT_ENCODER
from paraloom.core.beads import Bead
from paraloom.embed.encoder import Encoder
from paraloom.evaluate.alignment import AlignmentScore

Rows = Sequence[tuple[str, str]]

# Rows of a document made of a bitext, and such documents in a fold.
_ROWS, _DOCUMENTS = 60, 12
# Draws of documents for an interval.
_DRAWS = 1000
# Punctuation after which a sentence may be cut into two lines, each with at least so many characters.
_CUT, _MIN_PIECE = re.compile(r"(?<=[,;:.!?)–—])\s+"), 6


@dataclass(frozen=True)
class Edits:
    """How a bitext becomes two texts with known beads.

    Args:
        dropped: Share of the beads that lose one side; a third of them drag the next along.
        merged: Share of the beads that have several rows, in one line on one side.
        cut: Share of the beads of one row that have two lines on one side, cut after a punctuation mark.
    """

    dropped: float
    merged: float
    cut: float

    def apply(self, rows: Rows, rng: random.Random) -> GoldText:
        """Two texts and their beads."""
        sides: tuple[list[str], list[str]] = ([], [])
        gold: list[Bead] = []
        start, run = 0, -1
        while start < len(rows):
            if run < 0 and rng.random() < self.dropped:
                run = rng.randrange(2)
            if run >= 0:
                lines: list[list[str]] = [[], []]
                lines[run] = [rows[start][run]]
                start += 1
                run = run if rng.random() < 1 / 3 else -1
            else:
                size = rng.choices((2, 3, 4), (0.7, 0.2, 0.1))[0] if rng.random() < self.merged else 1
                part = rows[start : start + size]
                start += len(part)
                lines = [[row[side] for row in part] for side in (0, 1)]
                side = rng.randrange(2)
                if len(part) > 1:
                    lines[side] = [" ".join(lines[side])]
                elif rng.random() < self.cut:
                    lines[side] = _cut(lines[side][0], rng)
            indices = [tuple(range(len(text), len(text) + len(new))) for text, new in zip(sides, lines, strict=True)]
            for text, new in zip(sides, lines, strict=True):
                text.extend(new)
            gold.append(Bead(indices[0], indices[1]))
        return GoldText(TextPair(*sides), gold)


def _cut(line: str, rng: random.Random) -> list[str]:
    """The line in two, or whole where no cut leaves two pieces."""
    cuts = [cut.span() for cut in _CUT.finditer(line)]
    cuts = [(a, b) for a, b in cuts if a >= _MIN_PIECE and len(line) - b >= _MIN_PIECE]
    if not cuts:
        return [line]
    a, b = rng.choice(cuts)
    return [line[:a], line[b:]]


EDITS = {"few": Edits(0.01, 0.15, 0.25), "some": Edits(0.04, 0.15, 0.25), "many": Edits(0.12, 0.15, 0.25)}
"""Rates of edits: as in careful translations, and with more left out."""


def bitext(path: Path) -> list[tuple[str, str]]:
    """Rows of a bitext, foreign and English, without those that lack a side or repeat the row before."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        fields = [line.rstrip("\n").split("\t") for line in lines]
    rows = [(row[0].strip(), row[1].strip()) for row in fields]
    kept = [row for before, row in pairwise([("", ""), *rows]) if row != before]
    return [row for row in kept if all(row)]


def verses(data: Path, language: str, version: str, names: str) -> list[tuple[str, str]]:
    """Verses of some books in a Bible of another language and an English one, neither translated from the other."""
    with gzip.open(data / "paraphrase" / "bible-verses" / f"{version}.tsv.gz", "rt", encoding="utf-8") as lines:
        english = dict(line.rstrip("\n").split("\t") for line in lines)
    with gzip.open(
        data / "bitext" / "bible-2" / f"{language}-en.tsv.gz", "rt", encoding="utf-8", newline="\n"
    ) as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [(foreign, english[verse]) for foreign, _, verse in rows if verse[:3] in names.split() and verse in english]


def made_documents(rows: Rows, seed: int, rate: str, skipped: int = 0) -> list[GoldText]:
    """Documents of consecutive rows, spread evenly over the bitext, with some lines joined, cut and dropped."""
    rng = random.Random(seed)
    starts = np.linspace(skipped, max(skipped, len(rows) - _ROWS), _DOCUMENTS).astype(int)
    return [EDITS[rate].apply(rows[start : start + _ROWS], rng) for start in starts]


def without_unaligned(text: GoldText) -> GoldText:
    """The text without the lines that have no counterpart."""
    return _kept(text, [bool(bead.source and bead.target) for bead in text.gold])


def with_dropped(text: GoldText, share: float, rng: random.Random) -> GoldText:
    """The text without one side, drawn at random, of some of its beads."""
    sides: list[set[int]] = [set(), set()]
    gold = []
    for bead in text.gold:
        both = [bead.source, bead.target]
        if all(both) and rng.random() < share:
            side = rng.randrange(2)
            sides[side].update(both[side])
            # Each line of the other side is a bead of its own now.
            both[side] = ()
            gold += [(line, ()) if side else ((), line) for line in ((index,) for index in both[1 - side])]
        else:
            gold.append((both[0], both[1]))
    return _renumbered(text, [Bead(a, b) for a, b in gold], sides)


def _kept(text: GoldText, kept: Sequence[bool]) -> GoldText:
    sides: list[set[int]] = [set(), set()]
    for bead, keep in zip(text.gold, kept, strict=True):
        if not keep:
            sides[0].update(bead.source)
            sides[1].update(bead.target)
    return _renumbered(text, [bead for bead, keep in zip(text.gold, kept, strict=True) if keep], sides)


def _renumbered(text: GoldText, gold: Sequence[Bead], removed: Sequence[set[int]]) -> GoldText:
    texts, numbers = [], []
    for lines, gone in zip((text.pair.source, text.pair.target), removed, strict=True):
        rows = [row for row in range(len(lines)) if row not in gone]
        texts.append([lines[row] for row in rows])
        numbers.append({row: number for number, row in enumerate(rows)})
    moved = [
        Bead(*(tuple(of[row] for row in side) for of, side in zip(numbers, (bead.source, bead.target), strict=True)))
        for bead in gold
    ]
    return GoldText(TextPair(*texts), moved)


def development_folds(data: Path, seed: int) -> dict[str, list[GoldText]]:
    """Texts that may choose constants."""
    rng = random.Random(seed)
    folder = data / "bitext"
    plain, articles = yearbook(data), magazine(data)
    whole = without_unaligned(plain)
    folds = {
        "yearbook": [plain],
        "yearbook, whole": [whole],
        "yearbook, 2 % dropped": [with_dropped(whole, 0.02, rng)],
        "yearbook, 8 % dropped": [with_dropped(whole, 0.08, rng)],
        "magazine hu": [articles],
        "help cs": help_pages(data, "cs", 0, 30),
        "help de": help_pages(data, "de", 0, 30),
    }
    # Turkish news of the second half are kept for the unseen folds of other languages, whose English is the same.
    sets = {
        "news de": bitext(folder / "ntrex" / "de-en.tsv.gz")[:1000],
        "Bible tr": bitext(folder / "bible" / "tr-en.tsv.gz")[:10000],
        "loose Bible de": verses(data, "de", "UST", "LEV DEU JOS JDG 1SA 2SA"),
        "loose Bible cs": verses(data, "cs", "UST", "LEV DEU JOS JDG 1SA 2SA"),
        "guide de": bitext(folder / "privacyguides" / "de-en.tsv.gz"),
        "essays fr": bitext(folder / "opensource-guide" / "fr-en.tsv.gz"),
    }
    for name, rows in sets.items():
        for rate in EDITS:
            folds[f"{name}, {rate}"] = made_documents(rows, seed, rate)
    return folds


def unseen_folds(data: Path, seed: int) -> dict[str, list[GoldText]]:
    """Texts that chose nothing: other books, other languages, and the second half of the news."""
    folder = data / "bitext"
    folds = {f"help {language}": help_pages(data, language, 200, 100) for language in ("cs", "de", "ko")}
    sets = {
        "news fr": bitext(folder / "ntrex" / "fr-en.tsv.gz")[1000:],
        "news cs": bitext(folder / "ntrex" / "cs-en.tsv.gz")[1000:],
        "Bible fr": verses(data, "fr", "BSB", "PSA LUK 1CO 2CO HEB REV"),
        "loose Bible fr": verses(data, "fr", "UST", "MAT MRK JHN ACT ROM"),
        "loose Bible es": verses(data, "es", "OEB", "MAT MRK JHN ACT ROM"),
        "handbook de": bitext(folder / "debian-handbook" / "de-en.tsv.gz"),
        "handbook fr": bitext(folder / "debian-handbook" / "fr-en.tsv.gz"),
        "Rust de": bitext(folder / "rust-book" / "de-en.tsv.gz"),
        "tutorial tr": bitext(folder / "django-girls" / "tr-en.tsv.gz"),
        "manual ko": bitext(folder / "opensource-guide" / "ko-en.tsv.gz"),
    }
    for name, rows in sets.items():
        for rate in EDITS:
            folds[f"{name}, {rate}"] = made_documents(rows, seed, rate)
    return folds


Aligner = Callable[[Sequence[TextPair]], list[list[Bead]]]
"""Aligns some texts together."""


def ours(config: AlignerConfig, encoder: Encoder | None) -> Aligner:
    """The aligner as `paraloom align sentences` runs it, with its encoder or without."""

    def align(pairs: Sequence[TextPair]) -> list[list[Bead]]:
        lexicons: Sequence[LexiconPair] = ()
        if encoder is not None:
            lexicons = encoder_lexicon(encoder, [pair.source for pair in pairs], [pair.target for pair in pairs])
            pairs = [with_vectors(pair, encoder) for pair in pairs]
        aligner = fit_aligner(pairs, config, lexicons)
        return [aligner.align(pair) for pair in pairs]

    return align


def scores(texts: Sequence[GoldText], align: Aligner, alone: bool) -> list[AlignmentScore]:
    """The score of each text, aligned together or each by itself."""
    pairs = [text.pair for text in texts]
    groups = [[pair] for pair in pairs] if alone else [pairs]
    aligned = [beads for group in groups for beads in align(group)]
    result = []
    for text, beads in zip(texts, aligned, strict=True):
        score = AlignmentScore()
        score.add(text.gold, beads)
        result.append(score)
    return result


def pooled(parts: Sequence[AlignmentScore]) -> AlignmentScore:
    """The score of all texts together."""
    total = AlignmentScore()
    for part in parts:
        total.merge(part)
    return total


def gap_counts(score: AlignmentScore) -> tuple[int, int, int]:
    """Sentences without a counterpart: in the gold, found, and found rightly."""
    kinds = [counts for size, counts in score.kinds.items() if 0 in size]
    return sum(k.gold for k in kinds), sum(k.predicted for k in kinds), sum(k.correct for k in kinds)


def f1(gold: int, predicted: int, correct: int) -> float:
    """F1; 1 where there is nothing to find and nothing was found."""
    return 2 * correct / (gold + predicted) if gold + predicted else 1.0


def interval(parts: Sequence[AlignmentScore], seed: int) -> tuple[float, float]:
    """95 % interval of strict F1, by drawing the texts again."""
    rng = np.random.default_rng(seed)
    counts = np.array(
        [[part.counts[f"{s}{how}"] for s in ("predicted", "gold") for how in ("", " strict")] for part in parts]
    )
    drawn = counts[rng.integers(0, len(parts), (_DRAWS, len(parts)))].sum(axis=1)
    precision, recall = drawn[:, 1] / np.maximum(drawn[:, 0], 1), drawn[:, 3] / np.maximum(drawn[:, 2], 1)
    figures = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    low, high = np.quantile(figures, (0.025, 0.975))
    return float(low), float(high)


def main() -> None:
    """Print the figures of each fold, aligned together and each text by itself."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", choices=["development", "unseen"], default="unseen")
    parser.add_argument(
        "--only", nargs="*", default=[], help="folds whose names begin with one of these; all by default"
    )
    parser.add_argument("--together", action="store_true", help="do not align each text by itself as well")
    parser.add_argument("--constants", nargs="*", choices=list(CANDIDATES), default=[], help="development folds only")
    parser.add_argument("--seed", type=int, default=1, help="of the edits")
    parser.add_argument("--encoder", default=ALIGNMENT_ENCODER, help="a bundled name or a folder; none: no encoder")
    arguments = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", ""))
    if not (data / "align").is_dir():
        sys.exit(f"{data / 'align'} not found: set PARALOOM_DATA to the folder of real corpora")
    if arguments.constants and arguments.folds != "development":
        sys.exit("constants are chosen on --folds development only")
    make = development_folds if arguments.folds == "development" else unseen_folds
    only = tuple(arguments.only)
    folds = {name: texts for name, texts in make(data, arguments.seed).items() if not only or name.startswith(only)}
    encoder = None if arguments.encoder == "none" else Encoder.load(arguments.encoder)
    base = AlignerConfig()
    tried = {"default": base}
    for name in arguments.constants:
        tried |= {f"{name} {value:g}": changed(base, name, value) for value in CANDIDATES[name]}
    for label, config in tried.items():
        print_folds(label, folds, ours(config, encoder), arguments.seed, alone=not arguments.together)


def print_folds(label: str, folds: Mapping[str, Sequence[GoldText]], align: Aligner, seed: int, *, alone: bool) -> None:
    """A line for each fold, then the means."""
    print(f"{label:<28}{'strict':>8}{'95 % of texts':>17}{'lax':>8}   1:0 and 0:1: gold, found, right, F1; seconds")
    strict, lax, gaps = [], [], np.zeros(3, np.int64)
    for name, texts in folds.items():
        for by_itself in (False, True) if alone and len(texts) > 1 else (False,):
            start = time.process_time()
            parts = scores(texts, align, by_itself)
            score, seconds = pooled(parts), time.process_time() - start
            counts = gap_counts(score)
            low, high = interval(parts, seed)
            span = f"{low:.4f}–{high:.4f}" if len(parts) > 1 else ""
            shown = f"{counts[0]:4} {counts[1]:4} {counts[2]:4} {f1(*counts):.3f}  {seconds:.1f}"
            title = f"{name}, alone" if by_itself else name
            print(f"{title:<28}{score.strict.f1:8.4f}{span:>17}{score.lax.f1:8.4f}   {shown}", flush=True)
            strict.append(score.strict.f1)
            lax.append(score.lax.f1)
            gaps += counts
    print(f"{'mean':<28}{mean(strict):8.4f}{'':17}{mean(lax):8.4f}   {f1(*gaps.tolist()):.3f} pooled", flush=True)


if __name__ == "__main__":
    main()
