"""Choose constants of the sentence aligner by cross-validation over texts of different kinds, and print the folds.

PARALOOM_DATA=… python benchmarks/alignment_priors.py
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from statistics import mean

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.nearest_words import encoder_lexicon
from paraloom.alignment.prepared_pairs import LexiconPair
from paraloom.alignment.sentences import fit_aligner
from paraloom.alignment.text_pairs import TextPair
from paraloom.bundled import ALIGNMENT_ENCODER
from paraloom.core.beads import MAX_BEAD_SIZE, Bead
from paraloom.embed.encoder import Encoder
from paraloom.evaluate.alignment import AlignmentScore
from paraloom.io import read_lines
from paraloom.io.formats.alignments import read_bead_file, read_gold_documents

# Texts are cut into pieces of this many source sentences, to see what short texts do.
PIECE = 50


@dataclass(frozen=True)
class GoldText:
    """Two texts, with their translations and gold beads."""

    pair: TextPair
    gold: Sequence[Bead]


@dataclass(frozen=True)
class Fold:
    """Texts of one kind; each group is aligned by an aligner of its own."""

    kind: str
    name: str
    groups: Sequence[Sequence[GoldText]]

    def score(self, config: AlignerConfig, encoder: Encoder | None = None) -> AlignmentScore:
        """Fit an aligner to each group, with what `paraloom align sentences` takes from an encoder; score its beads."""
        score = AlignmentScore()
        for group in self.groups:
            pairs = [text.pair for text in group]
            lexicons: Sequence[LexiconPair] = ()
            if encoder is not None:
                lexicons = encoder_lexicon(encoder, [pair.source for pair in pairs], [pair.target for pair in pairs])
                pairs = [pair if pair.source_translations else with_vectors(pair, encoder) for pair in pairs]
            aligner = fit_aligner(pairs, config, lexicons)
            for text, pair in zip(group, pairs, strict=True):
                score.add(text.gold, aligner.align(pair))
        return score


def with_vectors(pair: TextPair, encoder: Encoder) -> TextPair:
    """The texts with the vectors of their sentences; those of an unknown language may be zero."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*unknown units only")
        return replace(pair, embeddings=(encoder.encode(list(pair.source)), encoder.encode(list(pair.target))))


def pieces(text: GoldText, size: int = PIECE) -> Iterator[GoldText]:
    """Cut a text into pieces of `size` source sentences or more, where no gold bead crosses the cut."""
    beads: list[Bead] = []
    start = end = (0, 0)
    for index, bead in enumerate(text.gold):
        beads.append(bead)
        end = (max((*bead.source, end[0] - 1)) + 1, max((*bead.target, end[1] - 1)) + 1)
        rest = text.gold[index + 1 :]
        crossed = any(min(side, default=last) < last for bead in rest for side, last in zip(bead[:2], end, strict=True))
        if (end[0] - start[0] >= size and not crossed) or not rest:
            yield _piece(text, beads, start, end)
            beads, start = [], end


def _piece(text: GoldText, beads: Sequence[Bead], start: tuple[int, int], end: tuple[int, int]) -> GoldText:
    s, t = slice(start[0], end[0]), slice(start[1], end[1])
    pair = text.pair
    cut = TextPair(
        pair.source[s],
        pair.target[t],
        [translation[s] for translation in pair.source_translations],
        [translation[t] for translation in pair.target_translations],
    )
    moved = [Bead(tuple(i - start[0] for i in bead.source), tuple(j - start[1] for j in bead.target)) for bead in beads]
    return GoldText(cut, moved)


def yearbook(data: Path, *systems: str) -> GoldText:
    """The yearbook of 1957, German and French, with translations of both sides by some systems."""
    folder = data / "align" / "bleualign-1957"
    names = [["de"], ["fr"], [f"{system}.fr" for system in systems], [f"{system}.de" for system in systems]]
    source, target, forward, backward = (
        [list(read_lines(folder / f"eval1957.{name}")) for name in side] for side in names
    )
    return GoldText(
        TextPair(source[0], target[0], forward, backward),
        read_bead_file(data / "align" / "vecalign-dev" / "dev.defr").beads,
    )


