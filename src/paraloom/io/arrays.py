"""Arrays of .npy files, mapped into memory."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import DataError


def map_array(path: str | Path) -> npt.NDArray[Any]:
    """Map an array, without the other formats that `np.load` takes: archives and pickles."""
    try:
        return np.lib.format.open_memmap(path, mode="r")
    # numpy evaluates the header as a Python literal, and passes on what the parser raises.
    except (ValueError, EOFError, OSError, TypeError, TokenError, SyntaxError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).rstrip(".")
        raise DataError(f"not an array of numbers: {reason}", file=path) from None
