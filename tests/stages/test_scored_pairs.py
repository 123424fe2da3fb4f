"""One verb's file is the next verb's input: its columns come along, and a spoilt file is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraloom.core.errors import DataError
from paraloom.core.schema import signature_of
from paraloom.core.stage import StageContext
from paraloom.stages.bitext import ReadScoredPairs, has_further_columns

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def scored(paraloom: Run, tmp_path: Path) -> Path:
    lines = ["src\ttgt", "the dog sleeps\tthe dog is asleep", "a cat\ta cat", "here we are\tthis is the place"]
    (tmp_path / "pairs.tsv").write_text("".join(f"{line}\n" for line in lines))
    assert paraloom("score", "pairs.tsv", "--with", "overlap,length", "-o", "scored.parquet")[0] == 0
    return tmp_path / "scored.parquet"


def test_what_was_scored_can_be_filtered(paraloom: Run, scored: Path) -> None:
    status, _, err = paraloom("filter", scored, "--where", "unigram_overlap < 0.9", "-o", "kept.parquet")
    assert status == 0, err
    before, after = pq.read_table(scored), pq.read_table(scored.parent / "kept.parquet")
    assert after.column("tgt").to_pylist() == ["the dog is asleep", "this is the place"]
    assert after.schema.names == before.schema.names
    assert "unigram_overlap|" in signature_of(after.schema.field("unigram_overlap"))


def test_a_file_of_others_is_none_of_these(tmp_path: Path, scored: Path) -> None:
    pq.write_table(pa.table({"src": ["a"], "tgt": ["b"], "score": [1.0]}), tmp_path / "other.parquet")
    assert has_further_columns(str(scored))
    assert not has_further_columns(str(tmp_path / "other.parquet"))
    assert not has_further_columns(str(tmp_path / "pairs.tsv"))
    assert not has_further_columns(str(tmp_path / "nothing.parquet"))


def test_a_null_side_is_named_with_its_row(scored: Path) -> None:
    table = pq.read_table(scored)
    sides = pa.array(["a", None, "c"], table.schema.field("tgt").type)
    pq.write_table(table.set_column(table.schema.names.index("tgt"), table.schema.field("tgt"), sides), scored)
    with pytest.raises(DataError, match="'tgt' is null") as caught:
        list(ReadScoredPairs(source=scored).batches(StageContext(1)))
    assert caught.value.row == 2
