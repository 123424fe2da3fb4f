"""Runs at URLs: the same bytes as on a disk; resumed on any machine; of two writers, one wins; no password is shown."""

from __future__ import annotations

import json
import pickle
import subprocess
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from processes import kill, start, wait_until
from storage_servers import BUCKET, new_password, s3_server, sftp_server
from toy_runs import DRIVER, contents, marks_in, run, toml

from paraloom.core.digests import file_digest
from paraloom.core.errors import DataError, RunError
from paraloom.core.progress import ProgressCallback
from paraloom.core.remote_files import local_copy
from paraloom.core.resources import ONE_CPU, Resources
from paraloom.io import Corpus
from paraloom.io.store import Store
from paraloom.pipeline.engines.base import Inline, Result, Task, attempt
from paraloom.pipeline.event_log import log_to
from paraloom.pipeline.manifest import artifact_digest
from paraloom.pipeline.remote_manifest import RemoteShardTask
from paraloom.pipeline.remote_objects import StageObjects
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import plan
from paraloom.pipeline.toml import parse_pipeline

pytest.importorskip("fsspec", reason="fsspec is not installed")

STAGES: tuple[dict[str, Any], ...] = (
    {"use": "Count", "sentences": 150, "bad": 3},
    {"use": "Upper"},
    {"use": "Above"},
    {"use": "Even", "input": "count"},
    {"use": "Echo"},
    {"use": "Total", "corpora": ["above", "echo"]},
)
CHAIN = toml(*STAGES)


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """URL of a run on S3 that does not exist yet."""
    for name, value in s3_server().items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{tmp_path.name}"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of this machine."""
    return another_machine(tmp_path / "machine", monkeypatch)


def another_machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """From now on, this is a machine with an empty cache."""
    monkeypatch.setenv("PARALOOM_CACHE", str(folder))
    return folder


