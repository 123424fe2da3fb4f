"""The contract of runs, clause by clause, with toy pipelines; errors are in test_run_errors.py."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from processes import TIMEOUT, environment, is_gone, kill, python, wait_until
from screen import Screen
from toy_runs import begin, contents, marks_in, run, shards_done, toml

from paraloom.core.errors import DataError, RunError
from paraloom.core.schema import SENTENCES
from paraloom.io import Corpus, write_corpus
from paraloom.pipeline.counts import RowCounts

CHAIN = toml(
    {"use": "Count", "sentences": 150, "bad": 3},
    {"use": "Upper"},
    {"use": "Even"},
    {"use": "Echo"},
    {"use": "Total", "corpora": ["count", "echo"]},
)


@pytest.mark.parametrize(
    "options",
    [
        {"engine": "local", "workers": 1},
        {"engine": "local", "workers": 2},
        pytest.param(
            {"engine": "ray", "workers": 2},
            marks=pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="ray is not installed"),
        ),
    ],
    ids=["local 1", "local 2", "ray 2"],
)
@pytest.mark.slow
def test_same_bytes_everywhere(options: dict[str, object], tmp_path: Path) -> None:
    """Clause 1: against one run in this process, with a seeded stage, a filter and rows that fail."""
    here = run(CHAIN, tmp_path / "here")
    try:
        there = run(CHAIN, tmp_path / "there", **options)
    except RunError as error:
        if error.what.startswith("Ray cannot be started"):
            pytest.skip(error.what)  # It gives up on a machine that is too busy.
        raise
    assert there.digest == here.digest
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_seeds_differ(tmp_path: Path) -> None:
    """Another seed gives other bytes; so do another stage's name, shard and batch, or `noise` would repeat."""
    twice = toml({"use": "Count", "sentences": 80}, {"use": "Upper", "name": "a"}, {"use": "Upper", "name": "b"})
    twice = twice.replace('"b"', '"b"\ninput = "count"')
    first = run(twice, tmp_path / "first")
    other = run(twice.replace("seed = 1", "seed = 2"), tmp_path / "other")
    assert first.digest != other.digest
    drawn = [
        value
        for stage in ("20-a", "30-b")
        for shard in Corpus.open(tmp_path / "first" / stage).batches(["noise"])
        for value in shard["noise"].to_pylist()
    ]
    assert len(set(drawn)) == 160


SCRIPT = """
import sys
from toy_runs import run, toml
print("started")
run(toml({"use": "Count"}, {"use": "Upper"}), sys.argv[1], engine="local", workers=1)
"""


@pytest.mark.slow
def test_workers_do_not_run_the_script_again(tmp_path: Path) -> None:
    """A script that runs a pipeline needs no `if __name__ == "__main__":`."""
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "run")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout == "started\n"


@pytest.mark.slow
def test_killed_in_the_middle_of_a_shard(tmp_path: Path) -> None:
    """Clause 2: six kills, the first in the middle of a shard; every shard is recorded once, with the same bytes."""
    expected = run(CHAIN, tmp_path / "clean").digest
    draw = random.Random(5)
    folder, kills = tmp_path / "killed", 0
    while kills < 6:
        # A stage holds still at one of the next events, while the other worker and the main process continue.
        hold = len(marks_in(tmp_path)) + draw.randint(1, 3)
        process = begin(CHAIN, folder, tmp_path, hold)
        wait_until(lambda hold=hold, process=process: len(marks_in(tmp_path)) >= hold or process.poll() is not None)
        with suppress(subprocess.TimeoutExpired):
            process.wait(draw.random() * 0.4)
        if process.poll() is not None:
            break
        kill(process)
        kills += 1
    assert kills >= 3, "the run was over before it could be killed"
    digest, error = begin(CHAIN, folder, tmp_path).communicate(timeout=TIMEOUT)
    assert digest.strip() == expected, error
    assert contents(folder) == contents(tmp_path / "clean")
    for stage in ("10-count", "20-upper", "30-even", "40-echo"):
        assert shards_done(folder / stage) == shards_done(tmp_path / "clean" / stage)
    assert not [path for path in folder.rglob("*") if path.name.endswith(".tmp")]