def magazine(data: Path) -> GoldText:
    """Hunalign's Hungarian and English magazine."""
    folder = data / "align" / "hunalign-hu-en"
    source, target = (list(read_lines(folder / f"dtm.{side}")) for side in ("hu", "en"))
    return GoldText(TextPair(source, target), read_bead_file(folder / "dtm.hand.ladder").beads)


def help_pages(data: Path, language: str, first: int, count: int) -> list[GoldText]:
    """Some of the help pages of one language."""
    documents = read_gold_documents(data / "sentences" / "libreoffice-help" / f"{language}-en.jsonl.gz")
    return [GoldText(TextPair(d.source, d.target), d.gold) for d in documents[first : first + count]]


def joined_and_dropped(rows: Sequence[tuple[str, str]], rng: random.Random) -> GoldText:
    """A text of the rows; some are joined on one side, or both, and some dropped from one side."""
    sides: tuple[list[str], list[str]] = ([], [])
    gold = []
    start = 0
    while start < len(rows):
        size = rng.choices((1, 2, 3, 4), (0.86, 0.1, 0.03, 0.01))[0]
        part = rows[start : start + size]
        start += size
        split, dropped = rng.randrange(2), rng.random() < 0.05
        indices = []
        for side in (0, 1):
            texts = [row[side] for row in part]
            if side == split:
                texts = [] if dropped and len(part) == 1 else [" ".join(texts)]
            indices.append(tuple(range(len(sides[side]), len(sides[side]) + len(texts))))
            sides[side].extend(texts)
        gold.append(Bead(indices[0], indices[1]))
    return GoldText(TextPair(*sides), gold)


