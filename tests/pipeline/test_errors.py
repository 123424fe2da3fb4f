"""Clause 5 of the contract: each error names stage, file, row and remedy, and what was finished stands."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest
from processes import python
from toy_runs import run, toml

from paraloom.core.errors import ConfigError, DataError, MissingExtraError, ParaloomError, RunError
from paraloom.pipeline.counts import RowCounts
from paraloom.pipeline.splits import split

COUNT = {"use": "Count", "sentences": 100}

FAULTS = [
    ("data", DataError, 51, "the sentence is unusable", "Fix the row, or run with --on-error=reject"),
    ("batch", DataError, 51, "the sentence is unusable", "Fix the row, or run with --on-error=reject"),
    ("lose", RunError, 1, "row counts do not add up", "this is a bug of the stage"),
    ("bug", RunError, None, "ZeroDivisionError: division by zero", "please report it"),
    ("full", RunError, None, "system error: No space left on device", "Fix that, and run again"),
    (
        "full-library",
        RunError,
        None,
        "system error: No space left on device (Safetens",
        "Fix that, and run again",
    ),
    ("columns", RunError, None, "its columns differ from those of part-00000.parquet: more int64", "bug of the stage"),
]


@pytest.mark.parametrize(("how", "kind", "row", "what", "remedy"), FAULTS)
def test_faults(how: str, kind: type[ParaloomError], row: int | None, what: str, remedy: str, tmp_path: Path) -> None:
    """The sentence at fault is the 51st, the eleventh of the second shard."""
    text = toml(COUNT, {"use": "Faulty", "how": how})
    with pytest.raises(kind) as raised:
        run(text, tmp_path / "run")
    error = raised.value
    assert what in error.what
    assert (error.stage, Path(error.file or "").name) == ("20-faulty", "part-00001.parquet")
    assert error.row == (11 if row == 51 else row)
    assert remedy in (error.remedy or "")
    healed = run(text.replace('use = "toy_stages:Faulty"', 'use = "toy_stages:Faulty"\nat = 1000'), tmp_path / "run")
    assert healed.stage("faulty").counts == RowCounts(100, 100, 0, 0, 100)


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ("die", "a worker crashed: it ended with status 3"),
        ("kill", "a worker crashed: it was ended by SIGKILL, as the system does when memory runs out"),
        ("bug", "ZeroDivisionError: division by zero"),
    ],
)
@pytest.mark.slow
def test_a_dead_worker(how: str, what: str, tmp_path: Path) -> None:
    """An error, not a hang; and an error crosses from the worker with its shard."""
    with pytest.raises(RunError) as raised:
        run(toml(COUNT, {"use": "Faulty", "how": how}), tmp_path / "run", engine="local", workers=1)
    assert raised.value.what == what
    assert raised.value.stage == "20-faulty"
    assert raised.value.file == str(tmp_path / "run" / "10-count" / "part-00001.parquet")
    assert "finished shards are kept" in str(raised.value).lower()


FULL = """
import resource, sys
from processes import python
from toy_runs import run, toml
from paraloom.core.errors import RunError
text = toml({"use": "Bulk", "sentences": 8000}, {"use": "Upper"})
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
try:
    run(text, sys.argv[1])
except RunError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(run(text, sys.argv[1]).stage("upper").counts.kept)
"""


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path) -> None:
    """Simulated by a limit on file sizes: no half-written shard is left, and with space the run resumes."""
    done = python(FULL, tmp_path / "run")
    shard = tmp_path / "run" / "10-bulk" / "part-00000.parquet"
    what, remedy, kept = done.stdout.splitlines()
    assert what == f"stage 10-bulk, {shard}: cannot write: the disk is full (File too large)."
    assert remedy.startswith("Free space there")
    assert kept == "8000"


def test_a_corrupt_input(tmp_path: Path) -> None:
    run(toml(COUNT), tmp_path / "first")
    shard = tmp_path / "first" / "10-count" / "part-00001.parquet"
    shard.write_bytes(shard.read_bytes()[:-30])
    with pytest.raises(DataError, match="truncated, corrupt or not Parquet") as raised:
        run(toml({"use": "Upper", "input": "first/10-count"}), tmp_path / "second")
    assert (raised.value.stage, raised.value.file) == ("10-upper", str(shard))
    assert raised.value.remedy


def test_a_missing_column(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"stage 20-needy, .*: column 'txet' not found; did you mean 'text'") as raised:
        run(toml(COUNT, {"use": "Needy"}), tmp_path / "run")
    assert raised.value.remedy == "Put the stage that adds it before this one."


def test_no_rows(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(DataError, match=r"stage 10-lines, .*empty.txt: no rows to read"):
        run(toml({"use": "Lines", "path": "empty.txt"}), tmp_path / "empty")
    none = toml(COUNT, {"use": "Even", "every": 1000}, {"use": "Even", "name": "again"})
    none = none.replace("sentences = 100", "sentences = 100\nfirst = 1")
    with pytest.raises(DataError, match=r"stage 30-again, .*20-even: the corpus has no rows"):
        run(none, tmp_path / "none")
    with pytest.raises(RunError, match=r"stage 20-faulty, .*failed: every row failed"):
        run(toml({"use": "Count", "sentences": 1}, {"use": "Faulty", "how": "data", "at": 0}), tmp_path / "all",
            on_error="reject")  # fmt: skip


def test_unknown_words(tmp_path: Path) -> None:
    for options in ({"engine": "locl"}, {"on_error": "ignore"}, {"workers": 0}, {"until": "cuont"}):
        with pytest.raises(ConfigError):
            run(toml(COUNT), tmp_path / "run", **options)


def test_ray_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError) as raised:
        run(toml(COUNT), tmp_path / "run", engine="ray")
    assert raised.value.remedy == "Run: pip install 'paraloom[cluster]'"


VERDICTS = [
    ({"keep": [True, None], "reason": ["", ""]}, "column 'keep' is bool with 1 nulls"),
    ({"keep": [1, 0], "reason": ["", ""]}, "column 'keep' is int64"),
    ({"keep": [True, False]}, "'reason' is missing"),
]


@pytest.mark.parametrize(("columns", "what"), VERDICTS)
def test_verdicts_that_are_none(columns: dict[str, list[object]], what: str) -> None:
    with pytest.raises(RunError, match=what):
        split(pa.RecordBatch.from_pydict(columns))
