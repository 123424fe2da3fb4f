"""The errors Paraloom raises: one small tree, each saying what, where and what to do."""

from __future__ import annotations

from pathlib import Path


class ParaloomError(Exception):
    """Base of every error that is about the user's data, run or models rather than our code.

    what: one clause, no full stop.  stage, file, row: where, as far as it is known (row counts from 1).
    remedy: one sentence that says what to do.  The command line prints it and exits with status 1.

    >>> print(DataError("'src' is empty", file="a.tsv", row=3, remedy="Remove the row."))
    a.tsv, row 3: 'src' is empty.
    Remove the row.
    """

    def __init__(
        self,
        what: str,
        *,
        stage: str | None = None,
        file: str | Path | None = None,
        row: int | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.stage = stage
        self.file = str(file) if file is not None else None
        self.row = row
        self.remedy = remedy

    def at(
        self,
        *,
        stage: str | None = None,
        file: str | Path | None = None,
        row: int | None = None,
    ) -> ParaloomError:
        """Fill in the parts of the place that the raiser did not know; returns itself."""
        self.stage = self.stage or stage
        self.file = self.file or (str(file) if file is not None else None)
        self.row = self.row if self.row is not None else row
        return self

    def __str__(self) -> str:
        place = [
            f"stage {self.stage}" if self.stage else "",
            self.file or "",
            f"row {self.row}" if self.row is not None else "",
        ]
        where = ", ".join(part for part in place if part)
        end = "" if self.what.endswith("?") else "."
        sentence = f"{where}: {self.what}{end}" if where else f"{self.what}{end}"
        return f"{sentence}\n{self.remedy}" if self.remedy else sentence

    def __reduce__(self) -> tuple[object, ...]:
        # An error crosses process borders whole: pickling by args alone would lose the place.
        return _rebuild, (type(self), self.what, self.stage, self.file, self.row, self.remedy)


class DataError(ParaloomError):
    """The input is at fault: row counts, encoding, columns, a corrupt file."""


class ConfigError(ParaloomError):
    """A pipeline, an option or an expression asks for something that does not exist."""


class ModelError(ParaloomError):
    """A model folder lacks a file, holds the wrong one, or training left the finite numbers."""


class RunError(ParaloomError):
    """A run cannot go on: a full disk, a dead worker, row counts that do not add up."""


class MissingExtra(ParaloomError):  # noqa: N818
    """A verb needs packages that are not installed."""

    @classmethod
    def for_verb(cls, verb: str, extra: str) -> MissingExtra:
        """The error for `verb`, whose packages come with `pip install 'paraloom[extra]'`."""
        return cls(f"{verb} needs packages that are not installed", remedy=f"Run: pip install 'paraloom[{extra}]'")


def _rebuild(
    kind: type[ParaloomError], what: str, stage: str | None, file: str | None, row: int | None, remedy: str | None
) -> ParaloomError:
    return kind(what, stage=stage, file=file, row=row, remedy=remedy)


def nearest(name: str, known: list[str] | tuple[str, ...]) -> str:
    """`"; did you mean 'x'?"`, or the known names when none is near; for the end of a `what`.

    >>> nearest("tranlsate", ["translate", "score"])
    "; did you mean 'translate'?"
    """
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else f"; known are {', '.join(sorted(known))}"