def news(data: Path, language: str, count: int, seed: int) -> list[GoldText]:
    """The first news articles of one language, with lines joined and dropped."""
    rng = random.Random(seed)
    documents: dict[str, list[tuple[str, str]]] = {}
    with gzip.open(data / "bitext" / "ntrex" / f"{language}-en.tsv.gz", "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            name, foreign, english = line.rstrip("\n").split("\t")
            documents.setdefault(name, []).append((foreign, english))
    return [joined_and_dropped(rows, rng) for rows in list(documents.values())[:count]]


def bible(data: Path, count: int, seed: int) -> GoldText:
    """The first verses of the Turkish and the King James Bible, with lines joined and dropped."""
    with gzip.open(data / "bitext" / "bible" / "tr-en.tsv.gz", "rt", encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\n").split("\t") for line in islice(lines, count)]
    return joined_and_dropped([(row[0], row[1]) for row in rows], random.Random(seed))


def all_folds(data: Path, seed: int = 1) -> list[Fold]:
    """Texts of five kinds, together and in short pieces by themselves, and the yearbook with translations."""
    plain, articles, verses = yearbook(data), magazine(data), bible(data, 300, seed)
    pages = [page for language in ("cs", "de", "ko") for page in help_pages(data, language, 60, 10)]
    reports = [report for language in ("is", "tr", "ko") for report in news(data, language, 50, seed)[40:]]
    return [
        Fold("yearbook", "yearbook", [[plain]]),
        Fold("yearbook", "pieces", [[piece] for piece in pieces(plain)]),
        Fold("translated", "light", [[yearbook(data, "europarllight")]]),
        Fold("translated", "full", [[yearbook(data, "europarlfull")]]),
        Fold("translated", "Google", [[yearbook(data, "google")]]),
        Fold("translated", "all three", [[yearbook(data, "europarllight", "europarlfull", "google")]]),
        Fold("magazine", "magazine", [[articles]]),
        Fold("magazine", "pieces", [[piece] for piece in pieces(articles)]),
        Fold("help", "help cs", [help_pages(data, "cs", 0, 30)]),
        Fold("help", "help de", [help_pages(data, "de", 0, 30)]),
        Fold("help", "alone", [[page] for page in pages]),
        Fold("news", "news tr", [news(data, "tr", 25, seed)]),
        Fold("news", "alone", [[report] for report in reports]),
        Fold("bible", "bible", [[verses]]),
        Fold("bible", "pieces", [[piece] for piece in pieces(verses)]),
    ]


CANDIDATES: dict[str, tuple[float, ...]] = {
    "decay": (0.1, 1.0),
    "table_beads": (10.0, 300.0),
    "max_ratio": (1.0, 1000.0),
    "gap_extension": (0.04, 0.2),
    "break_weight": (0.0, 2.0, 4.0),
    "wordless_cost": (0.0, 1.5, 6.0),
    "embedding_weight": (0.0, 0.25, 1.0),
    "length_contrast": (0.0, 0.25, 1.0),
    "background_tokens": (0.0, 100.0, 1000.0),
    "piece_cost": (0.0, 1.0, 3.0, 4.0, 1000.0),
}
"""Other values than the default that are tried, one at a time.  With an encoder `background_tokens` has no effect."""


def changed(config: AlignerConfig, name: str, value: float) -> AlignerConfig:
    """The settings with one constant changed, of the aligner or of its priors."""
    if name in {field.name for field in fields(config.priors)}:
        return replace(config, priors=replace(config.priors, **{name: value}))
    return replace(config, **{name: value})


def default_of(config: AlignerConfig, name: str) -> float:
    """The default of a constant."""
    value: float = getattr(config if hasattr(config, name) else config.priors, name)
    return value


def by_kind(folds: Sequence[Fold], figures: Sequence[float]) -> dict[str, float]:
    """Mean figure of each kind of text."""
    return {
        kind: mean(figure for fold, figure in zip(folds, figures, strict=True) if fold.kind == kind)
        for kind in dict.fromkeys(fold.kind for fold in folds)
    }


def print_choices(name: str, results: Mapping[float, Mapping[str, float]], default: float) -> None:
    """For each kind, the value that is best on all other kinds, and what it costs on this one."""
    kinds = list(results[default])
    chosen = {}
    for held_out in kinds:
        others = [kind for kind in kinds if kind != held_out]
        chosen[held_out] = max(results, key=lambda value: mean(results[value][kind] for kind in others))
    differences = [results[chosen[kind]][kind] - results[default][kind] for kind in kinds]
    print(
        f"{name}: default {default:g}; chosen without "
        + ", ".join(f"{kind} {value:g}" for kind, value in chosen.items())
        + f"; held out {100 * mean(differences):+.2f} beside the default",
        flush=True,
    )


def main() -> None:
    """Print strict F1 of each fold with each value, then what cross-validation would choose."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--constants", nargs="*", choices=list(CANDIDATES), default=list(CANDIDATES))
    parser.add_argument("--max-bead-size", type=int, default=MAX_BEAD_SIZE)
    parser.add_argument("--seed", type=int, default=1, help="of the joined and dropped lines")
    parser.add_argument("--encoder", default=ALIGNMENT_ENCODER, help="a bundled name or a folder; none: no encoder")
    arguments = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", ""))
    if not (data / "align").is_dir():
        sys.exit(f"{data / 'align'} not found: set PARALOOM_DATA to the folder of real corpora")
    folds = all_folds(data, arguments.seed)
    config = AlignerConfig(max_bead_size=arguments.max_bead_size)
    encoder = None if arguments.encoder == "none" else Encoder.load(arguments.encoder)
    print(" " * 24 + "".join(f"{fold.kind[:9]:>10}" for fold in folds))
    print(" " * 24 + "".join(f"{fold.name:>10}" for fold in folds) + "      mean")

    def scored(label: str, settings: AlignerConfig) -> dict[str, float]:
        figures = [fold.score(settings, encoder).strict.f1 for fold in folds]
        kinds = by_kind(folds, figures)
        print(
            f"{label:24}" + "".join(f"{figure:10.3f}" for figure in figures) + f"{mean(kinds.values()):10.4f}",
            flush=True,
        )
        return kinds

    base = scored("default", config)
    choices = {}
    for name in arguments.constants:
        default = default_of(config, name)
        choices[name] = {default: base}
        for value in CANDIDATES[name]:
            choices[name][value] = scored(f"{name} {value:g}", changed(config, name, value))
    for name, results in choices.items():
        print_choices(name, results, default_of(config, name))


if __name__ == "__main__":
    main()
