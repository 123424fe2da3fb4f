"""The vectors of a teacher, read from a corpus."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.errors import DataError


def teacher_vectors(batch: pa.RecordBatch) -> tuple[npt.NDArray[np.float16], npt.NDArray[np.bool_]]:
    """Read the vectors that a teacher gave to n sentences."""
    column = batch.column("vector") if "vector" in batch.schema.names else None
    if column is None or not pa.types.is_fixed_size_list(column.type):
        raise DataError(
            "column 'vector' (fixed-size lists) not found", remedy="The stage `encode` adds it to a corpus."
        )
    # `flatten` leaves null lists out.
    filled = pa.array(np.zeros(column.type.list_size, np.float16)).cast(column.type.value_type)
    empty = pa.FixedSizeListArray.from_arrays(filled, column.type.list_size)[0]
    vectors = column.fill_null(empty).flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
    vectors = vectors.astype(np.float16, copy=False)
    norms = np.linalg.norm(vectors.astype(np.float32), axis=1)
    return vectors, np.isfinite(norms) & (np.abs(norms - 1) < 0.05)
