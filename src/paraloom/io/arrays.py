"""Arrays of .npy files, mapped into memory, and vectors in a temporary file."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s
from paraloom.core.errors import DataError


def map_array(path: str | Path) -> npt.NDArray[Any]:
    """Map an array, without the other formats that `np.load` takes: archives and pickles."""
    try:
        return np.lib.format.open_memmap(path, mode="r")
    # numpy evaluates the header as a Python literal, and passes on what the parser raises.
    except (ValueError, EOFError, OSError, TypeError, TokenError, SyntaxError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).rstrip(".")
        raise DataError(f"not an array of numbers: {reason}", file=path) from None


class StoredVectors:
    """Vectors of many sentences, of blocks float32 (k, d), in a file deleted with them; a slice is in memory."""

    def __init__(self, blocks: Iterable[Float32s]) -> None:
        self._file = TemporaryFile(prefix="paraloom-vectors-")  # noqa: SIM115 - open as long as the vectors are used
        weakref.finalize(self, self._file.close)
        rows = dimension = 0
        for block in blocks:
            self._file.write(np.ascontiguousarray(block, np.float32).data)
            rows, dimension = rows + len(block), block.shape[1]
        self._file.flush()
        self.shape = rows, dimension

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Float32s:
        start, stop, _ = rows.indices(len(self))
        size = 4 * self.shape[1]
        data = os.pread(self._file.fileno(), max(0, stop - start) * size, start * size)
        return np.frombuffer(data, np.float32).reshape(-1, self.shape[1])