@pytest.mark.slow
def test_workers_end_with_a_killed_run(tmp_path: Path) -> None:
    """Clause 2: `kill -9` of the main process alone leaves no worker that writes on."""
    process = begin(CHAIN, tmp_path / "run", tmp_path, hold=1)
    wait_until(lambda: "upper 0" in marks_in(tmp_path), process)
    process.kill()
    wait_until(lambda: is_gone(process))
    process.communicate()


@pytest.mark.slow
def test_interrupted(tmp_path: Path) -> None:
    """Ctrl-C, which a terminal sends to the whole group, ends a run at once, with one plain message."""
    process = begin(CHAIN, tmp_path / "run", tmp_path, hold=1)
    wait_until(lambda: "upper 0" in marks_in(tmp_path), process)
    os.killpg(process.pid, signal.SIGINT)
    _, message = process.communicate(timeout=TIMEOUT)
    *progress, last = message.splitlines()  # On a busy machine, lines of progress come before.
    assert last == "Interrupted in stage 20-upper. Run the same again: it resumes from there."
    assert all("of 5" in line for line in progress)
    wait_until(lambda: is_gone(process))
    assert run(CHAIN, tmp_path / "run").stage("count").written == 0


@pytest.mark.parametrize("engine", ["inline", pytest.param("local", marks=pytest.mark.slow)])
def test_a_fit_shows_how_far_it_is(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kind: a training is most of a run's time, and in another process; its bar is shown all the same."""
    screen = Screen(terminal=True)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "120")
    run(CHAIN.replace('"toy_stages:Total"', '"toy_stages:Total"\ndelay = 0.3'), tmp_path / "run", engine=engine)
    shown = screen.text()
    assert "upper (2 of 5)" in shown
    done = {int(shard) for shard in re.findall(r"total \(5 of 5\): adding [^\r\n]* (\d+)/\d+ shards", shown)}
    assert len(done) >= 2, "the bar moves"


MEMORY = """
import sys
from toy_runs import run, toml
from paraloom.pipeline.memory import peak_memory
text = toml({"use": "Bulk", "sentences": int(sys.argv[1])}, {"use": "Grow"})
result = run(text, sys.argv[2], engine="local", workers=1)
print(peak_memory(), result.stage("grow").memory, result.stage("grow").counts.read)
"""


@pytest.mark.slow
def test_memory_is_bounded_by_the_batch(tmp_path: Path) -> None:
    """Clause 3: twenty times the rows, 130 MB of text more, in the memory of the few, for main process and worker.

    The allowance is for the allocator: it stabilizes some 40 MB higher after a hundred thousand rows, and stays there.
    """
    peaks = []
    for rows in (20_000, 400_000):
        main, worker, read = map(int, python(MEMORY, rows, tmp_path / str(rows)).stdout.split())
        assert read == rows
        peaks.append((main, worker))
    (few_main, few_worker), (many_main, many_worker) = peaks
    assert many_main < few_main + 60e6
    assert many_worker < few_worker + 60e6


