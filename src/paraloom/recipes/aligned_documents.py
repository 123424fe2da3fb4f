"""An aligner tried on documents whose true beads are known: PARK17's Tables 4 and 5 on one's own data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraloom.align.sentences import AlignerConfig, TextPair, beads_of, learn
from paraloom.core.beads import Bead, check_beads
from paraloom.core.errors import DataError
from paraloom.core.io import read_lines
from paraloom.core.progress import progress
from paraloom.core.protocols import Translator
from paraloom.evaluate.alignment import AlignmentScore
from paraloom.recipes.align import translated


@dataclass(frozen=True)
class GoldDocument:
    """A pair of texts and its true beads."""

    source: Sequence[str]
    target: Sequence[str]
    gold: Sequence[Bead]


def read_gold_documents(path: str | Path) -> list[GoldDocument]:
    """JSON lines of `source` and `target` (lists of sentences) and `gold` (pairs of lists of places from 0).

    Raises DataError that names file and row for a line without them, and for beads that name a sentence twice or one
    that is not there.
    """
    documents = []
    for row, line in enumerate(read_lines(path), 1):
        try:
            found = json.loads(line)
            source, target = (list(map(str, found[side])) for side in ("source", "target"))
            gold = [Bead(tuple(map(int, a)), tuple(map(int, b))) for a, b in found["gold"]]
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"the line is no document with its beads ({type(error).__name__}: {error})",
                file=str(path),
                row=row,
                remedy='A line is {"source": [...], "target": [...], "gold": [[[0], [0, 1]], ...]}.',
            ) from None
        try:
            check_beads(gold, len(source), len(target))
        except DataError as error:
            raise error.at(file=str(path), row=row) from None
        documents.append(GoldDocument(source, target, gold))
    if not documents:
        raise DataError("there is no document in it", file=str(path))
    return documents


def score_aligner(
    documents: Sequence[GoldDocument], config: AlignerConfig, translator: Translator | None = None
) -> AlignmentScore:
    """Align the documents, with what is learned from all of them together, and count; the gold is not looked at before.

    translator: puts the source sentences into the target's language.
    """
    translations = _translated(documents, translator) if translator else [()] * len(documents)
    pairs = [TextPair(each.source, each.target, made) for each, made in zip(documents, translations, strict=True)]
    knowledge = learn(pairs, config)
    score = AlignmentScore()
    with progress("aligning", len(pairs), unit="documents") as advance:
        for document, pair in zip(documents, pairs, strict=True):
            score.add(document.gold, beads_of(pair, knowledge, config))
            advance(1)
    return score


def _translated(documents: Sequence[GoldDocument], translator: Translator) -> list[tuple[list[str]]]:
    made = translated([text for document in documents for text in document.source], translator)
    found = []
    at = 0
    for document in documents:
        found.append((made[at : at + len(document.source)],))
        at += len(document.source)
    return found
