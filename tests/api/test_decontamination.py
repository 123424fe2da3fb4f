"""Decontamination: levels, formats, what is written, and the shares in signatures."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraloom.api.decontamination import decontaminate, near_training
from paraloom.api.rejected import rejected_file
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.io.records import read_records, write_records

TEST = "The quick brown fox jumps over the lazy dog.\tA slow fox sleeps in the sun."
LEAK = "the quick brown fox jumps over the lazy dog"
CLEAN = ["Stocks fell again on Friday morning.", "", "Nobody has seen the ship since."]


@pytest.fixture
def test_file(tmp_path: Path) -> Path:
    path = tmp_path / "test.tsv"
    path.write_text(f"4.5\t{TEST}\n")
    return path


def test_lines_near_a_test_are_left_out_and_listed(tmp_path: Path, test_file: Path) -> None:
    (tmp_path / "train.txt").write_text(
        "\n".join([CLEAN[0], LEAK, CLEAN[1], "A slow fox slept in the sun.", CLEAN[2], ""])
    )
    result = decontaminate(tmp_path / "train.txt", test_file, tmp_path / "clean.txt")
    assert (tmp_path / "clean.txt").read_text().splitlines() == CLEAN
    rejected = [json.loads(line) for line in rejected_file(tmp_path / "clean.txt").read_text().splitlines()]
    assert [(row["row"], row["reason"]) for row in rejected] == [
        (2, "in a held-out corpus"),
        (4, "near-duplicate: near a held-out text"),
    ]
    assert result.training.near == result.tests[0].near == {"equal": 1, "near-duplicate": 1}
    assert (result.training.texts, result.tests[0].texts) == (5, 2)


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet", ".tsv.gz"])
def test_tables_keep_their_format(tmp_path: Path, test_file: Path, suffix: str) -> None:
    rows = [{"1": "0.5", "2": CLEAN[0]}, {"1": "4.5", "2": f"He said {LEAK} and left."}]
    train, output = tmp_path / f"train{suffix}", tmp_path / f"clean{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), train)
    else:
        write_records(rows, train, ["1", "2"], header=False)
    result = decontaminate(train, [test_file], output)
    assert [row.values for row in read_records(output, header=False)] == rows[:1]
    assert result.training.near == {"8 words in a row": 1}


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_texts_inside_records_are_compared(tmp_path: Path, suffix: str) -> None:
    rows = [{"turns": [{"text": text, "score": 1.5}]} for text in (CLEAN[0], LEAK)]
    for name, some in (("train", rows), ("test", rows[1:])):
        if suffix == ".parquet":
            pq.write_table(pa.Table.from_pylist(some), tmp_path / f"{name}.parquet")
        else:
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
    output = tmp_path / f"clean{suffix}"
    result = decontaminate(tmp_path / f"train{suffix}", tmp_path / f"test{suffix}", output)
    assert (result.training.near, result.tests[0].texts) == ({"equal": 1}, 1)
    assert [record.values for record in read_records(output)] == rows[:1]


def test_labels_and_numbers_are_no_text(tmp_path: Path, test_file: Path) -> None:
    (tmp_path / "train.tsv").write_text("4.5\tanother text of words\n")
    assert decontaminate(tmp_path / "train.tsv", test_file).training.total == 0


def test_signatures_say_what_was_recorded(tmp_path: Path, test_file: Path) -> None:
    (tmp_path / "train.txt").write_text(f"{LEAK}\n")
    model = tmp_path / "model"
    model.mkdir()
    texts = TEST.split("\t")
    assert near_training(model, [texts]) == near_training(None, [texts]) == "unknown"
    decontaminate(tmp_path / "train.txt", test_file, model=model)
    assert near_training(model, [texts[::-1]]) == "50.0%", "the order of a test's texts does not matter"
    assert near_training(model, [texts, ["another test of words"]]) == "unknown"
    (model / "contamination.json").write_text('{"digest": 3}')
    with pytest.raises(ModelError, match="cannot be read"):
        near_training(model, [texts])


def test_bad_input_is_named(tmp_path: Path, test_file: Path) -> None:
    (tmp_path / "train.txt").write_text(f"{LEAK}\n")
    (tmp_path / "empty.txt").write_text("4\n")
    with pytest.raises(DataError, match="no text of three words"):
        decontaminate(tmp_path / "train.txt", tmp_path / "empty.txt")
    with pytest.raises(ConfigError, match="'similarity' is 0"):
        decontaminate(tmp_path / "train.txt", test_file, similarity=0)
    with pytest.raises(ConfigError, match="format of one training file"):
        decontaminate(tmp_path / "train.txt", test_file, tmp_path / "clean.tsv")
    with pytest.raises(ConfigError, match="the model does not exist"):
        decontaminate(tmp_path / "train.txt", test_file, model=tmp_path / "none")
