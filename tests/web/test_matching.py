"""Opening sets of rows, filtering, sorting and searching them: against plain Python over the same rows."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pyarrow as pa
import pytest
from processes import TIMEOUT
from toy_pairs import toy_pairs, write_toy_pairs, write_toy_run

from paraloom.core.errors import ConfigError, DataError
from paraloom.io import write_corpus, write_table
from paraloom.io.database import sql_text
from paraloom.web import dataset as datasets
from paraloom.web import matching, row_files
from paraloom.web.bins import find_bins, plain_number, round_edges
from paraloom.web.dataset import Dataset
from paraloom.web.limits import AbandonedError, limited
from paraloom.web.matching import Matcher, RowFilter
from paraloom.web.sources import find_source, stage_source
from paraloom.web.state import ViewState, identifier, narrowed
from paraloom.web.threshold_page import Threshold, apply


def open_dataset(path: Path, folder: Path, **columns: str) -> Dataset:
    return Dataset(find_source(path, **columns), folder / "rows")


def make_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let more than 100 rows be many: samples, steps and what is kept are smaller than the toy pairs."""
    monkeypatch.setattr(datasets, "WHOLE_ROWS", 100)
    monkeypatch.setattr(datasets, "SAMPLE_ROWS", 120)
    monkeypatch.setattr(datasets, "_READ_GROUPS", (3, 3))
    monkeypatch.setattr(datasets, "STEP_ROWS", 37)
    monkeypatch.setattr(row_files, "_READ_ROWS", 37)


