"""Judging pairs by hand: one sheet and its key, a copy of the sheet per rater, and how far the raters agree.

The files are those of `paraloom research judge`: `judge table` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from paraloom.core.errors import ConfigError, DataError, RunError
from paraloom.core.stats import cohen_kappa
from paraloom.io.atomic import try_lock, unwritable_as_error
from paraloom.io.sheets import key_path, read_sheet, write_sheet
from paraloom.pairs.annotation import LABELS, SHEET_COLUMNS
from paraloom.pairs.filtering import judgments

MEANINGS: dict[str, dict[int, str]] = {
    judgments.RIGHT: {1: "right", 0: "wrong: another meaning, something missing or added, or faulty language"},
    "strength": {
        3: "same meaning",
        2: "roughly the same: something important is missing or different",
        1: "not the same",
    },
    "fluency": {3: "no grammatical errors", 2: "one or two errors", 1: "more errors, or not a sentence"},
}
"""Meaning of each label of a kind, for raters."""

_NAME = re.compile(r"[\w-]{1,40}")
_PATIENCE = 10.0  # Seconds until a sheet that another process holds is reported


@dataclass(frozen=True)
class Agreement:
    """Agreement of two raters on one kind of label."""

    kind: str
    raters: tuple[str, str]
    pairs: int
    same: int
    kappa: float | None


def kinds_of(columns: Sequence[str]) -> tuple[str, ...]:
    return (judgments.RIGHT,) if judgments.RIGHT in columns else tuple(LABELS)


class RaterSheet:
    """A rater's copy of a sheet, which processes may share; each label is on disk before the next pair is shown."""

    def __init__(self, path: Path, sheet: Path) -> None:
        self.path = path
        self._sheet = sheet
        self._columns, self.rows = self._read()

    @property
    def kinds(self) -> tuple[str, ...]:
        return kinds_of(self._columns)

    def _read(self) -> tuple[list[str], list[dict[str, str]]]:
        columns, rows = _read(self._sheet)
        if self.path.exists():
            present, copied = _read(self.path)
            shown = [name for name in columns if name not in kinds_of(columns)]
            is_copy = present == columns and [[r[n] for n in shown] for r in copied] == [
                [r[n] for n in shown] for r in rows
            ]
            if not is_copy:
                raise DataError(
                    f"not a copy of {self._sheet.name}",
                    file=self.path,
                    remedy="Give another name, or move the file away.",
                )
            rows = copied
        for line, row in enumerate(rows, start=2):
            for kind in kinds_of(columns):
                if row[kind] and row[kind] not in map(str, MEANINGS[kind]):
                    raise DataError(
                        f"line {line}: {kind} is '{row[kind]}'", file=self.path, remedy="Correct the label."
                    )
        return columns, rows

    @property
    def labeled(self) -> int:
        return sum(all(row[kind] for kind in self.kinds) for row in self.rows)

    def next_index(self, after: int = -1) -> int | None:
        """The first pair after an index, or else from the start, that lacks a label; None if none does."""
        indices = [*range(after + 1, len(self.rows)), *range(min(after + 1, len(self.rows)))]
        return next((i for i in indices if not all(self.rows[i][kind] for kind in self.kinds)), None)

    def missing(self, index: int) -> str | None:
        """The first kind of label that a pair lacks."""
        return next((kind for kind in self.kinds if not self.rows[index][kind]), None)

    def set(self, index: int, kind: str, value: int | None) -> None:
        """Give a label to a pair, or take it away; it is on the disk afterwards, with those of other processes."""
        with locked(self._sheet):
            self._columns, self.rows = self._read()
            known = 0 <= index < len(self.rows) and kind in self.kinds
            if not known or not (value is None or value in MEANINGS[kind]):
                raise ConfigError(f"unknown label '{value}' of '{kind[:20]}' for pair {index + 1}")
            self.rows[index][kind] = "" if value is None else str(value)
            write_sheet(self.path, self._columns, [[row[name] for name in self._columns] for row in self.rows])


