"""Word vectors of others to start from: text files of word2vec, GloVe, fastText and paragram, plain or compressed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import DataError
from paraloom.embed.vocabulary import Vocabulary
from paraloom.io import read_lines

FILE = "vectors.txt.gz"
"""The file in a folder of vectors, as the stage `distil-words` makes it."""


class Given(NamedTuple):
    """Vectors found for a vocabulary.  rows: int64 (k,), entries that have one.  vectors: float32 (k, d).

    lines: of the file.
    """

    rows: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]
    lines: int


def read_vectors(path: str | Path, vocabulary: Vocabulary, dimension: int | None = None) -> Given:
    """The vectors of the words of a vocabulary, from a file of `word number number …` lines, or a folder with FILE.

    A first line of two whole numbers (word2vec, fastText) is a head.  A word that is not there as it is spelled may be
    there with capitals: `Paris` serves `paris`, the first of several.  Lines of other words are only counted.
    Raises DataError with the row for a line of another width, or a number that is none or not finite, and where no
    word of the vocabulary is in the file, or `dimension` is not its own.

    >>> read_vectors("glove.6B.300d.txt.gz", vocabulary, 300).vectors.shape                # doctest: +SKIP
    (41213, 300)
    """
    path = file_of(path)
    places = {entry: row for row, entry in enumerate(vocabulary.entries)}
    exact: dict[int, npt.NDArray[np.float32]] = {}
    lowered: dict[int, npt.NDArray[np.float32]] = {}
    width = 0
    lines = 0
    for number, line in enumerate(read_lines(path), 1):
        if number == 1 and _is_head(line):
            continue
        lines += 1
        # From the right: some released files have words with blanks in them.
        word, _, rest = line.rstrip().partition(" ")
        if not width:
            width = len(rest.split(" "))
            _check_width(width, dimension, path, number)
        found = rest.count(" ") + 1
        if found > width:
            pieces = line.rstrip().rsplit(" ", width)
            word, rest, found = pieces[0], " ".join(pieces[1:]), width
        if found < width:
            raise DataError(f"{found} numbers, where the first line has {width}", file=path, row=number)
        row = places.get(word)
        if row is not None and row not in exact:
            exact[row] = _numbers(rest, path, number)
        elif row is None and (row := places.get(word.lower())) is not None and row not in lowered:
            lowered[row] = _numbers(rest, path, number)
    both = lowered | exact
    if not both:
        raise DataError(
            f"none of its {lines:,} words is in the vocabulary of {len(vocabulary):,}",
            file=path,
            remedy="A line is a word and its numbers, blanks between.",
        )
    rows = np.array(sorted(both), np.int64)
    return Given(rows, np.stack([both[row] for row in rows.tolist()]), lines)


def _is_head(line: str) -> bool:
    pieces = line.split()
    return len(pieces) == 2 and all(piece.isdigit() for piece in pieces)


def _check_width(width: int, dimension: int | None, path: str | Path, row: int) -> None:
    if dimension is not None and width != dimension:
        raise DataError(
            f"its vectors have {width} numbers, and {dimension} are wanted",
            file=path,
            row=row,
            remedy=f"Set dimension = {width}.",
        )


def _numbers(text: str, path: str | Path, row: int) -> npt.NDArray[np.float32]:
    try:
        numbers = np.array(text.split(" "), np.float32)
    except ValueError as error:
        raise DataError(f"not a number: {error}", file=path, row=row) from None
    if not np.isfinite(numbers).all():
        raise DataError("a number is not finite", file=path, row=row)
    return numbers


def file_of(path: str | Path) -> Path:
    """The file of vectors that a path stands for: itself, or FILE in a folder."""
    return Path(path) / FILE if Path(path).is_dir() else Path(path)


def read_words_of(path: str | Path) -> list[str]:
    """The words of a file of vectors, lower-cased, each once, in their order."""
    path = file_of(path)
    found: dict[str, None] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not (number == 1 and _is_head(line)):
            found[line.partition(" ")[0].lower()] = None
    return list(found)
