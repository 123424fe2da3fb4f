"""Writes a shard's rows into three files: those kept, those rejected with a reason, those failed with an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import RunError
from paraloom.io.atomic import atomic_write
from paraloom.io.shards import ROW_GROUP_ROWS, rebatch

Lane: TypeAlias = Literal["kept", "rejected", "failed"]

FOLDERS: dict[Lane, str] = {"kept": "", "rejected": "rejected/", "failed": "failed/"}
"""Where a lane's file lies, below the stage's folder."""


class ShardWriter:
    """Three files of one name, each made when its first row comes; all appear when the block ends well, or none.

    Memory holds a row group a lane at most.  The bytes depend on the rows alone, not on how batches were cut.
    rows: written so far, by lane.  columns: digest of the kept rows' schema, '' while there are none.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.rows: dict[Lane, int] = {"kept": 0, "rejected": 0, "failed": 0}
        self.columns = ""
        self._stack = ExitStack()
        self._lanes: dict[Lane, Callable[[pa.RecordBatch], None]] = {}

    def write(self, lane: Lane, batch: pa.RecordBatch) -> None:
        """Add rows to a lane; its first batch fixes its columns."""
        if not batch.num_rows:
            return
        if lane not in self._lanes:
            path = self.folder / f"{FOLDERS[lane]}{self.name}"
            if lane == "kept":
                self.columns = digest(batch.schema.serialize().to_pybytes().hex())
            self._lanes[lane] = self._stack.enter_context(_appending(path, batch.schema))
        self._lanes[lane](batch)
        self.rows[lane] += batch.num_rows

    def write_split(self, batch: pa.RecordBatch) -> None:
        """Add rows to `kept` and `rejected`, as their `keep` says where they have one."""
        kept, rejected = split(batch)
        self.write("kept", kept)
        if rejected is not None:
            self.write("rejected", rejected)

    def files(self) -> dict[str, str]:
        """Path below the folder → SHA-256, of what was written; to be asked after the block."""
        names = [f"{FOLDERS[lane]}{self.name}" for lane in FOLDERS if lane in self._lanes]
        return {name: file_digest(self.folder / name) for name in names}

    def __enter__(self) -> ShardWriter:
        self._stack.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._stack.__exit__(kind, error, trace)


def split(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch | None]:
    """The rows to keep, without `keep` and `reason`, and those rejected, with the reason; None without a verdict.

    >>> batch = pa.RecordBatch.from_pydict({"n": [1, 2], "keep": [True, False], "reason": [None, "even"]})
    >>> [part.to_pylist() for part in split(batch)]
    [[{'n': 1}], [{'n': 2, 'reason': 'even'}]]
    """
    names = batch.schema.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RunError(f"column '{twice}' comes out twice", remedy="Rename it in the input, or leave this stage out.")
    if "keep" not in names:
        return batch, None
    keep = batch.column("keep")
    if keep.type != pa.bool_() or keep.null_count or "reason" not in names:
        raise RunError(
            f"column 'keep' is {keep.type} with {keep.null_count} nulls, 'reason' is "
            f"{'there' if 'reason' in names else 'missing'}",
            remedy="A filter adds 'keep', true or false in each row, and 'reason': this is a fault of the stage.",
        )
    return batch.filter(keep).drop_columns(["keep", "reason"]), batch.filter(pc.invert(keep)).drop_columns(["keep"])


@contextmanager
def _appending(path: Path, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """What `core.io.write_shard` does, for rows that are handed over rather than fetched."""
    held: list[pa.RecordBatch] = []
    count = 0

    with (
        atomic_write(path) as temporary,
        temporary.open("wb") as stream,
        pq.ParquetWriter(stream, schema, compression="zstd", write_page_checksum=True) as writer,
    ):

        def append(batch: pa.RecordBatch) -> None:
            nonlocal held, count
            held.append(batch)
            count += batch.num_rows
            if count >= ROW_GROUP_ROWS:
                *full, last = rebatch(held, schema, ROW_GROUP_ROWS)
                whole = last.num_rows == ROW_GROUP_ROWS
                for table in [*full, last] if whole else full:
                    writer.write_table(table, row_group_size=ROW_GROUP_ROWS)
                held = [] if whole else last.to_batches()
                count = 0 if whole else last.num_rows

        yield append
        for table in rebatch(held, schema, ROW_GROUP_ROWS):
            writer.write_table(table, row_group_size=ROW_GROUP_ROWS)
