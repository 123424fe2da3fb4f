"""Names of the types of arrays."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Int32s: TypeAlias = npt.NDArray[np.int32]
Floats: TypeAlias = npt.NDArray[np.float64]
Float32s: TypeAlias = npt.NDArray[np.float32]
AnyFloats: TypeAlias = Floats | Float32s
Bools: TypeAlias = npt.NDArray[np.bool_]
Ids: TypeAlias = npt.NDArray[np.uint64]
"""Hashes of 64 bits, such as those of tokens and n-grams."""