def test_nothing_is_lost(tmp_path: Path) -> None:
    """Clause 4: read = kept + rejected + failed at every stage, and each row that was set aside says why."""
    result = run(CHAIN, tmp_path / "run")
    assert {stage.name: stage.counts for stage in result.stages} == {
        "count": RowCounts(150, 147, 3, 0, 147),
        "upper": RowCounts(147, 147, 0, 0, 147),
        "even": RowCounts(147, 74, 73, 0, 74),
        # Of the even numbers to 146, 25 are 0 modulo 3 and give nothing, 24 are 1, and 25 are 2 and give two copies.
        "echo": RowCounts(74, 49, 0, 25, 74),
        "total": RowCounts(),
    }
    bad = Corpus.open(tmp_path / "run" / "10-count" / "rejected").head(9)
    assert bad.select(["text", "reason"]).to_pylist() == [{"text": f"s{n}", "reason": "bad"} for n in (147, 148, 149)]
    odd = Corpus.open(tmp_path / "run" / "30-even" / "rejected")
    assert (odd.rows, set(odd.head(99)["reason"].to_pylist())) == (73, {"odd"})
    silent = Corpus.open(tmp_path / "run" / "40-echo" / "failed").head(99)
    assert silent["sent_id"].to_pylist() == list(range(0, 147, 6))
    assert set(silent["error"].to_pylist()) == {"no output"}
    kept = Corpus.open(tmp_path / "run" / "30-even")
    assert kept.schema.names == ["doc_id", "sent_id", "lang", "text", "noise"]
    report = json.loads((tmp_path / "run" / "run.json").read_text())
    assert [stage["counts"]["read"] for stage in report["stages"]] == [150, 147, 147, 74, 0]
    assert report["digest"] == result.digest
    assert (report["seed"], report["pipeline"]) == (1, CHAIN)


@pytest.mark.parametrize("how", ["data", "batch"])
def test_a_row_that_cannot_be_taken_is_set_aside(how: str, tmp_path: Path) -> None:
    """Clause 4, with on_error="reject": the others of its batch go through."""
    text = toml({"use": "Count", "sentences": 100}, {"use": "Faulty", "how": how})
    result = run(text, tmp_path / "run", on_error="reject")
    assert result.stage("faulty").counts == RowCounts(100, 99, 0, 1, 99)
    failed = Corpus.open(tmp_path / "run" / "20-faulty" / "failed").head(9)
    assert failed.select(["sent_id", "error"]).to_pylist() == [{"sent_id": 50, "error": "the sentence is unusable"}]


def test_books_that_do_not_close_fail_the_run(tmp_path: Path) -> None:
    text = toml({"use": "Count", "sentences": 100}, {"use": "Faulty", "how": "lose"})
    with pytest.raises(RunError, match="row counts do not add up: 40 rows went in, 39 came out") as raised:
        run(text, tmp_path / "run")
    assert (raised.value.stage, Path(raised.value.file or "").name) == ("20-faulty", "part-00001.parquet")


def test_invalid_text_is_found_and_set_aside(tmp_path: Path) -> None:
    """Clauses 4 and 5: bytes that are not UTF-8, which Parquet lets pass."""
    raw = pa.array([b"fine", b"not \xff", b"fine too"], pa.binary())
    text = pa.StringArray.from_buffers(3, raw.buffers()[1], raw.buffers()[2])
    columns = [pa.array(["d"] * 3), pa.array([0, 1, 2], pa.int32()), pa.array(["en"] * 3), text]
    write_corpus(tmp_path / "bad", [pa.RecordBatch.from_arrays(columns, schema=SENTENCES)], kind="SENTENCES")
    pipeline = toml({"use": "Upper", "input": "bad"})
    with pytest.raises(DataError) as raised:
        run(pipeline, tmp_path / "run")
    assert str(raised.value) == (
        f"stage 10-upper, {tmp_path / 'bad' / 'part-00000.parquet'}, row 2: "
        "'text' is not valid UTF-8 (byte 0xff at 4).\n"
        "Fix the row, or run with --on-error=reject to move it to 10-upper/failed/."
    )
    result = run(pipeline, tmp_path / "run", on_error="reject")
    assert result.stage("upper").counts == RowCounts(3, 2, 0, 1, 2)
    failed = Corpus.open(tmp_path / "run" / "10-upper" / "failed").head(1)
    assert failed["text"].to_pylist() == ["not \\xff"]
