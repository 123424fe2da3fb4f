"""Sheets in which raters say which pairs are right: written to fill in, and read, from one rater or several."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from paraloom.core.array_types import Ids
from paraloom.core.errors import DataError
from paraloom.io.sheets import read_sheet, write_sheet
from paraloom.text.normalize import collapse_spaces

RIGHT = "right"
"""The column of a rater: 1 or y for a right pair, 0 or n for a wrong one."""

SHEET_COLUMNS = ("number", "reference", "translation", RIGHT)
"""Columns of a sheet to fill in."""

_RATER = re.compile(r"(right|label)([_ .-].*)?|strength")
_ANSWERS = {"1": 1, "y": 1, "yes": 1, "true": 1, "0": 0, "n": 0, "no": 0, "false": 0}
_SIDES = (("reference", "translation"), ("src", "tgt"))
_REMEDY = "Give sheets that `paraloom filter --draw` wrote, filled in."


@dataclass(frozen=True)
class Judgments:
    labels: dict[int, int]
    places: dict[int, tuple[Path, int]]
    compared: int
    agreed: int
    ties: int

    def format(self) -> str:
        """How far raters agree; '' for one rater."""
        if not self.compared:
            return ""
        return f"raters agree on {self.agreed:,} of {self.compared:,} pairs; {self.ties:,} ties count as wrong"


def pair_keys(references: Iterable[str | None], translations: Iterable[str | None]) -> Ids:
    """A number for each pair, which follows from both texts alone, whatever the spaces: its place in a random order."""
    digests = (
        blake2b(f"{collapse_spaces(a)}\t{collapse_spaces(b)}".encode(errors="surrogatepass"), digest_size=8).digest()
        for a, b in zip(references, translations, strict=True)
    )
    return np.frombuffer(b"".join(digests), "<u8")


def read_judgments(paths: Sequence[Path]) -> Judgments:
    """Read the labels of one or more raters, each in a file or column of their own, or different rows in each."""
    votes: dict[int, list[int]] = defaultdict(list)
    places: dict[int, tuple[Path, int]] = {}
    for path in paths:
        rows, sides, raters = _read_ratings(path)
        keys = pair_keys(*([row[side] for row in rows] for side in sides)).tolist()
        for number, key in enumerate(keys, start=2):
            places.setdefault(key, (path, number))
        for rater in raters:
            for key, label in _labels_of(rater, keys, rows, path).items():
                votes[key].append(label)
    if not votes:
        raise DataError(
            "no pair has a label",
            file=paths[0] if paths else None,
            remedy=f"Write 1 (right) or 0 (wrong) into the column '{RIGHT}'.",
        )
    several = [labels for labels in votes.values() if len(labels) > 1]
    return Judgments(
        {key: int(2 * sum(labels) > len(labels)) for key, labels in votes.items()},
        places,
        len(several),
        sum(len(set(labels)) == 1 for labels in several),
        sum(2 * sum(labels) == len(labels) for labels in several),
    )


def _read_ratings(path: Path) -> tuple[list[dict[str, str]], tuple[str, str], list[str]]:
    """The rows of a sheet, the columns of its two texts, and those of its raters."""
    rows = read_sheet(path, (), kind="sheet of labels", remedy=_REMEDY)
    names = list(rows[0]) if rows else []
    sides = next((pair for pair in _SIDES if set(pair) <= set(names)), None)
    raters = [name for name in names if _RATER.fullmatch(name)]
    if sides is None or not raters:
        missing = "'reference' and 'translation'" if sides is None else f"'{RIGHT}'"
        raise DataError(f"not a sheet of labels: column {missing} not found", file=path, remedy=_REMEDY)
    return rows, sides, raters


def _labels_of(rater: str, keys: Sequence[int], rows: Sequence[Mapping[str, str]], path: Path) -> dict[int, int]:
    """The labels that a rater gave, by the key of the pair."""
    given: dict[int, tuple[int, int]] = {}
    for number, (key, row) in enumerate(zip(keys, rows, strict=True), start=2):
        label = _label(row[rater], rater, path, number)
        if label is not None and given.setdefault(key, (label, number))[0] != label:
            raise DataError(
                f"the pair of row {given[key][1]} again, with another label in column '{rater}'",
                file=path,
                row=number,
                remedy="Keep one of both rows, or put the labels of another rater into another column.",
            )
    return {key: label for key, (label, _) in given.items()}


def write_judgment_sheet(path: Path, pairs: Iterable[tuple[str, str]]) -> None:
    """Write a sheet of pairs to label, without their scores."""
    rows = ((number, collapse_spaces(a), collapse_spaces(b), "") for number, (a, b) in enumerate(pairs, start=1))
    write_sheet(path, SHEET_COLUMNS, rows)


def _label(cell: str, column: str, path: Path, row: int) -> int | None:
    text = cell.strip().lower()
    if not text:
        return None
    if column == "strength" and text in ("1", "2", "3"):  # Of `research judge`: 3 is the same meaning.
        return int(text == "3")
    if text not in _ANSWERS:
        raise DataError(
            f"unknown label '{cell.strip()[:50]}' in column '{column}'",
            file=path,
            row=row,
            remedy="Write 1 or y for a right pair, 0 or n for a wrong one, nothing for one that is not labeled.",
        )
    return _ANSWERS[text]
