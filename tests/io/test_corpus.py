"""Corpora: bytes independent of batch sizes, errors for anything incomplete or damaged."""

from __future__ import annotations

import errno
import json
import resource
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save_file

from paraloom.core.errors import ConfigError, DataError, RunError
from paraloom.core.schema import PAIRS, add_column, signature_of
from paraloom.io import Corpus, read_batches, read_shard, seal_corpus, write_corpus, write_shard
from paraloom.io.atomic import atomic_folder, atomic_write, atomic_write_all, disk_full_as_error


def pairs(start: int, count: int) -> pa.RecordBatch:
    rows = range(start, start + count)
    return pa.RecordBatch.from_pydict(
        {
            "pair_id": [f"t:{i}" for i in rows],
            "src": [f"Satz {i} ě" for i in rows],
            "tgt": [f"sentence {i}" for i in rows],
            "src_lang": ["de"] * count,
            "tgt_lang": ["en"] * count,
            "origin": ["t"] * count,
        },
        schema=PAIRS,
    )


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return write_corpus(tmp_path / "c", [pairs(0, 7), pairs(7, 5)], kind="PAIRS", shard_rows=5)


def test_round_trip(corpus: Corpus) -> None:
    opened = Corpus.open(corpus.folder)
    opened.verify()
    assert opened == corpus
    assert (opened.kind, opened.rows, opened.shard_rows) == ("PAIRS", 12, [5, 5, 2])
    assert [shard.name for shard in opened.shards] == [f"part-0000{i}.parquet" for i in range(3)]
    assert pa.Table.from_batches(opened.batches()) == pa.Table.from_batches([pairs(0, 12)])
    assert [batch.num_rows for batch in opened.batches(["src"], batch_rows=2)] == [2, 2, 1, 2, 2, 1, 2]
    assert opened.head(6).column("pair_id").to_pylist() == [f"t:{i}" for i in range(6)]
    assert opened.head(99, ["tgt"]).num_rows == 12
    assert opened.head(0).num_rows == 0


def test_bytes_do_not_depend_on_batches(tmp_path: Path) -> None:
    one = write_corpus(tmp_path / "a", [pairs(0, 9)], kind="PAIRS", shard_rows=4)
    many = write_corpus(tmp_path / "b", [pairs(i, 1) for i in range(9)], kind="PAIRS", shard_rows=4)
    assert [p.read_bytes() for p in one.shards] == [p.read_bytes() for p in many.shards]
    assert one.digests == many.digests


def test_signatures_survive(tmp_path: Path) -> None:
    scored = add_column(pairs(0, 2), "length", pa.array([1, 2]), "length|version:0")
    corpus = Corpus.open(write_corpus(tmp_path / "c", [scored], kind="PAIRS").folder)
    assert signature_of(corpus.schema.field("length")) == "length|version:0"
    assert signature_of(next(corpus.batches()).schema.field("length")) == "length|version:0"


@pytest.mark.parametrize("batches", [[], [pairs(0, 0)]], ids=["none", "empty"])
def test_empty_corpus(tmp_path: Path, batches: list[pa.RecordBatch]) -> None:
    corpus = Corpus.open(write_corpus(tmp_path / "c", batches, kind="PAIRS").folder)
    assert (corpus.rows, corpus.shard_rows, corpus.schema.names) == (0, [0], PAIRS.names)
    assert corpus.head(3).num_rows == 0


def test_sealing_existing_shards(tmp_path: Path) -> None:
    shards = [tmp_path / "part-00000.parquet", tmp_path / "part-00001.parquet"]
    for shard in reversed(shards):
        assert write_shard(shard, pairs(0, 3), PAIRS) == 3
    assert seal_corpus(tmp_path, shards, kind="PAIRS") == Corpus.open(tmp_path)


@pytest.mark.parametrize("cut", [0, 3, 500, -1], ids=["empty", "magic", "middle", "last byte"])
def test_truncated_shard(corpus: Corpus, cut: int) -> None:
    shard = corpus.shards[1]
    shard.write_bytes(shard.read_bytes()[:cut])
    for attempt in (lambda: Corpus.open(corpus.folder), lambda: read_shard(shard), lambda: list(read_batches(shard))):
        with pytest.raises(DataError, match=r"part-00001.parquet: .*truncated, corrupt") as caught:
            attempt()
        assert caught.value.remedy


def test_a_shard_that_is_taken_out_of_the_description(corpus: Corpus) -> None:
    path = corpus.folder / "corpus.json"
    description = json.loads(path.read_text())
    assert len(description["shards"]) > 1
    del description["shards"][-1]
    path.write_text(json.dumps(description))
    with pytest.raises(DataError, match="number of rows"):
        Corpus.open(corpus.folder)


