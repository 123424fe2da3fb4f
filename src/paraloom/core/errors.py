"""The errors that Paraloom raises: what went wrong, where, and how to fix it."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from paraloom.core.secrets import redacted

_MAX_CHARACTERS = 1000
DISK_FULL = frozenset([errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
"""Numbers of system errors of a full disk; EFBIG is a limit on file sizes, which to the user is one, too."""

# How Rust's standard library ends the message of a system error.
_OS_ERROR = re.compile(r"\(os error (\d{1,9})\)")
# Valid names that are listed; and names that are searched for a similar one, and characters of each.
_MAX_KNOWN = 50
_MAX_COMPARED = 1000


class ParaloomError(Exception):
    """Base of all errors that are caused by the user's data, configuration, models or system.

    The command line prints them and exits with status 1 (2 for a wrong command line). Messages can always be printed:
    halves of surrogate pairs, as in names of files that are not UTF-8, are escaped, and long texts are shortened.

    Args:
        what: What went wrong: one clause without a full stop.
        stage: Name of the stage where it happened.
        file: File or folder where it happened.
        row: Row of the file, from 1.
        remedy: One sentence that says how to fix it.

    Example:
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
        what = printable(what)
        super().__init__(what)
        self.what = what
        self.stage = printable(stage) if stage is not None else None
        self.file = printable(str(file)) if file is not None else None
        self.row = row
        self.remedy = printable(remedy) if remedy is not None else None

    def at(self, *, stage: str | None = None, file: str | Path | None = None, row: int | None = None) -> ParaloomError:
        """Add the location, as far as it is not known yet.

        Args:
            stage: Name of the stage.
            file: File or folder.
            row: Row of the file, from 1.

        Returns:
            The error itself, to be raised.
        """
        self.stage = self.stage or (printable(stage) if stage is not None else None)
        self.file = self.file or (printable(str(file)) if file is not None else None)
        self.row = self.row if self.row is not None else row
        return self

    def __str__(self) -> str:
        location = [
            f"stage {self.stage}" if self.stage else "",
            self.file or "",
            f"row {self.row}" if self.row is not None else "",
        ]
        where = ", ".join(part for part in location if part)
        end = "" if self.what.endswith("?") else "."
        sentence = f"{where}: {self.what}{end}" if where else f"{self.what}{end}"
        return f"{sentence}\n{self.remedy}" if self.remedy else sentence

    def __reduce__(self) -> tuple[object, ...]:
        # Pickling by `args` alone would lose the location when an error crosses a process boundary.
        return _rebuild, (type(self), self.what, self.stage, self.file, self.row, self.remedy)


class DataError(ParaloomError):
    """The input data is wrong: encoding, columns, row counts, a missing or corrupt file.

    Example:
        >>> import paraloom
        >>> try:
        ...     paraloom.as_pairs([("Guten Morgen", None)])
        ... except DataError as error:
        ...     print(error.what, error.row)
        column 'tgt' is null 1
    """


class ConfigError(ParaloomError):
    """A pipeline, an option, an argument or an expression is not valid.

    Example:
        >>> import paraloom
        >>> try:
        ...     paraloom.as_pairs([("a", "b")]).score(["overlpa"])
        ... except ConfigError as error:
        ...     print(error.what)
        unknown score 'overlpa'; did you mean 'overlap'?
    """


class ModelError(ParaloomError):
    """A model folder is incomplete or of another kind, or a training diverged.

    Example:
        >>> import paraloom, tempfile
        >>> try:
        ...     paraloom.Encoder.load(tempfile.mkdtemp())
        ... except ModelError as error:
        ...     print(error.what)
        config.json not found
    """


class RunError(ParaloomError):
    """A run cannot continue: the disk is full, a worker crashed, row counts do not add up.

    Example:
        >>> print(RunError("a worker crashed", stage="20-score", remedy="Run the same command again: it resumes."))
        stage 20-score: a worker crashed.
        Run the same command again: it resumes.
    """


class MissingExtraError(ParaloomError):
    """A command or function needs optional packages that are not installed.

    Example:
        >>> print(MissingExtraError.for_verb("train_translator", "train"))
        train_translator needs packages that are not installed.
        Run: pip install 'paraloom[train]'
    """

    @classmethod
    def for_verb(cls, verb: str, extra: str) -> MissingExtraError:
        """Create the error for a command.

        Args:
            verb: The command or function.
            extra: Its extra, as in `pip install 'paraloom[extra]'`.

        Returns:
            The error, to be raised.
        """
        return cls(f"{verb} needs packages that are not installed", remedy=f"Run: pip install 'paraloom[{extra}]'")


def _rebuild(
    kind: type[ParaloomError], what: str, stage: str | None, file: str | None, row: int | None, remedy: str | None
) -> ParaloomError:
    return kind(what, stage=stage, file=file, row=row, remedy=remedy)


def system_errno(error: BaseException) -> int | None:
    """The system's number of an error, also where a library written in Rust has it in its message only."""
    if isinstance(error, ParaloomError):
        return None
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    named = _OS_ERROR.search(str(error))
    if named is not None:
        return int(named[1])
    # DuckDB has the words only.
    return next((number for number in DISK_FULL if os.strerror(number) in str(error)), None)


def is_interruption(error: BaseException) -> bool:
    """True if an error is Ctrl-C, or what DuckDB raises in its place in the middle of a query."""
    interrupted_query = type(error) is RuntimeError and str(error) == "Query interrupted"
    return interrupted_query or isinstance(error, KeyboardInterrupt)


def printable(text: str) -> str:
    r"""Shorten a text in its middle where it has more than 1,000 characters, and escape halves of surrogate pairs."""
    text = redacted(text)
    if len(text) > _MAX_CHARACTERS:
        end = _MAX_CHARACTERS // 4
        text = f"{text[: _MAX_CHARACTERS - end - 3]} … {text[-end:]}"
    return text.encode("utf-8", "backslashreplace").decode()  # without surrogates


def nearest(name: str, known: list[str] | tuple[str, ...]) -> str:
    """Format a suggestion to append to "unknown X 'name'"."""
    shown = sorted(known[:_MAX_KNOWN])
    more = ", …" if len(known) > len(shown) else ""
    return suggestion(name, known) or (f"; known are {', '.join(shown)}{more}" if known else "")


def suggestion(name: str, known: Iterable[str]) -> str:
    """As `nearest`, but "" where no valid name is similar: for errors whose remedy lists the valid names."""
    # Names can come out of a file: a line of a million fields has as many.
    names = {one.casefold(): one for one in islice(known, _MAX_COMPARED) if len(one) <= _MAX_COMPARED}
    close = get_close_matches(name[:_MAX_COMPARED].casefold(), names, n=1, cutoff=0.6)
    return f"; did you mean '{names[close[0]]}'?" if close else ""


@contextmanager
def imports_of_extra(extra: str, purpose: str) -> Iterator[None]:
    """A block of imports; MissingExtraError, which names the extra, where one of them is not installed."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError.for_verb(purpose, extra) from error