class Judging:
    """One sheet and the copies of its raters, which are beside it: `sheet.tsv`, `sheet.ada.tsv` …"""

    def __init__(self, sheet: Path) -> None:
        self.sheet = sheet
        self.key = key_path(sheet)

    @property
    def exists(self) -> bool:
        return self.sheet.is_file()

    def path_of(self, rater: str) -> Path:
        """The file of a rater; raises ConfigError if the name cannot be part of a file name."""
        if not _NAME.fullmatch(rater) or rater == "key":
            raise ConfigError(
                f"invalid name '{rater[:50]}'", remedy="Use up to 40 letters, digits, hyphens and underscores."
            )
        return self.sheet.with_name(f"{self.sheet.stem}.{rater}{self.sheet.suffix}")

    def open(self, rater: str) -> RaterSheet:
        """The sheet of a rater, a new one for a new name; raises ConfigError if the sheet has not been drawn."""
        if not self.exists:
            raise ConfigError("the sheet has not been drawn yet", remedy="Draw it on the page Judge.")
        return RaterSheet(self.path_of(rater), self.sheet)

    def raters(self) -> list[str]:
        pattern = re.compile(rf"{re.escape(self.sheet.stem)}\.({_NAME.pattern}){re.escape(self.sheet.suffix)}")
        names = [pattern.fullmatch(path.name) for path in sorted(self.sheet.parent.iterdir()) if path.is_file()]
        return [match[1] for match in names if match and match[1] != "key"]

    def agreement(self) -> list[Agreement]:
        """The agreement of every two raters, on the pairs that both have labeled so far."""
        sheets = {rater: self.open(rater) for rater in self.raters()}
        return [
            _compare(kind, (first, second), sheets[first].rows, sheets[second].rows)
            for first, second in combinations(sheets, 2)
            for kind in sheets[first].kinds
        ]


def _compare(
    kind: str, raters: tuple[str, str], first: Sequence[dict[str, str]], second: Sequence[dict[str, str]]
) -> Agreement:
    labels = [(a[kind], b[kind]) for a, b in zip(first, second, strict=True) if a[kind] and b[kind]]
    same = sum(a == b for a, b in labels)
    kappa = cohen_kappa([a for a, _ in labels], [b for _, b in labels])
    return Agreement(kind, raters, len(labels), same, kappa)


@contextmanager
def locked(sheet: Path) -> Iterator[None]:
    """Lock a sheet and all copies of it for one process, and one thread of it; a process that ends releases it."""
    with unwritable_as_error(sheet):
        sheet.parent.mkdir(parents=True, exist_ok=True)
        with sheet.with_name(f".{sheet.name}.lock").open("a", encoding="utf-8") as stream:
            if not try_lock(stream, _PATIENCE):
                raise RunError(
                    "another process holds the sheet", file=sheet, remedy="End it if it hangs, and try again."
                )
            yield


def _read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    rows = read_pairs_to_label(path)
    if not rows:
        raise DataError("the sheet has no pairs", file=path, remedy="Draw another one: paraloom research judge sample.")
    return list(rows[0]), [{name: cell.strip() for name, cell in row.items()} for row in rows]


def read_pairs_to_label(path: Path) -> list[dict[str, str]]:
    """Rows of a sheet of pairs, which asks whether they are right, or for their strength and fluency."""
    remedy = "Name a sheet that `paraloom filter --draw` or `paraloom research judge sample` wrote."
    texts = [name for name in SHEET_COLUMNS if name not in LABELS]
    rows = read_sheet(path, texts, kind="sheet of pairs", remedy=remedy)
    missing = [name for name in kinds_of(list(rows[0])) if name not in rows[0]] if rows else []
    if missing:
        raise DataError(f"not a sheet of pairs: column '{missing[0]}' not found", file=path, remedy=remedy)
    return rows
