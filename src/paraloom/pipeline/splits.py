"""Writes a shard's rows into three files: those kept, those rejected with a reason, those failed with an error."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import RunError
from paraloom.io.shards import ROW_GROUP_ROWS, appending

SplitName: TypeAlias = Literal["kept", "rejected", "failed"]

FOLDERS: dict[SplitName, str] = {"kept": "", "rejected": "rejected/", "failed": "failed/"}
"""Folder of each split's files, below the stage's folder."""


class ShardWriter:
    """Writes up to three files of one name, one per split; all appear when the block ends without an error, or none.

    Memory holds one row group per split at most; files that are not compressed have larger ones. The bytes depend on
    the rows alone, not on how batches were cut.
    """

    def __init__(self, folder: Path, name: str, *, compressed: bool = True) -> None:
        self.folder = folder
        self.name = name
        self.compressed = compressed
        self.rows: dict[SplitName, int] = {"kept": 0, "rejected": 0, "failed": 0}
        self.columns = ""
        self._stack = ExitStack()
        self._writers: dict[SplitName, Callable[[pa.RecordBatch], None]] = {}

    def write(self, split_name: SplitName, batch: pa.RecordBatch) -> None:
        """Add rows to a split; its first batch fixes its columns."""
        if not batch.num_rows:
            return
        if split_name not in self._writers:
            path = self.folder / f"{FOLDERS[split_name]}{self.name}"
            if split_name == "kept":
                self.columns = digest(batch.schema.serialize().to_pybytes().hex())
            group_rows = ROW_GROUP_ROWS if self.compressed else 10 * ROW_GROUP_ROWS
            opened = appending(path, batch.schema, group_rows, compressed=self.compressed)
            self._writers[split_name] = self._stack.enter_context(opened)
        self._writers[split_name](batch)
        self.rows[split_name] += batch.num_rows

    def write_split(self, batch: pa.RecordBatch) -> None:
        """Add rows to `kept` and `rejected`, as their column `keep` says, if they have one."""
        kept, rejected = split(batch)
        self.write("kept", kept)
        if rejected is not None:
            self.write("rejected", rejected)

    def files(self) -> dict[str, str]:
        """Path below the folder → SHA-256 of each file that was written; valid after the block."""
        names = [f"{FOLDERS[split_name]}{self.name}" for split_name in FOLDERS if split_name in self._writers]
        return {name: file_digest(self.folder / name) for name in names}

    def __enter__(self) -> ShardWriter:
        self._stack.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._stack.__exit__(kind, error, trace)


def split(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch | None]:
    """Split a batch into kept rows and rejected rows with their reason (None if it has no `keep`)."""
    names = batch.schema.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RunError(
            f"column '{twice}' occurs twice in the output", remedy="Rename it in the input, or leave this stage out."
        )
    if "keep" not in names:
        return batch, None
    keep = batch.column("keep")
    if keep.type != pa.bool_() or keep.null_count or "reason" not in names:
        raise RunError(
            f"column 'keep' is {keep.type} with {keep.null_count} nulls, 'reason' is "
            f"{'there' if 'reason' in names else 'missing'}",
            remedy="A filter adds 'keep', true or false in each row, and 'reason': this is a bug of the stage.",
        )
    if keep.true_count == batch.num_rows:
        return batch.drop_columns(["keep", "reason"]), None
    return batch.filter(keep).drop_columns(["keep", "reason"]), batch.filter(pc.invert(keep)).drop_columns(["keep"])
