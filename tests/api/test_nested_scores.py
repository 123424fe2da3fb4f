"""Scores of the pairs inside records: a list in the order of the texts, its minimum and mean; no more changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraloom import read_pairs
from paraloom.api import nested_scores, score_records
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.stage import StageContext
from paraloom.stages import Score

ROWS: list[dict[str, Any]] = [
    {"id": 1, "turns": [{"de": "Ein Hund schläft heute", "en": "a dog"}, {"de": "Ja", "en": "yes it is"}]},
    {"id": 2, "turns": [{"de": None, "en": "a dog"}, {"de": "  ", "en": "no"}, {"de": "Eins zwei", "en": "one"}]},
    {"id": 3, "turns": []},
    {"id": 4},
]
PATHS: dict[str, Any] = {"src_column": "turns.*.de", "tgt_column": "turns.*.en"}
TOKENS = [([4, 1], 1, 2.5), ([None, None, 2], 2, 2.0), ([], None, None), ([], None, None)]
"""Source tokens of each pair by hand, their minimum and mean."""


def write(rows: list[dict[str, Any]], path: Path) -> str:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("workers", [1, 2])
def test_each_pair_has_its_score_and_each_row_minimum_and_mean(tmp_path: Path, workers: int) -> None:
    source, output = write(ROWS, tmp_path / "a.jsonl"), tmp_path / "out.jsonl"
    result = score_records(source, str(output), **PATHS, scores=["src_tokens"], workers=workers)
    assert (result.rows, result.pairs, result.scored) == (4, 5, 3)
    expected = [
        {**row, "src_tokens": values, "src_tokens_min": lowest, "src_tokens_mean": mean}
        for row, (values, lowest, mean) in zip(ROWS, TOKENS, strict=True)
    ]
    assert read(output) == expected


def test_numbers_of_32_bits_are_short(tmp_path: Path) -> None:
    source = write([{"t": [{"de": "a b c", "en": "a b"}]}], tmp_path / "a.jsonl")
    score_records(
        source, str(tmp_path / "out.jsonl"), src_column="t.*.de", tgt_column="t.*.en", scores=["character_ratio"]
    )
    assert read(tmp_path / "out.jsonl")[0]["character_ratio"] == [1.6666666]  # 5 / 3


def test_a_path_that_a_record_lacks_is_named_with_the_nearest(tmp_path: Path) -> None:
    source = write([{"t": [{"de": "a", "en": "b"}]}], tmp_path / "a.jsonl")
    with pytest.raises(DataError, match=r"0 at 't\.\*\.enn'; did you mean 't\.\*\.en'\?"):
        score_records(source, str(tmp_path / "out.jsonl"), src_column="t.*.de", tgt_column="t.*.enn", scores=["length"])


def test_two_files_with_the_same_rows(tmp_path: Path) -> None:
    old: list[dict[str, Any]] = [
        {"m": [{"c": "one two three"}, {"c": "four"}], "n": 1},
        {"m": []},
        {"m": [{"c": "six"}]},
    ]
    new: list[dict[str, Any]] = [
        {"m": [{"c": "eins zwei drei"}, {"c": "vier"}], "n": 1},
        {"m": []},
        {"m": [{"c": "sechs"}]},
    ]
    write(old, tmp_path / "a.jsonl")
    write(new, tmp_path / "a.de.jsonl")
    output = tmp_path / "out.jsonl"
    score_records(f"{tmp_path}/{{a,a.de}}.jsonl", str(output), src_column="m.*.c", scores=["src_tokens"])
    assert read(output)[0]["m"] == new[0]["m"]
    assert [row["src_tokens"] for row in read(output)] == [[3, 1], [], [1]]
    write(new[:2], tmp_path / "a.de.jsonl")
    with pytest.raises(DataError, match="row 3: only one of the two files has this row"):
        score_records(f"{tmp_path}/{{a,a.de}}.jsonl", str(tmp_path / "b.jsonl"), src_column="m.*.c")


def test_a_text_is_paired_with_each_of_a_list(tmp_path: Path) -> None:
    source = write([{"text": "a b", "others": ["a b c", "d"]}], tmp_path / "a.jsonl")
    output = tmp_path / "out.jsonl"
    score_records(source, str(output), src_column="text", tgt_column="others.*", scores=["tgt_tokens"])
    assert read(output)[0] | {"text": ""} == {
        "text": "", "others": ["a b c", "d"], "tgt_tokens": [3, 1], "tgt_tokens_min": 1, "tgt_tokens_mean": 2.0
    }  # fmt: skip


def test_pairs_of_records_are_read_one_by_one(tmp_path: Path) -> None:
    pairs = read_pairs(write(ROWS, tmp_path / "a.jsonl"), **PATHS).to_list()
    assert [(pair["pair_id"], pair["tgt"]) for pair in pairs] == [
        ("a:1:1", "a dog"), ("a:1:2", "yes it is"), ("a:2:3", "one")
    ]  # fmt: skip


def test_parquet_has_lists_of_scores(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS[:3]), tmp_path / "a.parquet")
    score_records(str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"), **PATHS, scores=["src_tokens"])
    table = pq.read_table(tmp_path / "b.parquet")
    assert pa.types.is_list(table.schema.field("src_tokens").type)
    assert table.column("src_tokens").to_pylist() == [values for values, _, _ in TOKENS[:3]]
    assert table.column("src_tokens_mean").to_pylist() == [2.5, 2.0, None]
    assert table.select(["id", "turns"]).equals(pq.read_table(tmp_path / "a.parquet"))


def test_bad_records_name_file_row_and_remedy(tmp_path: Path) -> None:
    rows = [{"de": ["a", "b"], "en": ["c"]}, {"de": ["a b"], "en": ["c"]}]
    source, output = write(rows, tmp_path / "a.jsonl"), tmp_path / "out.jsonl"
    paths: dict[str, Any] = {"src_column": "de.*", "tgt_column": "en.*"}
    with pytest.raises(DataError, match=r"a.jsonl, row 1: .* 2 at 'de\.\*', 1 at 'en\.\*'.*\n.*null"):
        score_records(source, str(output), **paths, scores=["src_tokens"])
    with pytest.warns(UserWarning, match="row 1 of"):
        score_records(source, str(output), **paths, scores=["src_tokens"], on_error="reject")
    assert [row["src_tokens"] for row in read(output)] == [[2]]
    with pytest.raises(DataError, match=r"no row has a text at 'en\.\*\.x'; did you mean 'en\.\*'"):
        score_records(source, str(tmp_path / "b.jsonl"), src_column="de.*", tgt_column="en.*.x", on_error="reject")
    with pytest.raises(ConfigError, match="same format"):
        score_records(source, str(tmp_path / "b.tsv"), **paths)
    taken = write([{"de": ["a"], "en": ["b"], "src_tokens": 1}], tmp_path / "c.jsonl")
    with pytest.raises(DataError, match=r"row 1: .*a column 'src_tokens' already"):
        score_records(taken, str(tmp_path / "b.jsonl"), **paths, scores=["src_tokens"])


@pytest.mark.parametrize("column", ["src_tokens", "src_tokens_mean", "judge_min"])
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_a_column_with_the_name_of_a_score_is_an_error_before_any_work(
    column: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested_scores, "run_stages", None)  # The first work
    rows = [{"de": ["a"], "en": ["b"]}, {"de": ["a"], "en": ["b"], column: 1}]
    source = write(rows, tmp_path / "a.jsonl")
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist([rows[1]]), source := str(tmp_path / "a.parquet"))
    scoring: dict[str, Any] = {"src_column": "de.*", "tgt_column": "en.*", "scores": ["length", "judge"]}
    where = r"a.jsonl, row 2: " if suffix == ".jsonl" else r"a.parquet: "
    with pytest.raises(DataError, match=rf"stage score, .*{where}.*'{column}' already.*\n.*leave that score out"):
        score_records(source, str(tmp_path / f"out{suffix}"), **scoring)


def test_the_columns_that_a_score_will_add_are_known_before() -> None:
    batch = pa.RecordBatch.from_pylist([{"src": "A dog sleeps.", "tgt": "A dog is asleep."}])
    stage = Score(scores=("common", "length"))
    assert stage.known_columns() == stage.apply(batch, StageContext(seed=1)).schema.names[2:]
    assert Score(scores=(), encoder="english", language_model="lm").known_columns() == ["paraphrase_score"]
    assert Score(scores=("bilingual",), encoder="both").known_columns() == ["bilingual_similarity"]
    assert Score(scores=("judge",)).known_columns() == ["judge", "judge_backward", "judge_forward"]
