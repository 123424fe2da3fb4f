"""Reads a Source into shards, in order and in one process; finished shards are not written again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import groupby

import pyarrow as pa

from paraloom.core.digests import digest
from paraloom.core.progress import Advance
from paraloom.core.schema import SCHEMAS, require
from paraloom.core.stage import Source, StageContext
from paraloom.pipeline.counts import RowCounts
from paraloom.pipeline.manifest import ShardRecord
from paraloom.pipeline.memory import peak_memory
from paraloom.pipeline.splits import ShardWriter
from paraloom.pipeline.state import State


def read_source(
    source: Source, context: StageContext, state: State, advance: Advance
) -> Iterator[tuple[ShardRecord, bool]]:
    """The record of each shard in order, and whether it was written now."""
    for number, pieces in groupby(_cut(source.batches(context), source.shard_rows), key=lambda piece: piece[0]):
        name = f"part-{number:05d}.parquet"
        key = digest([state.key, name])
        record = state.shard(name, key)
        batches = _counted((batch for _, batch in pieces), advance)
        if record is None:
            yield _write(name, key, batches, source.output_schema, state), True
        else:
            for _ in batches:
                pass
            yield record, False


def _write(name: str, key: str, batches: Iterator[pa.RecordBatch], kind: str, state: State) -> ShardRecord:
    started, read = time.monotonic(), 0
    with ShardWriter(state.folder, name) as writer:
        for batch in batches:
            require(batch.schema, SCHEMAS[kind])
            writer.write_split(batch)
            read += batch.num_rows
    rows = writer.rows
    counts = RowCounts(read, rows["kept"], rows["rejected"], 0, out=rows["kept"]).check(
        stage=state.folder_name, file=name
    )
    seconds = round(time.monotonic() - started, 3)
    return ShardRecord(name, key, writer.files(), writer.columns, counts, seconds, peak_memory())


def _counted(batches: Iterator[pa.RecordBatch], advance: Advance) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch
        advance(batch.num_rows)


def _cut(batches: Iterable[pa.RecordBatch], shard_rows: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The same rows, each piece with the number of the shard it belongs to; no piece spans two."""
    row = 0
    for batch in batches:
        while batch.num_rows:
            number, used = divmod(row, shard_rows)
            piece = batch.slice(0, shard_rows - used)
            yield number, piece
            row += piece.num_rows
            batch = batch.slice(piece.num_rows)
