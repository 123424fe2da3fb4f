"""Tables in text form, read with the types of their values."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from paraloom.core.errors import DataError
from paraloom.core.schema import PAIRS
from paraloom.io import write_table
from paraloom.io.typed_tables import read_typed

TEXTS = {name: ["a", "b", "c"] for name in PAIRS.names}


@pytest.mark.parametrize("name", ["t.tsv", "t.csv", "t.jsonl", "t.csv.gz"])
def test_what_was_written_is_read_again(tmp_path: Path, name: str) -> None:
    table = pa.table(
        {
            **TEXTS,
            "number": [0.5, None, -1e-9],
            "count": [3, None, -20],
            "kept": [True, False, None],
            "note": ["x", "", "1"],
        }
    )
    write_table(table, tmp_path / name)
    schema, batches = read_typed(tmp_path / name, PAIRS)
    read = pa.Table.from_batches(batches, schema)
    assert [str(schema.field(column).type) for column in ("number", "count", "kept", "note")] == [
        *("double", "int64", "bool", "string")
    ]
    assert read.to_pylist() == table.to_pylist()


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        (["1", "2.5", "3e-05"], "double"),
        (["nan", "", "-inf"], "double"),
        (["7", "007", "8"], "string"),
        (["1_000", "2", "3"], "string"),
        (["+1", "2", "3"], "string"),
        (["9" * 19, "1", "2"], "string"),
        (["9" * 18, "1", ""], "int64"),
        (["1234567890123456", "2.5", ""], "string"),
        (["123456789012345", "2.5", "1e+17"], "double"),
        (["true", "1", "false"], "string"),
        (["", "", ""], "string"),
        (["0", "-5", ""], "int64"),
    ],
)
def test_a_column_has_the_type_of_all_its_fields(tmp_path: Path, fields: list[str], kind: str) -> None:
    write_table(pa.table({**TEXTS, "x": fields}), tmp_path / "t.csv")
    schema, batches = read_typed(tmp_path / "t.csv", PAIRS)
    values = pa.Table.from_batches(batches, schema).column("x")
    assert str(values.type) == kind
    expected = [None if field == "" and kind != "string" else field for field in fields]
    cast = {"double": float, "int64": int, "string": str}[kind]
    assert str(values.to_pylist()) == str([None if field is None else cast(field) for field in expected])


def test_texts_stay_texts(tmp_path: Path) -> None:
    write_table(pa.table({**TEXTS, "src": ["1", "2", "3"]}), tmp_path / "t.tsv")
    schema, batches = read_typed(tmp_path / "t.tsv", PAIRS)
    assert pa.Table.from_batches(batches, schema).column("src").to_pylist() == ["1", "2", "3"]


def test_a_row_that_cannot_be_read_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("src\ttgt\tx\na\tb\t1\nc\td\ne\tf\t2\n")
    bad: list[tuple[int, str, str]] = []
    texts = pa.schema([("src", pa.string()), ("tgt", pa.string())])
    schema, batches = read_typed(tmp_path / "t.tsv", texts, lambda *row: bad.append(row))
    assert [row["x"] for row in pa.Table.from_batches(batches, schema).to_pylist()] == [1, 2]
    assert [(row, reason) for row, reason, _ in bad] == [(2, "expected 3 fields, got 2")]


def test_a_text_of_json_must_be_text(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"src": 1, "tgt": "b"}\n')
    _, batches = read_typed(tmp_path / "t.jsonl", pa.schema([("src", pa.string()), ("tgt", pa.string())]))
    with pytest.raises(DataError, match="column 'src' must be string"):
        list(batches)
