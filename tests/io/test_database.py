"""Databases: names of columns and files are data, and a query can neither read nor write files."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraloom.core.errors import DataError
from paraloom.core.schema import PAIRS
from paraloom.io import write_shard
from paraloom.io.database import Sql, open_database, register_shards, sql, sql_list, sql_text
from paraloom.pairs.common_translations import common_translations
from paraloom.web.corpus_stats import Distribution, distributions, reasons

QUERY_IN_A_NAME = """a"::DOUBLE) THEN 1 END AS value FROM (SELECT 1 AS a); COPY (SELECT 'x') TO '{file}'; --"""


def shard(folder: Path, columns: dict[str, object], name: str = "part-00000.parquet") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    write_shard(folder / name, table, table.schema)
    return folder / name


def distribution(path: Path, name: str, edges: tuple[float, ...] | None) -> Distribution:
    values = distributions([path], {name: edges})[name]
    assert values is not None
    return values


def test_a_column_name_is_never_executed(tmp_path: Path) -> None:
    written = tmp_path / "written.csv"
    name = QUERY_IN_A_NAME.format(file=written)
    path = shard(tmp_path, {"src": ["a", "b"], "tgt": ["c", "d"], name: [1.0, 3.0]})
    assert distribution(path, name, None).edges == (1.0, 2.0, 3.0)
    assert distribution(path, name, (1.0, 2.0, 3.0)).counts == (1, 1)
    assert not written.exists()


@pytest.mark.parametrize(
    "name", ['"', "'", "a b", "value", "name", "grouped", "shards", "c1", "select", "", "\n", "x\0y", "é"]
)
def test_columns_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = shard(tmp_path, {"src": ["a", "b"], "tgt": ["c", "d"], name: [1.5, 2.5], "reason": ["x", "x"]})
    assert distribution(path, name, (1.0, 2.0, 3.0)).counts == (1, 1)
    (sample,) = reasons([path])
    assert (sample.group, sample.total) == ("x", 2) and {row[name] for row in sample.rows} == {1.5, 2.5}


def test_columns_that_differ_in_case_are_told_apart(tmp_path: Path) -> None:
    path = shard(tmp_path, {"src": ["a"], "tgt": ["b"], "Cost": [1.0], "cost": [7.0]})
    assert [distribution(path, name, (0.0, 4.0, 8.0)).counts for name in ("Cost", "cost")] == [(1, 0), (0, 1)]


def test_paths_are_not_patterns(tmp_path: Path) -> None:
    for folder, cost in {"w[12]": 1.0, "w1": 2.0, "w2": 3.0, "w*": 4.0, "w?": 5.0}.items():
        shard(tmp_path / folder, {"src": ["a"], "tgt": ["b"], "cost": [cost], "reason": ["x"]})
    for folder, cost in {"w[12]": 1.0, "w*": 4.0, "w?": 5.0}.items():
        (sample,) = reasons([tmp_path / folder / "part-00000.parquet"])
        assert [row["cost"] for row in sample.rows] == [cost]


def test_translations_are_those_of_the_named_files(tmp_path: Path) -> None:
    for folder, texts in {"w[12]": ("Hi", "Hello"), "w1": ("no", "never")}.items():
        rows = [
            dict(zip(PAIRS.names, [str(n), "Hallo", text, "de", "en", "o"], strict=True))
            for n, text in enumerate(texts)
        ]
        (tmp_path / folder).mkdir()
        write_shard(tmp_path / folder / "p.parquet", pa.Table.from_pylist(rows, PAIRS), PAIRS)
    (batch,) = common_translations([tmp_path / "w[12]" / "p.parquet"])
    assert {*batch.column("src").to_pylist(), *batch.column("tgt").to_pylist()} == {"Hi", "Hello"}


def test_values_that_a_database_cannot_hold_are_left_out(tmp_path: Path) -> None:
    columns = {
        "src": ["a", "b"],
        "cost": pa.array([1, 2], pa.float16()),
        "exact": pa.array([1, 2], pa.decimal256(50, 2)),
        "vector": pa.array([[1.0, 2.0]] * 2, pa.list_(pa.float32(), 2)),
        "took": pa.array([1, 2], pa.duration("s")),
        "counts": pa.array([[("a", 1)]] * 2, pa.map_(pa.string(), pa.int32())),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    edges = (0.0, 1.5, 3.0)
    assert [distribution(tmp_path / "a.parquet", name, edges).counts for name in ("cost", "exact")] == [(1, 1)] * 2


def test_a_flipped_byte_of_a_shard_is_noticed(tmp_path: Path) -> None:
    draw = random.Random(1)
    path = shard(tmp_path, {"cost": [draw.random() for _ in range(2000)]})
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(DataError, match="corrupt"), open_database() as database:
        register_shards(database, "shards", [path])
        fetch_all(database, sql("SELECT * FROM shards"))
    with pytest.raises(DataError, match="checksum") as caught:
        distribution(path, "cost", (0.0, 1.0))
    assert str(caught.value).startswith(str(tmp_path))


def fetch_all(database: duckdb.DuckDBPyConnection, query: Sql) -> list[tuple[object, ...]]:
    return database.execute(query).fetchall()


@pytest.mark.parametrize(
    "query",
    [
        "COPY (SELECT 1) TO '{file}'",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM '{file}'",
        "ATTACH '{file}'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SELECT * FROM local_table",
    ],
)
def test_a_query_has_no_files_settings_or_variables(tmp_path: Path, query: str) -> None:
    local_table = pa.table({"a": [1]})
    file = tmp_path / "a.csv"
    with open_database(scratch=tmp_path / "scratch") as database, pytest.raises(duckdb.Error):
        database.execute(query.format(file=file)).fetchall()
    assert not file.exists() and local_table.num_rows == 1


def test_what_does_not_fit_into_memory_goes_to_the_scratch_folder(tmp_path: Path) -> None:
    with open_database(memory="40MB", scratch=tmp_path / "scratch") as database:
        query = sql("SELECT max(text) FROM (SELECT md5(range::VARCHAR) AS text FROM range({}) ORDER BY text)", 10**6)
        assert len(str(fetch_all(database, query)[0][0])) == 32


def test_parts_of_queries_are_quoted() -> None:
    assert sql("{} {} {} {}", 'a"b', 3, 0.5, sql("x")) == '"a""b" 3 0.5 x'
    assert sql("{x}", x=float("inf")) == "'inf'::DOUBLE"
    assert sql_list([sql("{} := {}", "a", 1), "b"]) == '"a" := 1, "b"'
    assert sql_text("it's") == "'it''s'"
    with pytest.raises(DataError, match="NUL"):
        sql("{}", "a\0b")
    with pytest.raises(TypeError, match="list"):
        sql("{}", ["a"])


def test_an_interrupt_while_rows_are_handed_over_is_an_interrupt() -> None:
    class Rows:
        def __arrow_c_schema__(self) -> object:
            return pa.schema({"a": pa.int64()}).__arrow_c_schema__()

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_database() as database:
        database.register("rows", Rows())
        database.execute('SELECT * FROM "rows"').fetchall()