@pytest.fixture(params=[*(pytest.param(kind, marks=pytest.mark.slow) for kind in ("s3", "sftp")), "file", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of a run that does not exist yet."""
    if request.param == "s3":
        yield request.getfixturevalue("s3")
    elif request.param == "sftp":
        with sftp_server(tmp_path, new_password()) as folder_url:
            yield f"{folder_url}/there"
    else:
        yield f"{request.param}://{tmp_path}/there"


def written(result: RunResult) -> dict[str, int]:
    return {stage.name: stage.written for stage in result.stages if stage.written}


def test_the_same_digest_everywhere(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = run(CHAIN, tmp_path / "here")
    there = run(CHAIN, url)
    assert there.digest == here.digest
    assert contents(local_copy(url)) == contents(tmp_path / "here")
    assert written(run(CHAIN, url)) == {}
    report = json.loads(Store.open(url).read("run.json") or b"")
    assert report["digest"] == here.digest

    copy = another_machine(tmp_path / "other", monkeypatch)
    again = run(CHAIN, url)
    assert (again.digest, written(again)) == (here.digest, {})
    assert not list(copy.rglob("*.parquet")), "what is done is not fetched"


def test_a_later_stage_on_another_machine(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fetches its input, and nothing else."""
    run(CHAIN, url, until="echo")
    another_machine(tmp_path / "other", monkeypatch)
    states = {stage.name: stage.state for stage in plan(parse_pipeline(CHAIN), url)}
    assert states == {"count": "done", "upper": "done", "above": "done", "even": "done", "echo": "done", "total": "run"}
    result = run(CHAIN, url)
    assert written(result) == {"total": 1}
    assert result.digest == run(CHAIN, tmp_path / "here").digest
    fetched = {path.parent.name for path in local_copy(url).rglob("*.parquet")}
    assert fetched == {"30-above", "50-echo"}


@pytest.mark.slow
def test_a_changed_stage(s3: str, tmp_path: Path) -> None:
    """It runs again, from the shard whose input changed; what was there before can be had again for nothing."""
    run(CHAIN, s3)
    changed = toml(*({**stage, **({"every": 4} if stage["use"] == "Even" else {})} for stage in STAGES))
    result = run(changed, s3)
    assert written(result) == {"even": 4, "echo": 4, "total": 1}
    assert result.digest == run(changed, tmp_path / "here").digest
    assert written(run(CHAIN, s3)) == {}


@pytest.mark.slow
def test_a_stage_is_a_corpus_where_it_is(s3: str, tmp_path: Path) -> None:
    """The folder of a stage, by its URL, is the input of another pipeline; so is a model's."""
    run(CHAIN, s3)
    there = toml({"use": "Upper", "input": f"{s3}/even"}, {"use": "Total", "corpora": [f"{s3}/count"]})
    here = toml({"use": "Upper", "input": "here/40-even"}, {"use": "Total", "corpora": ["here/10-count"]})
    run(CHAIN, tmp_path / "here")
    texts = [
        [row["text"] for batch in Corpus.open(tmp_path / name / "10-upper").batches() for row in batch.to_pylist()]
        for name in ("from-there", "from-here")
        if run(there if name == "from-there" else here, tmp_path / name)
    ]
    assert texts[0] == texts[1] and texts[0]


def test_a_file_at_a_url(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is fetched once, and again when it has changed; the run is the same as with a local file."""
    (tmp_path / "lines.txt").write_text("a\nb\nc\n")
    Store.open(s3).replace("lines.txt", b"a\nb\nc\n")
    here = run(toml({"use": "Lines", "path": "lines.txt"}, {"use": "Grow"}), tmp_path / "here")
    text = toml({"use": "Lines", "path": f"{s3}/lines.txt"}, {"use": "Grow"})
    there = run(text, tmp_path / "there")
    assert there.digest == here.digest
    Store.open(s3).replace("lines.txt", b"a\nb\nc\nd\n")
    assert run(text, tmp_path / "there").stages[-1].counts.out == 4


def begin(url: str, folder: Path, marks: Path, hold: int | None = None) -> subprocess.Popen[str]:
    """Start a run with two workers and an empty cache in a process group of its own."""
    folder.mkdir()
    (folder / "toy.toml").write_text(CHAIN)
    marks.mkdir(exist_ok=True)
    changes = {"PARALOOM_CACHE": str(folder / "cache"), "TOY_MARKS": str(marks)}
    return start(DRIVER, folder / "toy.toml", url, **changes, **({} if hold is None else {"TOY_HOLD": str(hold)}))


@pytest.mark.slow
def test_killed_and_resumed_on_another_machine(s3: str, tmp_path: Path) -> None:
    """What was committed before the kill is not done again, though nothing of the first machine is left."""
    marks = tmp_path / "marks"
    first = begin(s3, tmp_path / "first", marks, hold=4)
    wait_until(lambda: len(marks_in(marks)) >= 4, first)
    kill(first)
    committed = [name for name in Store.open(s3).list("upper") if "/shard-" in name]
    assert committed
    before = marks_in(marks)
    second = begin(s3, tmp_path / "second", marks)
    output, message = second.communicate()
    assert second.returncode == 0, message
    assert output.strip() == run(CHAIN, tmp_path / "here").digest
    again = [mark for mark in marks_in(marks)[len(before) :] if mark.startswith("upper")]
    assert len(again) == 4 - len(committed)


@pytest.mark.slow
def test_two_drivers_race(s3: str, tmp_path: Path) -> None:
    """Two machines run the same at the same time: both end, with the same digest, and each entry is there once."""
    racers = [begin(s3, tmp_path / name, tmp_path / f"marks-{name}") for name in ("one", "two")]
    outputs = [racer.communicate() for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0], outputs
    digest = run(CHAIN, tmp_path / "here").digest
    assert [output.strip() for output, _ in outputs] == [digest, digest]
    names = Store.open(s3).list("upper")
    assert len([name for name in names if "/shard-" in name]) == 4
    assert len([name for name in names if name.endswith(".parquet")]) == 4


@pytest.mark.slow
def test_an_answer_is_lost(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each entry is written, but its first answer is lost; the second attempt finds it there, and accepts it."""
    lost: list[str] = []
    create = Store.create

    def careless(self: Store, name: str, content: bytes) -> bool:
        if not name.startswith(".probe") and create(self, name, content):
            lost.append(name)
        return create(self, name, content)

    monkeypatch.setattr(Store, "create", careless)
    result = run(CHAIN, s3)
    assert len(lost) > 15
    assert result.digest == run(CHAIN, tmp_path / "here").digest
    assert written(run(CHAIN, s3)) == {}


@pytest.mark.slow
def test_a_server_goes_away_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run fails with an error that names the storage; it resumes where the storage answers again."""
    committed: list[str] = []
    create, password = Store.create, new_password()
    with ExitStack() as server:
        url = server.enter_context(sftp_server(tmp_path, password))

        def go_away(self: Store, name: str, content: bytes) -> bool:
            if len(committed) == 6:
                server.close()
            new = create(self, name, content)
            committed.extend([name] if "/shard-" in name else [])
            return new

        with monkeypatch.context() as patched, pytest.raises(RunError) as failed:
            patched.setattr(Store, "create", go_away)
            run(CHAIN, f"{url}/there")
    assert "127.0.0.1" in str(failed.value) and password not in str(failed.value)
    with sftp_server(tmp_path, password) as again:
        result = run(CHAIN, f"{again}/there")
    every = run(CHAIN, tmp_path / "here")
    assert len(committed) == 6 and result.digest == every.digest
    assert sum(written(every).values()) - sum(written(result).values()) == len(committed)


def test_another_writer_was_faster(s3: str, tmp_path: Path) -> None:
    """Whoever trains something else than the first writer of the same entry takes that one's, with a warning."""
    stages = ({"use": "Count"}, {"use": "Total", "corpora": ["count"]})
    first = run(toml(*stages), f"{s3}-first")
    there, here = Store.open(s3), Store.open(f"{s3}-first")
    theirs = next(name for name in here.list("total") if "/end." in name)
    record = json.loads(here.read(theirs) or b"")
    # What a machine with other bytes for the same inputs would have committed.
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "total.txt").write_text("0")
    output = artifact_digest(folder)
    there.create(theirs, json.dumps({**record, "output": output}).encode())
    there.create(f"total/artifact/{output[:16]}/total.txt", b"0")
    files = {"name": "artifact", "files": {"total.txt": file_digest(folder / "total.txt")}}
    there.create(f"total/artifact/{output[:16]}/files.json", json.dumps(files).encode())
    there.create("run.json", b"{}")
    assert first.digest != run(toml(*stages), s3).digest

    objects = StageObjects(there, "total", record["key"])
    with pytest.warns(UserWarning, match="another worker made other bytes"):
        assert objects.commit("end", record)["output"] == output


@pytest.mark.parametrize("damage", ["deleted", "other bytes", "entry"])
@pytest.mark.slow
def test_damaged_objects(damage: str, s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deleted object is made again; wrong bytes are an error that names the object, never a result."""
    digest = run(CHAIN, s3, until="above").digest
    store = Store.open(s3)
    name = next(name for name in store.list("upper") if name.endswith(".parquet"))
    another_machine(tmp_path / "other", monkeypatch)
    if damage == "entry":
        for entry in [entry for entry in store.list("upper") if "/shard-" in entry or "/end." in entry]:
            store.replace(entry, b'{"name": "part')
    elif damage == "deleted":
        store.delete(name)
    else:
        store.replace(name, b"PAR1 but no table")
    changed = toml(*({**stage, "times": 2} if stage["use"] == "Total" else stage for stage in STAGES))
    if damage == "other bytes":
        more = changed.replace('corpora = ["above", "echo"]', 'corpora = ["upper"]')
        with pytest.raises(RunError, match="bytes differ") as failed:
            run(more, s3)
        assert name in str(failed.value)
        return
    assert run(CHAIN, s3, until="above").digest == digest
    assert store.list("upper")[name] > 0


def flipped(store: Store, name: str) -> None:
    """Flip a bit in the middle of an object: its length stays."""
    content = bytearray(store.read(name) or b"")
    content[len(content) // 2] ^= 1
    store.replace(name, bytes(content))


@pytest.mark.slow
def test_a_flipped_object_of_a_finished_run(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same command and a dry run notice it, also where the local copy is whole; deleted, it is made again."""
    chain = toml(STAGES[0], {"use": "Even"}, {"use": "Total", "corpora": ["even"]})
    digest = run(chain, url).digest
    store = Store.open(url)
    for damaged in ("even/part-", "even/rejected/", "total/artifact/"):
        name = next(n for n in store.list() if n.startswith(damaged) and "timings" not in n and "files.json" not in n)
        good = store.read(name) or b""
        flipped(store, name)
        for attempted in (lambda: run(chain, url), lambda: plan(parse_pipeline(chain), url)):
            with pytest.raises(RunError, match="the bytes differ") as failed:
                attempted()
            assert str(failed.value.file).endswith(name)
            another_machine(tmp_path / damaged, monkeypatch)
        store.replace(name, good)
        assert written(run(chain, url)) == {}
    store.delete(name)
    again = run(chain, url)
    assert (again.digest, written(again)) == (digest, {"total": 1})
    assert written(run(chain, url)) == {}


def test_what_is_done_is_not_read_from_s3(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its checksums tell that it is the same; without any, as by SFTP, the bytes are read."""
    read: list[str] = []
    digest = Store.digest

    def noted(self: Store, name: str) -> str:
        read.append(name)
        return digest(self, name)

    monkeypatch.setattr(Store, "digest", noted)
    for url in (s3, f"file://{tmp_path}/there"):
        run(CHAIN, url)
        assert not read
        another_machine(tmp_path / f"other-{len(url)}", monkeypatch)
        assert written(run(CHAIN, url)) == {}
        assert bool(read) == (url != s3)


@pytest.mark.parametrize("kind", ["/shard-", "/end."])
def test_counts_of_an_entry_that_were_edited(kind: str, s3: str, tmp_path: Path) -> None:
    """They are not believed: the entry is written again."""
    here = run(CHAIN, tmp_path / "here")
    run(CHAIN, s3, until="upper")
    store = Store.open(s3)
    for name in [name for name in store.list("upper") if kind in name or "/end." in name]:
        entry = json.loads(store.read(name) or b"")
        entry["counts"].update(read=7, kept=7, out=7)
        store.replace(name, json.dumps(entry).encode())
    there = run(CHAIN, s3)
    assert [stage.counts for stage in there.stages] == [stage.counts for stage in here.stages]
    assert there.digest == here.digest
    assert written(run(CHAIN, s3)) == {}


def test_a_fetched_corpus_is_verified(s3: str) -> None:
    run(CHAIN, s3)
    store = Store.open(s3)
    flipped(store, next(name for name in store.list("even") if name.endswith(".parquet")))
    with pytest.raises(DataError):
        Corpus.open(f"{s3}/even")


@pytest.mark.slow
def test_timings_may_differ(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two machines that train the same, each uploads its own timings; whoever fetches the model takes either."""
    known = {"use": "Known", "words": str(tmp_path / "words.txt"), "total": "total", "input": "echo"}
    (tmp_path / "words.txt").write_text("s1\n")
    run(CHAIN, s3)
    store = Store.open(s3)
    timings = [name for name in store.list("total") if "/timings." in name]
    assert timings
    store.replace(timings[0], b"another machine's")
    another_machine(tmp_path / "other", monkeypatch)
    assert written(run(toml(*STAGES, known), s3)) == {"known": 4}


def test_no_password_is_written(tmp_path: Path, machine: Path) -> None:
    password = new_password()
    with sftp_server(tmp_path, password) as folder_url:
        Store.open(folder_url).replace("lines.txt", b"a\nb\n")
        text = toml({"use": "Lines", "path": f"{folder_url}/lines.txt"}, {"use": "Grow"})
        with log_to(tmp_path / "log"):
            result = run(text, f"{folder_url}/there")
            with pytest.raises(RunError) as failed:
                run(toml({"use": "Count"}).replace('"toy"', '"other"'), f"{folder_url}/there")
    assert password not in f"{result!r} {result.format()} {failed.value}"
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 10
    assert not [path for path in written if password.encode() in path.read_bytes()]


def test_a_folder_with_something_else(s3: str) -> None:
    Store.open(s3).replace("notes.txt", b"mine")
    with pytest.raises(RunError, match="something other than a run"):
        run(CHAIN, s3)


@pytest.mark.slow
def test_a_driver_begins_while_another_looks(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it writes between two requests of this one is a run, not something else."""
    listed = Store.list

    def later(self: Store, below: str = "") -> dict[str, int]:
        if not below and self.read("run.json") is None:
            self.replace("run.json", b'{"name": "toy", "stages": []}')
            self.replace("count/begin.json", b"{}")
        return listed(self, below)

    monkeypatch.setattr(Store, "list", later)
    assert run(CHAIN, s3).digest == run(CHAIN, tmp_path / "here").digest


def test_another_run_in_the_folder(s3: str) -> None:
    run(toml({"use": "Count"}), s3)
    with pytest.raises(RunError, match="another run, 'toy'"):
        run(toml({"use": "Bulk", "sentences": 1000}).replace('"toy"', '"other"'), s3)


class OtherMachine(Inline):
    """Each shard on a machine that has neither the driver's cache nor its inputs."""

    shares_disk = False

    def __init__(self, hidden: Sequence[Path], cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.hidden, self.cache, self.monkeypatch = hidden, cache, monkeypatch

    def run(
        self, tasks: Iterable[Task[Result]], report: ProgressCallback, needs: Resources = ONE_CPU
    ) -> Generator[Result, None, None]:
        for task in tasks:
            if not isinstance(task, RemoteShardTask):  # A Fit runs where the driver is.
                yield attempt(task, report).get()
                continue
            sent = pickle.dumps(task)
            for path in self.hidden:
                path.rename(path.with_name(f"{path.name}.hidden"))
            with self.monkeypatch.context() as patch:
                patch.setenv("PARALOOM_CACHE", str(self.cache))
                outcome = attempt(pickle.loads(sent), report)
            for path in self.hidden:
                path.with_name(f"{path.name}.hidden").rename(path)
            yield outcome.get()


@pytest.mark.slow
def test_a_worker_that_shares_no_disk(s3: str, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fetches the shard, what other stages made, and what the pipeline takes from outside: a corpus and a file."""
    run(toml({"use": "Count", "sentences": 60}), tmp_path / "outside")
    (tmp_path / "words.txt").write_text("s1\ns7\n")
    chain = toml(
        {"use": "Upper", "input": str(tmp_path / "outside" / "10-count")},
        {"use": "Total", "corpora": ["upper"]},
        {"use": "Known", "words": str(tmp_path / "words.txt"), "total": "total"},
        {
            "use": "Known",
            "words": str(tmp_path / "words.txt"),
            "total": str(tmp_path / "outside" / "10-count"),
            "name": "again",
        },
    )
    here = run(chain, tmp_path / "here")
    hidden = [machine, tmp_path / "outside", tmp_path / "words.txt"]
    engine = OtherMachine(hidden, tmp_path / "worker", monkeypatch)
    monkeypatch.setattr("paraloom.pipeline.runner.make_engine", lambda *arguments: engine)
    there = run(chain, s3, engine="ray")
    assert there.digest == here.digest
    assert (tmp_path / "worker" / "fetched").is_dir()
    assert not list((tmp_path / "worker" / "work").iterdir())
