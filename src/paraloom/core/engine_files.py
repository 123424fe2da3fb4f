"""The variables in a model.bin of CTranslate2, for what is to be trained or exported again."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ModelError

_DTYPES = (np.float32, np.int8, np.int16, np.int32, np.float16)


def read_variables(path: Path, version: int | None = None) -> dict[str, npt.NDArray[Any]]:
    """Variables and aliases by name; struct.error, IndexError or ValueError where the file is damaged."""
    data, at = path.read_bytes(), 0

    def number(form: str) -> int:
        nonlocal at
        (value,) = struct.unpack_from(f"<{form}", data, at)
        at += struct.calcsize(form)
        return int(value)

    def text() -> str:
        nonlocal at
        size = number("H")
        at += size
        return data[at - size : at].rstrip(b"\0").decode()

    if version not in (None, written := number("I")):
        raise ModelError(f"expected version {version} of CTranslate2's format, got {written}", file=path)
    text(), number("I")  # the architecture and its version
    variables = {}
    for _ in range(number("I")):
        name = text()
        shape = [number("I") for _ in range(number("B"))]
        dtype, size = np.dtype(_DTYPES[number("B")]), number("I")
        variables[name] = np.frombuffer(data, dtype, size // dtype.itemsize, at).reshape(shape).copy()
        at += size
    for _ in range(number("I")):
        alias = text()
        variables[alias] = variables[text()]
    return variables
