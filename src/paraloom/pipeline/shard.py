"""Work on one shard of a Map: batch by batch, nothing lost, the row counts add up."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from paraloom.core.errors import DataError, RunError
from paraloom.core.progress import Advance
from paraloom.core.schema import SCHEMAS, require
from paraloom.core.seeds import derive_seed
from paraloom.core.stage import Json, Map, StageContext
from paraloom.core.stage_cache import begin_stage
from paraloom.io import read_batches
from paraloom.io.shards import is_text, text_values
from paraloom.pipeline.counts import RowCounts
from paraloom.pipeline.manifest import ShardRecord
from paraloom.pipeline.memory import peak_memory
from paraloom.pipeline.splits import ShardWriter, split

OnError: TypeAlias = Literal["stop", "reject"]


class _Done(NamedTuple):
    """A processed batch."""

    out: pa.RecordBatch
    silent: list[int]  # Rows (from 0) that gave no output
    rejected: int = 0  # Of a 'many' stage, rows all of whose output was rejected


@dataclass(frozen=True)
class ShardTask:
    """One shard of a Map, as a task for an engine."""

    stage: str
    file: str
    rows: int
    mapping: Map
    folder: Path
    key: str
    stage_key: str
    kind: str
    seeds: tuple[int, str]
    survey: Json = None
    inputs: Mapping[str, Path] = field(default_factory=dict)
    on_error: OnError = "stop"

    @property
    def name(self) -> str:
        return Path(self.file).name

    def __call__(self, advance: Advance) -> ShardRecord:
        begin_stage(self.stage_key)
        started = time.monotonic()
        read = 0
        done = RowCounts()
        with ShardWriter(self.folder, self.name) as writer:
            for batch in read_batches(self.file, batch_rows=self.mapping.batch_rows):
                done += self._pass(batch, read, writer)
                read += batch.num_rows
                advance(batch.num_rows)
        rows = writer.rows
        counts = RowCounts(read, done.kept, done.rejected, rows["failed"], rows["kept"]).check(
            stage=self.stage, file=self.file
        )
        seconds = round(time.monotonic() - started, 3)
        return ShardRecord(self.name, self.key, writer.files(), writer.columns, counts, seconds, peak_memory())

    def _pass(self, batch: pa.RecordBatch, first: int, writer: ShardWriter) -> RowCounts:
        """Process a batch, whose first row is the shard's row `first` (from 0), and write it; returns what was kept
        and rejected of its rows."""
        try:
            whole = self._apply(batch, first)
        except DataError as error:
            if self.on_error == "stop" and error.row is not None:
                raise self._remedied(error) from error
            return self._one_by_one(batch, first, writer, error)
        return self._enter(batch, whole, writer)

    def _one_by_one(self, batch: pa.RecordBatch, first: int, writer: ShardWriter, whole: DataError) -> RowCounts:
        """The same, row by row, to find the unusable ones; the others are still processed."""
        counts = RowCounts()
        for index in range(batch.num_rows):
            row = batch.slice(index, 1)
            try:
                done = self._apply(row, first + index)
            except DataError as error:
                if self.on_error == "stop":
                    error.at(row=first + index + 1)
                    raise self._remedied(error) from error
                writer.write("failed", _with_error(row, error.what))
            else:
                counts += self._enter(row, done, writer)
        if self.on_error == "stop":
            raise self._remedied(whole) from whole
        return counts

    def _apply(self, batch: pa.RecordBatch, first: int) -> _Done:
        context = StageContext(derive_seed(*self.seeds, self.name, first), self.inputs, self.survey, self.name, first)
        try:
            check_text(batch)
            out = self.mapping.apply(batch, context)
        except DataError as error:
            if error.row is not None:
                error.row += first
            raise
        if not isinstance(out, pa.RecordBatch):
            raise RunError(f"expected a record batch from the stage, got {type(out).__name__}")
        if self.mapping.rows == "many":
            return self._traced(batch, out)
        if out.num_rows != batch.num_rows:
            raise RunError(
                f"row counts do not add up: {batch.num_rows} rows went in, {out.num_rows} came out",
                row=first + 1,
                remedy="A stage of rows 'same' must return each row once: this is a bug of the stage, not of the data.",
            )
        return _Done(out, [])

    def _traced(self, batch: pa.RecordBatch, out: pa.RecordBatch) -> _Done:
        """The output of a 'many' stage, and which rows gave none."""
        if "_source" not in out.schema.names:
            raise RunError(
                "a stage of rows 'many' must add '_source', the row of the input that each row came from",
                remedy="This is a bug of the stage.",
            )
        sources = out.column("_source")
        counts = np.zeros(batch.num_rows, dtype=np.int64)
        indices = sources.to_numpy(zero_copy_only=False)
        if sources.null_count or (len(indices) and (indices.min() < 0 or indices.max() >= batch.num_rows)):
            raise RunError(f"'_source' must have row numbers from 0 to {batch.num_rows - 1}")
        np.add.at(counts, indices.astype(np.int64), 1)
        silent = np.flatnonzero(counts == 0).tolist()
        kept = split(out)[0].column("_source").to_numpy(zero_copy_only=False)
        rejected = batch.num_rows - len(silent) - len(np.unique(kept))
        return _Done(out.drop_columns(["_source"]), silent, rejected)

    def _enter(self, batch: pa.RecordBatch, done: _Done, writer: ShardWriter) -> RowCounts:
        """Write the output of a batch; returns how many of its rows were kept and rejected."""
        require(done.out.schema, SCHEMAS[self.kind])
        before = dict(writer.rows)
        writer.write_split(done.out)
        for index in done.silent:
            writer.write("failed", _with_error(batch.slice(index, 1), "no output"))
        if self.mapping.rows == "many":
            return RowCounts(kept=batch.num_rows - len(done.silent) - done.rejected, rejected=done.rejected)
        return RowCounts(
            kept=writer.rows["kept"] - before["kept"], rejected=writer.rows["rejected"] - before["rejected"]
        )

    def _remedied(self, error: DataError) -> DataError:
        failed = f"{self.stage}/failed/"
        error.remedy = error.remedy or f"Fix the row, or run with --on-error=reject to move it to {failed}."
        return error


def _with_error(row: pa.RecordBatch, error: str) -> pa.RecordBatch:
    row = readable(row)
    if "error" in row.schema.names:
        row = row.drop_columns(["error"])
    return row.append_column(pa.field("error", pa.string()), pa.array([error], pa.string()))


def check_text(batch: pa.RecordBatch) -> None:
    """Check all text columns; raises DataError with the first row (from 1), column and byte that is not UTF-8."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise _located(name, column, error) from error


def readable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """`batch` with bytes that are not UTF-8 spelled out (`\\\\xff`), so that failed rows can be read."""
    for index, (column, kept) in enumerate(zip(batch.columns, batch.schema, strict=True)):
        if is_text(column.type):
            values = text_values(column)
            texts = [one.decode(errors="backslashreplace") if isinstance(one, bytes) else one for one in values]
            batch = batch.set_column(index, kept, pa.array(texts, kept.type))
    return batch


def _located(name: str, column: pa.Array, error: pa.ArrowInvalid) -> DataError:
    for row, value in enumerate(text_values(column) if is_text(column.type) else (), start=1):
        try:
            _ = value.decode() if isinstance(value, bytes) else value
        except UnicodeDecodeError as fault:
            return DataError(f"'{name}' is not valid UTF-8 (byte 0x{value[fault.start]:02x} at {fault.start})", row=row)
    return DataError(f"column '{name}' is damaged ({error})")