def test_a_flipped_bit_anywhere_in_a_shard(tmp_path: Path) -> None:
    """In a page, in its header, or in the end of the file: the same rows, or an error."""
    table = pa.table({"src": [f"eins {n}" for n in range(60)], "tgt": [f"one {n}" for n in range(60)]})
    path = tmp_path / "part.parquet"
    write_shard(path, table, table.schema)
    good = path.read_bytes()
    refused = 0
    for position in range(0, 8 * len(good), 11):
        content = bytearray(good)
        content[position // 8] ^= 1 << position % 8
        path.write_bytes(content)
        try:
            rows = [row for batch in read_batches(path) for row in batch.to_pylist()]
            assert rows == table.to_pylist() == read_shard(path).to_pylist(), position
        except DataError:
            refused += 1
    assert refused > 500


def test_flipped_byte_in_a_page(corpus: Corpus) -> None:
    shard = corpus.shards[0]
    column = pq.ParquetFile(shard).metadata.row_group(0).column(1)
    content = bytearray(shard.read_bytes())
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 0xFF
    shard.write_bytes(content)
    with pytest.raises(DataError, match=r"part-00000.parquet"):
        list(corpus.batches())
    with pytest.raises(DataError, match=r"part-00000.parquet: the shard has changed"):
        corpus.verify()


def test_incomplete_corpora(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="folder not found"):
        Corpus.open(tmp_path / "nowhere")
    corpus.shards[2].unlink()
    with pytest.raises(DataError, match=r"part-00002.parquet: file not found"):
        Corpus.open(corpus.folder)
    write_shard(corpus.shards[2], pairs(0, 1), PAIRS)
    with pytest.raises(DataError, match=r"expected 2 rows according to corpus.json, got 1"):
        Corpus.open(corpus.folder)
    (corpus.folder / "corpus.json").unlink()
    with pytest.raises(DataError, match=r"not a complete corpus: corpus.json not found"):
        Corpus.open(corpus.folder)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"kind": "PAIRS"}',
        '{"kind": "X", "shards": []}',
        '{"kind": "PAIRS", "shards": []}',
        '{"kind": "PAIRS", "shards": [{"file": "../part-00000.parquet", "rows": 5, "sha256": "0"}]}',
    ],
)
def test_bad_description(corpus: Corpus, text: str) -> None:
    (corpus.folder / "corpus.json").write_text(text)
    with pytest.raises(DataError, match=r"corpus.json: the description of the corpus is damaged"):
        Corpus.open(corpus.folder)


def test_unknown_column_and_kind(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"column 'scr' not found; did you mean 'src'\?"):
        list(corpus.batches(["scr"]))
    with pytest.raises(ConfigError, match="did you mean 'PAIRS'"):
        write_corpus(tmp_path / "d", [], kind="PAIR")
    with pytest.raises(DataError, match="column 'tgt' is missing"):
        write_corpus(tmp_path / "d", [pairs(0, 1).drop_columns(["tgt"])], kind="PAIRS")
    with pytest.raises(RunError, match="already holds a corpus"):
        write_corpus(corpus.folder, [], kind="PAIRS")


def test_columns_that_change_between_batches_leave_no_files(tmp_path: Path) -> None:
    wider = pairs(0, 1).append_column("x", pa.array([1]))
    with pytest.raises(DataError, match="a batch has the columns"):
        write_corpus(tmp_path / "d", [pairs(0, 9), wider], kind="PAIRS", shard_rows=4)
    assert list((tmp_path / "d").iterdir()) == []


def test_full_disk(tmp_path: Path) -> None:
    # A limit on file sizes acts like a full disk: the kernel refuses the write.
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, old[1]))
    try:
        with pytest.raises(RunError, match=r"part-00000.parquet: cannot write: the disk is full") as caught:
            write_corpus(tmp_path / "d", [pairs(0, 5000)], kind="PAIRS")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert "Free space" in (caught.value.remedy or "")
    assert list((tmp_path / "d").iterdir()) == []


def test_full_disk_on_flush(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(RunError, match="the disk is full"), atomic_write(tmp_path / "a") as temporary:
        temporary.write_text("new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}


def test_full_disk_in_a_library(tmp_path: Path) -> None:
    """safetensors, in Rust, raises a class of its own: the number is in its message alone."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, old[1]))
    try:
        with (
            pytest.raises(RunError, match=r"model: cannot write: the disk is full \(File too large\)") as caught,
            atomic_folder(tmp_path / "model", "config.json") as temporary,
        ):
            save_file({"weights": np.zeros(10_000)}, temporary / "model.safetensors")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert isinstance(caught.value.__cause__, SafetensorError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_full_disk_by_its_number_in_a_message(number: int, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the disk is full"), disk_full_as_error(tmp_path):
        raise SafetensorError(f"Error while serializing: I/O error: any text (os error {number})")


def test_other_errors_of_libraries_stay(tmp_path: Path) -> None:
    with pytest.raises(SafetensorError), atomic_write(tmp_path / "model"):
        raise SafetensorError("Error while serializing: I/O error: Is a directory (os error 21)")


def test_several_files_are_renamed_together(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), atomic_write_all([tmp_path / "a", tmp_path / "b"]) as (first, _):
        first.write_text("half")
        1 / 0  # noqa: B018
    assert list(tmp_path.iterdir()) == []


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="got a folder"), atomic_write(tmp_path):
        pass
    with pytest.raises(RunError, match="cannot write"), atomic_write(tmp_path / "file" / "below"):
        pass
