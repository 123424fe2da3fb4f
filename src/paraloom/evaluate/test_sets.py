"""Which test set each row of a joined file belongs to: tables of sets and row ranges, as WMT's sets are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraloom.core.errors import DataError
from paraloom.io import read_lines

COLUMNS = ("set", "first_row", "last_row")


@dataclass(frozen=True)
class Range:
    """A set and its rows, both ends included, from 1."""

    name: str
    first: int
    last: int


def read_sets(path: str | Path) -> list[Range]:
    """The ranges of a TSV table with a header that has the columns set, first_row and last_row.

    Raises DataError, with the row, for what is no such table, or where two sets share rows.
    """
    lines = list(read_lines(path))
    header = lines[0].split("\t") if lines else []
    if missing := [name for name in COLUMNS if name not in header]:
        raise DataError(f"the header has no {', '.join(missing)}", file=path, remedy=f"It has {', '.join(COLUMNS)}.")
    found: list[Range] = []
    for row, line in enumerate(lines[1:], 1):
        fields = dict(zip(header, line.split("\t"), strict=False))
        try:
            one = Range(fields["set"], int(fields["first_row"]), int(fields["last_row"]))
        except (KeyError, ValueError):
            raise DataError("the row is no name and two numbers", file=path, row=row) from None
        if not one.name or not 1 <= one.first <= one.last:
            raise DataError(f"'{one.name}' has the rows {one.first} to {one.last}", file=path, row=row)
        if other := next((each for each in found if each.first <= one.last and one.first <= each.last), None):
            raise DataError(f"'{one.name}' shares rows with '{other.name}'", file=path, row=row)
        found.append(one)
    return found


def groups_of_rows(sets: Sequence[Range], rows: Sequence[int]) -> list[tuple[str, ...]]:
    """The groups of each row, by its number from 1: its set, and each folder of the set's name; () outside all sets.

    `eng-tur/newstest2018` is a group, and so is `eng-tur`.  WMT names sets of one direction since 2019 after the
    language that was there first; older ones are half of each and named after one.

    >>> groups_of_rows([Range("eng-isl/newstest2021", 1, 2)], [1, 3])
    [('eng-isl', 'eng-isl/newstest2021'), ()]
    """
    return [next((_folders(each.name) for each in sets if each.first <= row <= each.last), ()) for row in rows]


def row_number(pair_id: str) -> int | None:
    """The row of the file that a pair was read from, None where its id does not end with one.

    >>> row_number("tr-en:17"), row_number("one")
    (17, None)
    """
    number = pair_id.rpartition(":")[2]
    return int(number) if number.isascii() and number.isdecimal() else None


def _folders(name: str) -> tuple[str, ...]:
    parts = name.split("/")
    return tuple("/".join(parts[: end + 1]) for end in range(len(parts)))
