"""Texts as callers give them: lists, columns, arrays and generators; values of rows of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.array_types import Floats
from paraloom.core.errors import DataError


def list_of_strings(sentences: object) -> list[str]:
    """The strings of a list, tuple, array or column."""
    if isinstance(sentences, (pa.Array, pa.ChunkedArray)):
        sentences = sentences.to_pylist()
    if isinstance(sentences, str):
        raise TypeError(f"expected a list of sentences, got the string {sentences[:40]!r}")
    is_table = hasattr(sentences, "columns")  # iterated over, a DataFrame gives the names of its columns
    if isinstance(sentences, (bytes, Mapping, Set)) or is_table or not isinstance(sentences, Iterable):
        raise TypeError(f"expected a list of sentences, got {type(sentences).__name__}")
    strings = list(sentences)
    for position, item in enumerate(strings):
        if not isinstance(item, str):
            raise TypeError(f"expected a list of sentences, got {type(item).__name__} at position {position}")
        try:
            item.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"the sentence at position {position} is not valid Unicode: {error.reason}",
                remedy="Replace what cannot be encoded: text.encode('utf-8', 'replace').decode().",
            ) from None
    return strings


def distinct_values(
    sides: Sequence[Sequence[str]],
    compute: Callable[[list[tuple[str, ...]]], Sequence[float] | npt.NDArray[np.floating]],
) -> Floats:
    """Values of rows of texts, computed once for each distinct row; NaN for rows with an empty text."""
    rows = list(zip(*sides, strict=True))
    # Sorted, so that the values do not depend on the order of a set.
    wanted = sorted({row for row in rows if all(text.strip() for text in row)})
    known = dict(zip(wanted, compute(wanted), strict=True)) if wanted else {}
    return np.array([known.get(row, np.nan) for row in rows], np.float64)