@pytest.fixture(params=["exact", "searched in steps"])
def dataset(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """The toy pairs; once with limits so low that they are not held in memory, and in four files."""
    if request.param == "exact":
        return open_dataset(write_toy_pairs(tmp_path / "toy.parquet"), tmp_path)
    make_large(monkeypatch)
    write_corpus(tmp_path / "toy", [toy_pairs()], kind="PAIRS", shard_rows=80)
    return open_dataset(tmp_path / "toy", tmp_path)


CASES = [
    (RowFilter(), lambda row: True),
    (RowFilter(where="quality > 0.5"), lambda row: (row["quality"] or 0) > 0.5),
    (RowFilter(where="not quality > 0.5"), lambda row: row["quality"] is not None and row["quality"] <= 0.5),
    (RowFilter(where="quality is null"), lambda row: row["quality"] is None),
    (RowFilter(where="origin = 'it''s <b>'"), lambda row: row["origin"] == "it's <b>"),
    (RowFilter(where="origin <> 'news' and src_tokens = 5"),
     lambda row: row["origin"] != "news" and row["src_tokens"] == 5),
    (RowFilter(where="length(src) > 40"), lambda row: len(row["src"]) > 40),
    (RowFilter(where="length(src) > 40 and quality < 0.5 and origin = 'news'"),
     lambda row: len(row["src"]) > 40 and (row["quality"] or 1) < 0.5 and row["origin"] == "news"),
    (RowFilter(search="GARDEN"), lambda row: "garden" in (row["src"] + "\n" + row["tgt"]).lower()),
    (RowFilter(search="%"), lambda row: False),
    (RowFilter(where="quality > 0.2 or src_tokens < 6", search="old man"),
     lambda row: ((row["quality"] or 0) > 0.2 or row["src_tokens"] < 6)
     and "old man" in row["src"] + "\n" + row["tgt"]),
]  # fmt: skip


@pytest.mark.parametrize("sort", ["", "quality", "-quality", "-src_tokens"])
@pytest.mark.parametrize(("chosen", "holds"), CASES, ids=[repr(case[0]) for case in CASES])
def test_filters_agree_with_plain_python(dataset: Dataset, chosen: RowFilter, holds: object, sort: str) -> None:
    rows = toy_pairs().to_pylist()
    expected = [i for i, row in enumerate(rows) if holds(row)]  # type: ignore[operator]
    if sort:
        name, sign = sort.removeprefix("-"), -1 if sort.startswith("-") else 1
        expected.sort(key=lambda i: (rows[i][name] is None, sign * (rows[i][name] or 0)))
    matches = Matcher(dataset).matches(RowFilter(chosen.where, chosen.search, sort))
    while sort and not matches.is_complete:
        matches.advance(0.0)
    hits = matches.page(0, 7).tolist()
    while not matches.is_complete:
        matches.advance(0.0)
    assert matches.total == len(expected)
    whole = matches.page(0, 300).tolist()
    assert whole[:7] == hits and matches.page(3, 4).tolist() == hits[3:]
    assert sorted(whole) == sorted(expected)
    if sort:
        assert [rows[i][name] for i in whole] == [rows[i][name] for i in expected]
    else:
        assert whole == expected


def test_an_incomplete_search_is_estimated_by_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_large(monkeypatch)
    dataset = open_dataset(write_toy_pairs(tmp_path / "toy.parquet"), tmp_path)
    matches = Matcher(dataset).matches(RowFilter(search="garden"))
    matches.advance(0.0)
    in_sample = sum("garden" in row["src"] + row["tgt"] for row in dataset.take(dataset.sample_rows))
    assert (matches.searched, matches.is_complete, matches.total) == (37, False, round(in_sample / 120 * 300))


@pytest.mark.parametrize("sort", ["", "quality", "-quality", "-src_tokens"])
def test_only_the_first_rows_of_a_large_set_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    dataset = open_dataset(write_toy_pairs(tmp_path / "toy.parquet"), tmp_path)
    chosen = RowFilter("src_tokens > 4", sort=sort)
    name, whole = sort.removeprefix("-") or "src", Matcher(dataset).matches(chosen)
    make_large(monkeypatch)
    monkeypatch.setattr(matching, "KEPT_ROWS", 30)
    large = open_dataset(tmp_path / "toy.parquet", tmp_path)
    matches = Matcher(large).matches(chosen)
    matches.advance(TIMEOUT)
    assert (large.is_sampled, matches.total, matches.reachable) == (True, whole.total, 30)
    values = [[row[name] for row in dataset.take(one.page(0, 30))] for one in (matches, whole)]
    assert values[0] == values[1]


def test_a_search_that_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_large(monkeypatch)
    dataset = open_dataset(write_toy_pairs(tmp_path / "toy.parquet"), tmp_path)
    matches = Matcher(dataset).matches(RowFilter(search="garden"))
    with limited(TIMEOUT, iter([False] * 9 + [True]).__next__), pytest.raises(AbandonedError):
        matches.advance(TIMEOUT)
    assert 0 < matches.searched < 300
    matches.advance(TIMEOUT)
    assert matches.total == sum("garden" in row["src"] + row["tgt"] for row in toy_pairs().to_pylist())


def test_files_that_change_during_a_search_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_large(monkeypatch)
    write_corpus(tmp_path / "toy", [toy_pairs()], kind="PAIRS", shard_rows=80)
    dataset = open_dataset(tmp_path / "toy", tmp_path)
    (tmp_path / "toy/part-00002.parquet").unlink()
    matches = Matcher(dataset).matches(RowFilter(search="garden"))
    for message in ("file not found", "the files have changed"):
        with pytest.raises(DataError, match=message):
            matches.advance(TIMEOUT)


def test_rows_are_taken_and_gathered(dataset: Dataset) -> None:
    rows = toy_pairs().to_pylist()
    assert dataset.take([299, 0, 64]) == [rows[299], rows[0], rows[64]]
    numbers = np.array([0, 5, 63, 64, 200, 299], np.int32)
    assert dataset.gather(numbers, ["src"]).column(0).to_pylist() == [rows[i]["src"] for i in numbers]
    assert dataset.gather(numbers[:0], ["src"]).num_rows == 0
    sample = dataset.sample_rows.tolist()
    assert sample == sorted(set(sample)) and len(sample) == (120 if dataset.is_sampled else 300)
    assert dataset.sample.to_pylist() == [rows[i] for i in sample]
    assert pa.concat_tables(dataset.steps(["src", "quality"])).to_pylist() == [
        {"src": row["src"], "quality": row["quality"]} for row in rows
    ]
    coded = dataset.coded("origin")
    assert coded is not None and coded.values[0] == rows[sample[0]]["origin"]
    assert [coded.values[code] for code in coded.codes] == [rows[i]["origin"] for i in sample]
    assert dataset.categories() == ["src_lang", "tgt_lang", "origin"]


@pytest.mark.parametrize("keeps", ["above", "below"])
@pytest.mark.parametrize("value", [0.0, 0.25, 0.3, 0.7, 1.0, 2.0])
def test_a_threshold_keeps_what_its_condition_keeps(dataset: Dataset, keeps: str, value: float) -> None:
    matcher = Matcher(dataset)
    for column in ("quality", "trigram_overlap", "src_tokens"):
        threshold = Threshold(column, value, keeps)
        outcome = apply(dataset, matcher.in_order("", "", column), threshold)
        expected = np.flatnonzero(matcher.sample_mask(threshold.clause, ""))
        assert sorted(outcome.kept.tolist()) == expected.tolist()
        assert outcome.total == len(dataset.sample_rows)
        assert len(outcome.undefined) == dataset.sample.column(column).null_count


def test_bins_count_what_their_conditions_keep(dataset: Dataset) -> None:
    matcher = Matcher(dataset)
    for column in ("quality", "trigram_overlap", "src_tokens"):
        bins = find_bins(dataset, column)
        assert bins is not None
        counts = [int(np.count_nonzero(matcher.sample_mask(bins.condition(i), ""))) for i in range(bins.size)]
        assert bins.counts() == counts


def test_edges_are_round() -> None:
    assert round_edges(np.array([3.0]), False)[0] <= 3.0 <= round_edges(np.array([3.0]), False)[-1]
    assert round_edges(np.linspace(0, 1, 300), False) == tuple(round(0.05 * i, 12) for i in range(21))
    assert plain_number(-0.5) == "-0.5"


@pytest.mark.parametrize(
    "where",
    ["nonsense >", "quality", "unknown > 1", "count(*) > 1", "quality > (select 1)", "random() > 0.5",
     "1); drop table rows"],
)  # fmt: skip
def test_bad_conditions_are_refused(dataset: Dataset, where: str) -> None:
    with pytest.raises(ConfigError):
        Matcher(dataset).matches(RowFilter(where=where))


def test_unknown_columns_to_sort_by_are_refused(dataset: Dataset) -> None:
    with pytest.raises(ConfigError, match="cannot sort"):
        Matcher(dataset).matches(RowFilter(sort="nothing"))


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl", ".tsv.gz"])
def test_tables_in_text_form_keep_all_columns_with_types(tmp_path: Path, suffix: str) -> None:
    pairs = toy_pairs(40).slice(4)
    path = tmp_path / f"toy{suffix}"
    write_table(pairs, path)
    dataset = open_dataset(path, tmp_path)
    assert dataset.numeric == [f.name for f in pairs.schema if not pa.types.is_string(f.type)]
    for own, row in zip(dataset.take(range(36)), pairs.to_pylist(), strict=True):
        assert own["src"] == row["src"] and own["src_tokens"] == row["src_tokens"]
        assert own["quality"] == pytest.approx(row["quality"], abs=1e-6)


def test_rows_that_cannot_be_read_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    path.write_bytes(b"src\ttgt\tscore\na\tb\t1\nc\td\nbad\xff\tx\t2\ne\tf\t\n")
    message = (
        r"bad\.tsv, row 2: expected 3 fields, got 2 \(2 rows cannot be read and are left out\)\.\n"
        "Correct the file"
    )
    with pytest.warns(UserWarning, match=message):
        dataset = open_dataset(path, tmp_path)
    assert [row["src"] for row in dataset.take(range(dataset.rows))] == ["a", "e"]
    assert dataset.rejected_count == 2 and [row for row, _ in dataset.rejected] == [2, 3]
    assert dataset.take([1])[0]["score"] is None


def test_bitext_and_renamed_columns(tmp_path: Path) -> None:
    (tmp_path / "x.de").write_text("Hallo\nTag\n")
    (tmp_path / "x.en").write_text("Hello\nDay\n")
    assert open_dataset(tmp_path / "x.{de,en}", tmp_path / "a").take([1], ["src", "tgt"]) == [
        {"src": "Tag", "tgt": "Day"}
    ]
    table = pa.table({"left": ["a"], "right": ["b"], "score": [0.5]})
    write_table(table, tmp_path / "other.parquet")
    dataset = open_dataset(tmp_path / "other.parquet", tmp_path / "b", src_column="left", tgt_column="right")
    assert dataset.take([0]) == [{"src": "a", "tgt": "b", "score": 0.5}]
    with pytest.raises(DataError, match="src and tgt"):
        open_dataset(tmp_path / "other.parquet", tmp_path / "c")
    lines = [json.dumps({"src": "a", "tgt": "b", "ok": True}), json.dumps({"src": "c", "tgt": "d", "ok": False})]
    with gzip.open(tmp_path / "flags.jsonl.gz", "wt") as stream:
        stream.write("\n".join(lines) + "\n")
    flags = open_dataset(tmp_path / "flags.jsonl.gz", tmp_path / "d")
    assert Matcher(flags).matches(RowFilter(where="ok")).page(0, 300).tolist() == [0]


def test_a_stage_has_kept_and_rejected_rows_with_reasons(tmp_path: Path) -> None:
    run = write_toy_run(tmp_path / "run")
    dataset = Dataset(stage_source(run / "20-filter", "20-filter"), tmp_path / "rows")
    rows = dataset.take(range(dataset.rows))
    assert len(rows) == 300
    for row in rows:
        kept = row["quality"] is not None and row["quality"] >= 0.3 and row["src_tokens"] <= 10
        assert row["status"] == ("kept" if kept else "rejected")
        assert (row["reason"] is None) == kept
    assert Matcher(dataset).matches(RowFilter(where="reason = 'not: quality >= 0.3'")).total > 0


def test_nothing_is_left_in_the_folder(tmp_path: Path) -> None:
    write_table(toy_pairs(40).slice(4), tmp_path / "toy.tsv")
    dataset = open_dataset(tmp_path / "toy.tsv", tmp_path)
    assert list((tmp_path / "rows").iterdir()) == []
    assert dataset.take([3])[0]["pair_id"] == "toy:7"


def test_damaged_and_missing_files_are_errors(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nothing")
    for name in ("broken.parquet", "missing.parquet", "missing.tsv", "missing"):
        with pytest.raises((DataError, ConfigError)):
            open_dataset(tmp_path / name, tmp_path / f"folder-{name}")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"run.json not found"):
        find_source(tmp_path / "empty")


def test_state_is_the_address() -> None:
    state = ViewState("toy", "a > 1 & b", "x y", "-a", 3, ("a", "b"))
    assert ViewState.from_query(parse_qs(urlsplit(state.url("/pairs")).query)) == state
    assert state.url("/pairs", sort="b") == ViewState("toy", "a > 1 & b", "x y", "b", 1, ("a", "b")).url("/pairs")
    assert ViewState.from_query({"page": ["x"]}).page == ViewState.from_query({"page": ["-4"]}).page == 1


@pytest.mark.parametrize("name", ["plain", "select", "with space", 'quo"te', "Größe", "1st"])
def test_names_and_texts_in_conditions(tmp_path: Path, name: str) -> None:
    draw = random.Random(1)
    values = [draw.random() for _ in range(20)]
    table = pa.table({"src": ["it's"] * 20, "tgt": ["b"] * 20, name: values})
    write_table(table, tmp_path / "t.parquet")
    dataset = open_dataset(tmp_path / "t.parquet", tmp_path)
    where = narrowed(
        f"{identifier(name)} > 0.5 or {identifier(name)} < 0.1", f"src = {sql_text(chr(39).join(['it', 's']))}"
    )
    hits = Matcher(dataset).matches(RowFilter(where=where)).page(0, 300).tolist()
    assert hits == [i for i, value in enumerate(values) if value > 0.5 or value < 0.1]
