"""Groups of the rows of a test corpus, such as the WMT test sets that a file joins, and figures by group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraloom.core.errors import DataError
from paraloom.io import read_lines

COLUMNS = ("set", "first_row", "last_row")  # The columns of a table of ranges


@dataclass(frozen=True)
class RowRange:
    name: str
    first: int
    last: int


def read_row_ranges(path: str | Path) -> list[RowRange]:
    """Read a TSV table of test sets with the columns `set`, `first_row` and `last_row`."""
    lines = list(read_lines(path))
    header = lines[0].split("\t") if lines else []
    if missing := [name for name in COLUMNS if name not in header]:
        raise DataError(
            f"columns {', '.join(missing)} are missing from the header",
            file=path,
            remedy=f"The table needs the columns {', '.join(COLUMNS)}.",
        )
    ranges: list[RowRange] = []
    for row, line in enumerate(lines[1:], 1):
        fields = dict(zip(header, line.split("\t"), strict=False))
        try:
            current = RowRange(fields["set"], int(fields["first_row"]), int(fields["last_row"]))
        except (KeyError, ValueError):
            raise DataError("expected a name and two numbers", file=path, row=row) from None
        if not current.name or not 1 <= current.first <= current.last:
            raise DataError(
                f"invalid rows {current.first} to {current.last} of the set '{current.name}'", file=path, row=row
            )
        overlapping = [other for other in ranges if other.first <= current.last and current.first <= other.last]
        if overlapping:
            raise DataError(f"'{current.name}' shares rows with '{overlapping[0].name}'", file=path, row=row)
        ranges.append(current)
    return ranges


def row_groups(ranges: Sequence[RowRange], rows: Sequence[int]) -> list[tuple[str, ...]]:
    """The groups of each row: its test set and each folder of the set's name, as of `eng-tur/newstest2018`."""
    return [next((_folders(one.name) for one in ranges if one.first <= row <= one.last), ()) for row in rows]


def row_number(pair_id: str) -> int | None:
    """The row of the file that a pair was read from; None where its id does not end with one."""
    number = pair_id.rpartition(":")[2]
    return int(number) if number.isascii() and number.isdecimal() else None


def evaluate_groups(
    groups: Sequence[Sequence[str]], evaluate: Callable[[Sequence[int]], dict[str, Any]]
) -> list[dict[str, Any]]:
    rows: dict[str, list[int]] = {}
    for row, names in enumerate(groups):
        for name in names:
            rows.setdefault(name, []).append(row)
    return [{"group": name, **evaluate(rows[name])} for name in sorted(rows)]


def _folders(name: str) -> tuple[str, ...]:
    parts = name.split("/")
    return tuple("/".join(parts[: end + 1]) for end in range(len(parts)))
