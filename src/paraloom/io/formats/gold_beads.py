"""Pairs of documents whose true beads are known, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraloom.core.beads import Bead, check_beads
from paraloom.core.errors import DataError
from paraloom.io.compression import read_lines


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
