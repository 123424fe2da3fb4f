"""Tables of any columns: every value comes back in every format, and bad rows are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.io.records import (
    Record,
    read_records,
    read_schema,
    record_format,
    schema_of_records,
    with_columns,
    write_records,
)

ROWS: list[dict[str, Any]] = [
    {"text": 'He said "no", twice', "label": "a", "votes": 3, "tags": ["x", "y"]},
    {"text": "zwei\nZeilen ü", "label": "b", "votes": None, "tags": []},
]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.csv.xz", "a.parquet"])
def test_rows_come_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_records(iter(ROWS), path, list(ROWS[0]), schema_of_records(ROWS))
    records = list(read_records(path))
    assert [record.row for record in records] == [1, 2]
    if ".csv" in name:
        assert [record.values for record in records] == [
            {"text": 'He said "no", twice', "label": "a", "votes": "3", "tags": '["x", "y"]'},
            {"text": "zwei\nZeilen ü", "label": "b", "votes": "", "tags": "[]"},
        ]
    else:
        assert [record.values for record in records] == ROWS


def test_types_of_parquet_are_kept(tmp_path: Path) -> None:
    schema = pa.schema([pa.field("text", pa.large_string()), pa.field("label", pa.int8())], {b"key": b"value"})
    write_records([{"text": "a", "label": 3}], tmp_path / "a.parquet", ["text", "label"], schema)
    known = read_schema(tmp_path / "a.parquet")
    assert known is not None and known.equals(schema, check_metadata=True)
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == [{"text": "a", "label": 3}]
    assert read_schema(tmp_path / "a.csv") is None
    with pytest.raises(DataError, match="does not fit its column"):
        write_records([{"text": "a", "label": "x"}], tmp_path / "b.parquet", ["text", "label"], schema)
    assert not (tmp_path / "b.parquet").exists()
    with pytest.raises(ConfigError, match="needs types"):
        write_records([], tmp_path / "b.parquet", ["text"])


def test_types_of_several_batches_go_together() -> None:
    rows = [{"n": 1}] * 1500 + [{"n": 1.5, "late": "x"}]
    assert schema_of_records(rows).field("n").type == pa.float64()
    assert schema_of_records(rows).names == ["n", "late"]
    with pytest.raises(DataError, match=r"one type of Parquet.*\n.*jsonl"):
        schema_of_records([{"n": 1}, {"n": "x"}])


def test_numbers_of_more_than_64_bits() -> None:
    with pytest.raises(DataError, match=r"column 'id' has values that one type of Parquet cannot hold"):
        schema_of_records([{"id": 2**70}])


def test_parquet_with_text_that_is_not_utf8(tmp_path: Path) -> None:
    values = pa.array([b"fine", b"not \xff", b"good"], pa.binary())
    texts = pa.StringArray.from_buffers(3, *values.buffers()[1:])
    pq.write_table(pa.table({"text": texts, "label": ["a", "b", "c"]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="row 2: a text is not valid UTF-8"):
        list(read_records(tmp_path / "a.parquet"))
    bad: list[tuple[int, str, str]] = []
    records = list(read_records(tmp_path / "a.parquet", on_bad=lambda *row: bad.append(row)))
    assert [(record.row, record.values["label"]) for record in records] == [(1, "a"), (3, "c")]
    assert bad == [(2, "a text is not valid UTF-8", "")]


def test_tables_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("pos\tgood\nneg\tbad\n")
    assert list(read_records(path, header=False))[1] == Record(2, {"1": "neg", "2": "bad"})
    assert list(read_records(path)) == [Record(1, {"pos": "neg", "good": "bad"})]
    values = [record.values for record in read_records(path, header=False)]
    write_records(values, tmp_path / "b.tsv", ["1", "2"], header=False)
    assert (tmp_path / "b.tsv").read_text() == path.read_text()
    with pytest.raises(DataError, match="row 1: a value has a tab"):
        write_records([{"1": "a\tb"}], tmp_path / "c.tsv", ["1"])


def test_delimiters_and_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text;label\nA, b;x\n\nC;y\n")
    assert [(record.row, record.values["text"]) for record in read_records(tmp_path / "a.csv")] == [
        (1, "A, b"),
        (3, "C"),
    ]
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n')
    assert [record.row for record in read_records(tmp_path / "a.jsonl")] == [1, 3]


@pytest.mark.parametrize(
    ("name", "content", "row", "message"),
    [
        ("a.jsonl", b'{"a": 1}\n[1]\n', 2, "expected a JSON object"),
        ("a.jsonl", b'{"a": 1}\n{"a": "\\ud800"}\n', 2, "half of a surrogate pair"),
        ("a.jsonl", b'{"a": 1}\n{"a": "\xe9"}\n', 2, "not valid UTF-8"),
        ("a.csv", b"a,b\n1,2\n1,2,3\n", 2, "expected 2 fields, got 3"),
        ("a.csv", b'a,b\n1,"2\n', 1, "not valid CSV"),
        ("a.csv", b"a,b\n1,\xe9\n", 1, "not valid UTF-8"),
        ("a.tsv", b"a\tb\n1\n", 1, "expected 2 fields, got 1"),
        ("a.tsv", b"a\tb\n1\t\xe9\n", 1, "not valid UTF-8"),
        ("a.csv", b"a,a\n1,2\n", None, "two columns have the name 'a'"),
    ],
)
def test_bad_rows(tmp_path: Path, name: str, content: bytes, row: int | None, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        list(read_records(path))
    assert (caught.value.row, caught.value.file) == (row, str(path))
    if row is not None:
        bad: list[tuple[int, str, str]] = []
        good = list(read_records(path, on_bad=lambda *what: bad.append(what)))
        assert [one[0] for one in bad] == [row] and len(good) == row - 1


def test_formats(tmp_path: Path) -> None:
    for name, message in (
        ("a.txt", "unknown format '.txt'"),
        ("a", "unknown format ''"),
        ("a.parquet.gz", "compressed"),
    ):
        with pytest.raises(ConfigError, match=message):
            record_format(name)
    with pytest.raises(DataError, match="file not found"):
        list(read_records(tmp_path / "a.csv"))
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError):
        list(read_records(tmp_path / "a.parquet"))


def test_nothing_is_left_of_an_output_that_fails(tmp_path: Path) -> None:
    def rows() -> Any:
        yield {"a": 1}
        raise DataError("broken")

    for name in ("a.jsonl", "a.csv", "a.parquet"):
        with pytest.raises(DataError, match="broken"):
            write_records(rows(), tmp_path / name, ["a"], pa.schema([pa.field("a", pa.int64())]))
    assert not list(tmp_path.iterdir())


def test_keys_of_json_lines_are_kept(tmp_path: Path) -> None:
    rows = [{"b": 1, "a": {"c": [None, True]}}, {"a": "x"}]
    write_records(rows, tmp_path / "a.jsonl", ["a"])
    assert [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()] == rows


def test_what_the_library_of_data_sets_reads_knows_new_columns() -> None:
    features = {"text": {"dtype": "string", "_type": "Value"}}
    described = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    schema = pa.schema([pa.field("text", pa.string())], described)
    numbers = with_columns(schema, {"score": pa.float64(), "count": pa.int64()})
    known = json.loads(numbers.metadata[b"huggingface"])["info"]["features"]
    assert {name: feature["dtype"] for name, feature in known.items()} == {
        **{"text": "string", "score": "float64", "count": "int64"}
    }
    lists = with_columns(schema, {"scores": pa.list_(pa.float32()), "score": pa.float64()})
    assert lists.names == ["text", "scores", "score"]
    assert b"huggingface" not in (lists.metadata or {})
