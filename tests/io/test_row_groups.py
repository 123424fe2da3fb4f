"""Row groups and batches are bounded in bytes where texts are long, and cut by the rows alone."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraloom.io import read_batches, shards, write_shard
from paraloom.pipeline.splits import ShardWriter

SCHEMA = pa.schema([("text", pa.string()), ("score", pa.float32())])


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_GROUP_BYTES", 1_000_000)


def rows(start: int, count: int) -> pa.RecordBatch:
    """Texts of 100 to 900 bytes, some null."""
    texts = [None if n % 11 == 0 else chr(97 + n % 26) * (100 + n * 37 % 800) for n in range(start, start + count)]
    return pa.record_batch([pa.array(texts, pa.string()), pa.array([0.5] * count, pa.float32())], schema=SCHEMA)


def group_rows(path: Path) -> list[int]:
    metadata = pq.ParquetFile(path).metadata
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


@pytest.mark.parametrize("size", [300, 1024, 9000])
def test_long_texts_end_a_row_group_whatever_the_batches(tmp_path: Path, size: int) -> None:
    whole, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    write_shard(whole, [rows(0, 9000)], SCHEMA)
    batches = [rows(start, min(size, 9000 - start)) for start in range(0, 9000, size)]
    write_shard(cut, batches, SCHEMA)
    with ShardWriter(tmp_path, "pushed.parquet") as writer:
        for batch in batches:
            writer.write("kept", batch)
    assert whole.read_bytes() == cut.read_bytes() == (tmp_path / "pushed.parquet").read_bytes()
    lengths = [
        sum(len(text or "") for text in pq.ParquetFile(whole).read_row_group(n)["text"].to_pylist()) for n in (0, 1)
    ]
    assert all(1_000_000 <= length < 1_000_900 for length in lengths)
    assert sum(group_rows(whole)) == 9000
    assert max(group_rows(whole)) < 5000


def test_short_texts_have_the_row_groups_of_their_number(tmp_path: Path) -> None:
    short = pa.record_batch([pa.array(["a b"] * 12_000), pa.array([0.5] * 12_000, pa.float32())], schema=SCHEMA)
    write_shard(tmp_path / "short.parquet", [short], SCHEMA)
    assert group_rows(tmp_path / "short.parquet") == [5000, 5000, 2000]


def test_a_row_beyond_the_bound_is_a_row_group(tmp_path: Path) -> None:
    texts = pa.record_batch(
        [pa.array(["a" * 1_500_000, "b" * 1_500_000, "c"]), pa.nulls(3, pa.float32())], schema=SCHEMA
    )
    write_shard(tmp_path / "long.parquet", [texts], SCHEMA)
    assert group_rows(tmp_path / "long.parquet") == [1, 1, 1]


def test_large_batches_of_long_texts_are_smaller_but_never_those_that_seeds_depend_on(tmp_path: Path) -> None:
    path = tmp_path / "texts.parquet"
    write_shard(path, [rows(0, 9000)], SCHEMA)
    sizes = [batch.num_rows for batch in read_batches(path, batch_rows=50_000)]
    assert sum(sizes) == 9000
    assert 1024 <= max(sizes) < 3000
    assert {batch.num_rows for batch in read_batches(path, batch_rows=100)} == {100}
    monstrous = pa.record_batch([pa.array(["x" * 20_000] * 1500), pa.nulls(1500, pa.float32())], schema=SCHEMA)
    write_shard(path, [monstrous], SCHEMA)
    assert next(read_batches(path, batch_rows=50_000)).num_rows == 1024
