"""A table that is filtered as it is read: the same bytes as in two stages, the same reasons, and it resumes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import paraloom
from paraloom.api import run
from paraloom.pipeline import execution

WHERE = "judge > 0.5 and tgt <> 'other 8'"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    columns = {name: [f"{text} {n}" for n in range(900)] for name, text in (("src", "text"), ("tgt", "other"))}
    judged = [None if n % 7 == 0 else n % 10 / 10 for n in range(900)]
    paraloom.as_pairs(columns | {"judge": judged}).write(tmp_path / "judged.parquet")
    return tmp_path / "judged.parquet"


def test_one_pass_has_the_bytes_and_reasons_of_two(table: Path) -> None:
    filtered = paraloom.read_pairs(table).filter(WHERE)
    one = filtered.write(table.with_name("one.parquet"), workers=1)
    two = filtered.write(table.with_name("two.parquet"), workers=1, on_error="reject")
    assert [len(result.stages) for result in (one, two)] == [1, 2]
    assert table.with_name("one.parquet").read_bytes() == table.with_name("two.parquet").read_bytes()
    assert one.stages[-1].reasons == two.stages[-1].reasons
    assert one.stages[-1].counts == two.stages[-1].counts
    assert not [*table.parent.glob("*.rejected.jsonl")]


@pytest.mark.parametrize("criterion", [{"sample": 5}, {"distinct": True}, {"top": 0.5, "by": "judge"}])
def test_what_has_to_know_all_rows_is_a_stage_of_its_own(table: Path, criterion: dict[str, Any]) -> None:
    stages = paraloom.read_pairs(table).filter(WHERE, **criterion).stages
    assert run.in_one_pass(stages) == stages


def test_one_pass_resumes(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_LARGE_SHARD_ROWS", 200)
    filtered = paraloom.read_pairs(table).filter(WHERE)
    whole = filtered.write(table.with_name("whole.parquet"), workers=1)
    write = execution._write

    def interrupted(name: str, *others: Any) -> Any:
        if name == "part-00002.parquet":
            raise KeyboardInterrupt
        return write(name, *others)

    output = table.with_name("kept.parquet")
    with monkeypatch.context() as patched:
        patched.setattr(execution, "_write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            filtered.write(output, workers=1)
    assert not output.exists()
    resumed = filtered.write(output, workers=1)
    assert (resumed.stages[-1].written, resumed.stages[-1].shards, resumed.digest) == (3, 5, whole.digest)
    assert output.read_bytes() == table.with_name("whole.parquet").read_bytes()
