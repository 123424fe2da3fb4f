"""Where a pipeline goes on from another's result: pairs in one Parquet file, with the columns they have been given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.core.schema import PAIRS, require
from paraloom.core.stage import Source, StageContext
from paraloom.io.shards import open_shard, read_batches


@dataclass(frozen=True, kw_only=True)
class ScoredPairs(Source):
    """Reads a Parquet file that a verb of ours wrote, all its columns kept; `bitext` reads two columns of any file.

    source: the file; a path stands relative to the pipeline file.
    """

    output_schema: ClassVar[str] = "PAIRS"

    source: Path

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All pairs in order.  Raises DataError for a missing column, a null side, or text that is no UTF-8."""
        row = 0
        for batch in read_batches(self.source):
            require(batch.schema, PAIRS)
            for side in ("src", "tgt"):
                if batch.column(side).null_count:
                    empty = batch.column(side).is_null().to_pylist().index(True)
                    raise DataError(f"column '{side}' is null", file=self.source, row=row + empty + 1)
            try:
                batch.validate(full=True)
            except pa.ArrowInvalid as error:
                raise DataError(f"not fit to read: {error}", file=self.source) from None
            yield batch
            row += batch.num_rows


def has_further_columns(source: str) -> bool:
    """Whether a file is a Parquet file of pairs, as our verbs write them, with columns beside those of PAIRS."""
    if not source.endswith(".parquet") or not Path(source).is_file():
        return False
    try:
        with open_shard(source) as file:
            schema = file.schema_arrow
        require(schema, PAIRS)
    except DataError:
        return False
    return len(schema) > len(PAIRS)
