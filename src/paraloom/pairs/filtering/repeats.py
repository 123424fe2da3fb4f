"""Pairs that a corpus has more than once, in either order: which of them a filter keeps."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.io.database import sql
from paraloom.pairs.filtering.cuts import ROW_ID_COLUMNS, row_hashes
from paraloom.pairs.filtering.expressions import evaluate_sql

Hashes = npt.NDArray[np.uint64]


def find_repeats(batches: Iterable[pa.RecordBatch], seed: int) -> dict[str, Any]:
    """For each repeated pair the row to keep, the one of the smallest hash; memory is 16 bytes a row."""
    none = np.zeros(0, np.uint64)
    hashed = [(none, none)]
    hashed += [(_pair_hashes(batch), row_hashes(batch, ROW_ID_COLUMNS, seed)) for batch in batches]
    pairs, rows = (np.concatenate(parts) for parts in zip(*hashed, strict=True))
    order = np.lexsort((rows, pairs))
    pairs, rows = pairs[order], rows[order]
    starts = np.flatnonzero(np.diff(pairs, prepend=np.uint64(0)).astype(bool) | (np.arange(len(pairs)) == 0))
    repeated = starts[np.diff(np.append(starts, len(pairs))) > 1]
    return {"seed": seed, "pairs": _packed(pairs[repeated]), "rows": _packed(rows[repeated])}


def is_repeat(batch: pa.RecordBatch, repeats: dict[str, Any]) -> npt.NDArray[np.bool_]:
    """The rows whose pair another row stands for."""
    known, kept = _unpacked(repeats["pairs"]), _unpacked(repeats["rows"])
    if not len(known):
        return np.zeros(batch.num_rows, np.bool_)
    pairs = _pair_hashes(batch)
    places = np.minimum(np.searchsorted(known, pairs), len(known) - 1)
    others = kept[places] != row_hashes(batch, ROW_ID_COLUMNS, repeats["seed"])
    repeat: npt.NDArray[np.bool_] = (known[places] == pairs) & others
    return repeat


def _pair_hashes(batch: pa.RecordBatch) -> Hashes:
    sides = [sql(r"lower(trim(regexp_replace(coalesce({}, ''), '\s+', ' ', 'g')))", name) for name in ("src", "tgt")]
    hashed = sql("md5_number_lower(concat_ws(chr(31), least({0}, {1}), greatest({0}, {1})))", *sides)
    return np.asarray(evaluate_sql(batch.select(["src", "tgt"]), hashed).column(0), np.uint64)


def _packed(hashes: Hashes) -> str:
    return b64encode(hashes.astype("<u8").tobytes()).decode()


@lru_cache(maxsize=8)
def _unpacked(text: str) -> Hashes:
    return np.frombuffer(b64decode(text), "<u8").astype(np.uint64)
