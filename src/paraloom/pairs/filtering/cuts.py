"""Cuts through a whole corpus (a top share, a tenth, a sample of exact size) that each row can then check by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.pairs.filtering.database import ask
from paraloom.pairs.filtering.selection import nth_key

Bound: TypeAlias = tuple[float, int]
Read: TypeAlias = Callable[[], Iterable[pa.RecordBatch]]

IDENTITY = ("pair_id", "rank", "src", "tgt", "doc_id", "sent_id")
"""Columns (as far as a corpus has them) that say which row is which."""


@dataclass(frozen=True)
class Cut:
    """The rows whose (value, lot) lies above `lower` and not above `upper`; None where there is no such bound.

    by: the column that values are from, '' for a sample, where the lot alone decides.  The lot is a hash of the seed
    and the row, so that it is the same in any sharding; it breaks every tie but one: equal rows stand or fall together.
    """

    by: str
    seed: int
    lower: Bound | None
    upper: Bound | None

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Cut:
        """What `to_json` gave, also after it was in a file."""
        lower, upper = ((float(b[0]), int(b[1])) if (b := values[key]) else None for key in ("lower", "upper"))
        return cls(by=values["by"], seed=values["seed"], lower=lower, upper=upper)

    def holds(self, batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        """bool (n,): which rows are inside; a row whose value is undefined is not."""
        value, lot = keys(batch, self.by, self.seed)
        inside = ~np.isnan(value)
        if self.lower is not None:
            inside &= (value > self.lower[0]) | ((value == self.lower[0]) & (lot > np.uint64(self.lower[1])))
        if self.upper is not None:
            inside &= (value < self.upper[0]) | ((value == self.upper[0]) & (lot <= np.uint64(self.upper[1])))
        return inside


def survey_cut(
    read: Read,
    *,
    by: str = "",
    seed: int = 0,
    share: float | None = None,
    size: int | None = None,
    tenth: int | None = None,
    highest: bool = False,
) -> Cut:
    """The cut that keeps a share, a number or a tenth of the rows that `read()` gives.

    read: gives all batches anew each time it is called.  by: the column to rank by, '' for a random sample.  One of
    share (0 to 1, of the rows that have a value, rounded), size (rows; all, when there are fewer) and tenth (1 the
    lowest values, 10 the highest).  highest: a share or size is taken from the upper end.  Memory does not grow with
    the corpus.
    """

    def defined() -> Iterable[tuple[npt.NDArray[np.float64], npt.NDArray[np.uint64]]]:
        for batch in read():
            value, lot = keys(batch, by, seed)
            is_defined = ~np.isnan(value)
            yield value[is_defined], lot[is_defined]

    total = sum(len(lot) for _, lot in defined())
    if tenth is not None:
        above, upto = (tenth - 1) * total // 10, tenth * total // 10
    else:
        wanted = min(total, int(np.floor((share or 0) * total + 0.5)) if size is None else size)
        above, upto = (total - wanted, total) if highest else (0, wanted)
    if upto == 0:
        # Nothing is wanted: no row lies below the smallest value there is.
        return Cut(by, seed, None, (-np.finfo(np.float64).max, 0))
    lower = nth_key(defined, above) if above else None
    return Cut(by, seed, lower, nth_key(defined, upto) if upto < total else None)


def keys(batch: pa.RecordBatch, by: str, seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint64]]:
    """What rows are ordered by: value float64 (n,), NaN where undefined or infinite, and lot uint64 (n,)."""
    if by:
        value = pc.cast(batch.column(by), pa.float64()).to_numpy(zero_copy_only=False)
        value = np.where(np.isfinite(value), value, np.nan)
    else:
        value = np.zeros(batch.num_rows)
    return value, _lots(batch.select([name for name in IDENTITY if name in batch.schema.names]), seed)


def _lots(rows: pa.RecordBatch, seed: int) -> npt.NDArray[np.uint64]:
    parts = "".join(f", coalesce(\"{name}\"::VARCHAR, '')" for name in rows.schema.names)
    # MD5 is the same in every version and on every machine; DuckDB does not promise that of its own hash.
    lots = ask(rows, f"md5_number_lower(concat_ws(chr(31), '{int(seed)}'{parts}))").column(0)
    return np.asarray(lots, np.uint64)
