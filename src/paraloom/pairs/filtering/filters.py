"""Which pairs to keep: a condition over columns, a top share or a tenth, a random sample, in that order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, nearest
from paraloom.pairs.filtering.cuts import IDENTITY, Cut, survey_cut
from paraloom.pairs.filtering.expressions import check_columns, condition, evaluate
from paraloom.pairs.scoring.table import COLUMNS

ReadColumns: TypeAlias = Callable[[Sequence[str]], Iterable[pa.RecordBatch]]


@dataclass(frozen=True)
class Criteria:
    """What a filter keeps.  Each part is optional; all that are given must hold.

    where: an SQL expression over the columns of a row, true for rows to keep; where it is undefined (null or NaN
    compared) the row goes.  top: a share, above 0 to 1, of the rows that `where` left, from the better end of `by`.
    tenth: 1 (the lowest values of `by`) to 10 (the highest), as PNMT Table 5 cuts; not together with top.
    sample: of the rows that the others left, that many (int) or that share (float, above 0 to 1), at random.
    best: which end of `by` is the better one; left out, the scorer's own direction.

    Raises ConfigError when the parts do not fit together.
    """

    where: str = ""
    top: float | None = None
    tenth: int | None = None
    by: str = ""
    best: Literal["", "lowest", "highest"] = ""
    sample: int | float | None = None

    def __post_init__(self) -> None:
        if self.top is not None and self.tenth is not None:
            raise ConfigError("'top' and 'tenth' both choose by rank", remedy="Give one of them.")
        if (self.top is not None or self.tenth is not None) != bool(self.by):
            raise ConfigError("'by' names the column that 'top' or 'tenth' ranks by: give both or neither")
        if self.top is not None and not 0 < self.top <= 1:
            raise ConfigError(f"'top' is a share above 0 to 1, not {self.top}")
        if self.tenth is not None and self.tenth not in range(1, 11):
            raise ConfigError(f"'tenth' is 1 (lowest) to 10 (highest), not {self.tenth}")
        if self.sample is not None and (self.sample <= 0 or (isinstance(self.sample, float) and self.sample > 1)):
            raise ConfigError(f"'sample' is a number of rows or a share above 0 to 1, not {self.sample}")
        if self.best not in ("", "lowest", "highest"):
            raise ConfigError(f"'best' is lowest or highest, not '{self.best}'")
        if self.where:
            condition(self.where)
        if self.top is not None:
            self.from_highest()

    def from_highest(self) -> bool:
        """Whether a top share is taken from the upper end of `by`; ConfigError when nothing says so."""
        better = COLUMNS[self.by].better if self.by in COLUMNS else "none"
        if not self.best and better == "none":
            raise ConfigError(
                f"nothing says which end of '{self.by}' is the better one",
                remedy="Give best = 'lowest' or best = 'highest'.",
            )
        return (self.best or {"higher": "highest", "lower": "lowest"}[better]) == "highest"


def survey(criteria: Criteria, schema: pa.Schema, read: ReadColumns, seed: int = 0) -> dict[str, Any]:
    """What `select` must know of the whole corpus: the cuts, as JSON values.  One or a few passes, memory bounded.

    schema: of the corpus.  read: gives its batches with those columns, anew each time (Corpus.batches does).
    Raises ConfigError when a column that the criteria name is not there, or cannot be ranked by.
    """
    check(criteria, schema)
    columns = needed(criteria, schema)
    cuts: dict[str, Any] = {}

    def survivors() -> Iterable[pa.RecordBatch]:
        for batch in read(columns):
            yield batch.filter(select(criteria, batch, cuts).column("keep"))

    if criteria.by:
        cuts["rank"] = survey_cut(
            survivors,
            by=criteria.by,
            seed=seed,
            share=criteria.top,
            tenth=criteria.tenth,
            highest=criteria.top is not None and criteria.from_highest(),
        ).to_json()
    if criteria.sample is not None:
        wanted = {"share" if isinstance(criteria.sample, float) else "size": criteria.sample}
        cuts["sample"] = survey_cut(survivors, seed=seed, **wanted).to_json()  # type: ignore[arg-type]
    return cuts


def needed(criteria: Criteria, schema: pa.Schema) -> list[str]:
    """The columns that `select` looks at, each once."""
    columns = [name for name in IDENTITY if name in schema.names]
    if criteria.by:
        columns.append(criteria.by)
    if criteria.where:
        named = {name.lower() for name in condition(criteria.where).columns}
        columns += [name for name in schema.names if name.lower() in named]
    return list(dict.fromkeys(columns))


def check(criteria: Criteria, schema: pa.Schema) -> None:
    """Raise ConfigError when the criteria do not fit the columns of `schema`; before any work is done."""
    if criteria.where:
        check_columns(condition(criteria.where), schema)
    if criteria.by:
        if criteria.by not in schema.names:
            raise ConfigError(
                f"there is no column '{criteria.by}' to rank by{nearest(criteria.by, schema.names)}",
                remedy=f"The columns are {', '.join(schema.names)}.",
            )
        kind = schema.field(criteria.by).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise ConfigError(f"column '{criteria.by}' cannot be ranked by: it is {kind}, not a number")


def select(criteria: Criteria, batch: pa.RecordBatch, cuts: dict[str, Any] | None = None) -> pa.RecordBatch:
    """`batch` with `keep` (bool) and `reason` (string: the first thing a row failed, null where it is kept).

    cuts: what `survey` gave; a criterion that needs a cut which is not there does not count yet.

    >>> batch = pa.RecordBatch.from_pydict({"pair_id": ["1", "2", "3"], "trigram_overlap": [0.2, 0.9, None]})
    >>> select(Criteria(where="trigram_overlap <= 0.7"), batch).column("reason").to_pylist()
    [None, 'not: trigram_overlap <= 0.7', 'undefined: trigram_overlap <= 0.7']
    """
    cuts = cuts or {}
    kept = np.ones(batch.num_rows, bool)
    reason = np.full(batch.num_rows, None, object)

    def reject(rows: npt.NDArray[np.bool_], why: str) -> None:
        reason[kept & rows] = why
        kept[rows] = False

    if criteria.where:
        wanted = condition(criteria.where)
        for clause, holds in zip(wanted.clauses, evaluate(wanted, batch), strict=True):
            reject(pc.is_null(holds).to_numpy(zero_copy_only=False), f"undefined: {clause}")
            reject(~pc.fill_null(holds, True).to_numpy(zero_copy_only=False), f"not: {clause}")
    if "rank" in cuts:
        if criteria.tenth is not None:
            place = f"in tenth {criteria.tenth}"
        else:
            place = f"among the {'highest' if criteria.from_highest() else 'lowest'} {criteria.top:.4g}"
        value = pc.cast(batch.column(criteria.by), pa.float64()).to_numpy(zero_copy_only=False)
        reject(~np.isfinite(value), f"undefined: {criteria.by}")
        reject(~Cut.from_json(cuts["rank"]).holds(batch), f"not: {place} by {criteria.by}")
    if "sample" in cuts:
        reject(~Cut.from_json(cuts["sample"]).holds(batch), f"not: in the sample of {criteria.sample}")
    batch = batch.append_column(pa.field("keep", pa.bool_()), pa.array(kept))
    return batch.append_column(pa.field("reason", pa.string()), pa.array(reason, pa.string()))
