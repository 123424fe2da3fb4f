"""Kill runs, damage their folders, fill disks, forbid outputs and give damaged inputs; print what came of it.

    python benchmarks/faults.py                       # minutes, offline
    python benchmarks/faults.py --kills 100 --only kills

A small run over the bundled sample is killed at random moments (SIGKILL to all of its processes, to the first one, to a
worker; SIGTERM; SIGINT) and started again in the same folder until it ends. Finished runs are damaged and run again. A
command ends well if it writes the bytes that an undisturbed run writes, or if it is refused with a plain error, which
leaves no output behind. The script exits with 1 if bytes differ, rows are lost, or there is a traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from paraloom.bundled import SAMPLE
from paraloom.io import Corpus

COMMAND = (sys.executable, "-m", "paraloom")
PIPELINE = """
name = "faults"
seed = 7
[[stage]]
name = "read"
use = "read-pairs"
source = "sample.de-en.tsv"
shard_rows = 40
[[stage]]
use = "score"
scores = ["overlap", "length"]
[[stage]]
use = "find-duplicates"
pairs = "score"
[[stage]]
use = "drop-duplicates"
input = "score"
duplicates = "find-duplicates"
[[stage]]
name = "kept"
use = "filter"
where = "tgt_tokens > 2"
sample = 200
[[stage]]
name = "words"
use = "count-words"
corpora = ["kept"]
"""
SIGNALS = ("SIGKILL to all", "SIGKILL to the first", "SIGKILL to a worker", "SIGTERM", "SIGINT")


@dataclass
class Outcomes:
    """What came of the trials of one kind.

    Args:
        tried: Number of trials.
        finished: Trials that ended with the bytes of an undisturbed run, or with all rows.
        refused: Trials that ended with a plain error.
        tracebacks: Trials that showed a traceback.
        lost: Rows that are in no output.
        wrong: Trials with other bytes, or whose exit status does not fit their message.
        notes: What was said, by trial.
    """

    tried: int = 0
    finished: int = 0
    refused: int = 0
    tracebacks: int = 0
    lost: int = 0
    wrong: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether all trials finished or were refused."""
        return not (self.tracebacks or self.lost or self.wrong)


@dataclass(frozen=True)
class Scene:
    """A folder with the pipeline, and the digest of its undisturbed run in `done`."""

    folder: Path
    digest: str
    seconds: float

    @property
    def done(self) -> Path:
        """The undisturbed run."""
        return self.folder / "done"


def call(*arguments: object, cwd: Path, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    """A command to its end; no file may grow beyond `limit` bytes."""

    def bound() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        preexec_fn=bound,
        timeout=300,
        check=False,
    )


def judge(outcomes: Outcomes, name: str, ended: subprocess.CompletedProcess[str], digest: str = "") -> bool:
    """Count a command that ended; returns whether it finished."""
    outcomes.tried += 1
    said = ended.stderr.strip().splitlines()
    message = next((line for line in said if line.startswith("paraloom:")), said[-1] if said else "")
    outcomes.notes.append(f"{name}: {message if ended.returncode else 'finished'}")
    if "Traceback" in ended.stderr or "please report" in ended.stderr:
        outcomes.tracebacks += 1
        outcomes.notes.append(ended.stderr[-2000:])
    elif ended.returncode:
        plain = ended.returncode in (1, 2) and message
        outcomes.refused += bool(plain)
        outcomes.wrong += not plain
    elif digest and json.loads(ended.stdout.splitlines()[-1])["digest"] != digest:
        outcomes.wrong += 1
        outcomes.notes.append(f"{name}: THE BYTES DIFFER")
    else:
        outcomes.finished += 1
        return True
    return False


def run_of(scene: Scene, folder: Path, engine: str = "inline") -> tuple[object, ...]:
    """The arguments that run the pipeline in a folder."""
    return ("run", scene.folder / "faults.toml", "-o", folder, "--engine", engine, "--workers", 2, "--json")


def lost_rows(folder: Path) -> int:
    """Rows of the input that a stage neither kept nor rejected nor failed, by the files on the disk."""
    stages = json.loads((folder / "run.json").read_text(encoding="utf-8"))["stages"]
    lost = 0
    for stage in stages:
        if stage["kind"] == "map":
            root = folder / stage["folder"]
            left_out = [path for name in ("rejected", "failed") for path in (root / name).glob("*.parquet")]
            rows = Corpus.open(root).rows + sum(pq.read_metadata(path).num_rows for path in left_out)
            lost += abs(stage["counts"]["read"] - rows)
    return lost


def kills(scene: Scene, count: int, rng: random.Random) -> Iterator[tuple[str, Outcomes]]:
    """Runs that are killed until they end, then compared."""
    tried: Counter[str] = Counter()
    outcomes = Outcomes()
    finished, number = 0, 0
    while sum(tried.values()) < count:
        folder = scene.folder / f"killed-{number}"
        number += 1
        for _ in range(rng.randint(1, 6)):
            kind = SIGNALS[sum(tried.values()) % len(SIGNALS)]
            killed, message = _killed(
                run_of(scene, folder, "local"), kind, rng.uniform(0.3, scene.seconds), scene.folder
            )
            tried[kind] += killed
            if "Traceback" in message:
                outcomes.tracebacks += 1
                outcomes.notes.append(f"{kind}: {message[-2000:]}")
        judge(
            outcomes,
            f"after kills, run {number}",
            call(*run_of(scene, folder, "local"), cwd=scene.folder),
            scene.digest,
        )
        outcomes.lost += lost_rows(folder) if (folder / "run.json").is_file() else 0
        finished += 1
        print(f"{sum(tried.values())} kills; {outcomes.notes[-1]}", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    outcomes.tried = sum(tried.values())
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(tried.items()))
    yield f"kills ({kinds}), {finished} runs", outcomes


def _killed(arguments: Sequence[object], kind: str, seconds: float, cwd: Path) -> tuple[bool, str]:
    """Start a command and kill it after some seconds; False if it ended before; and what it wrote to stderr."""
    with tempfile.TemporaryFile("w+", errors="replace") as stderr:
        running = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            cwd=cwd,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            running.wait(seconds)
            killed = False
        except subprocess.TimeoutExpired:
            killed = True
            if kind == "SIGKILL to a worker":
                for worker in _children(running.pid)[-1:]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
            elif kind == "SIGKILL to all":
                os.killpg(running.pid, signal.SIGKILL)
            else:
                name = "SIGKILL" if kind == "SIGKILL to the first" else kind
                os.kill(running.pid, signal.Signals[name])
            try:
                running.wait(120)
            finally:
                time.sleep(0.3)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)
        stderr.seek(0)
        return killed, stderr.read()


def _children(pid: int) -> list[int]:
    """The processes that a process started."""
    try:
        return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def _truncate(path: Path, part: float = 0.5) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _empty_record(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace('"kept"', '"kepf"'), encoding="utf-8")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "manifest cut off": lambda run: _truncate(run / "20-score/manifest.jsonl"),
    "manifest empty": lambda run: (run / "20-score/manifest.jsonl").write_text(""),
    "manifest of binary data": lambda run: (run / "20-score/manifest.jsonl").write_bytes(os.urandom(300)),
    "manifest missing": lambda run: (run / "20-score/manifest.jsonl").unlink(),
    "manifest with other keys": lambda run: _empty_record(run / "20-score/manifest.jsonl"),
    "manifest is a folder": lambda run: _replace_by_folder(run / "20-score/manifest.jsonl"),
    "shard missing": lambda run: (run / "20-score/part-00003.parquet").unlink(),
    "shard cut off": lambda run: _truncate(run / "20-score/part-00003.parquet"),
    "shard empty": lambda run: (run / "10-read/part-00001.parquet").write_bytes(b""),
    "byte of a shard changed": lambda run: _flip(run / "40-drop-duplicates/part-00002.parquet"),
    "shard of another stage": lambda run: shutil.copy(
        run / "10-read/part-00001.parquet", run / "20-score/part-00001.parquet"
    ),
    "rejected rows missing": lambda run: shutil.rmtree(run / "50-kept/rejected"),
    "artifact missing": lambda run: shutil.rmtree(run / "60-words/artifact"),
    "artifact cut off": lambda run: [_truncate(path) for path in (run / "60-words/artifact").iterdir()],
    "stage folder missing": lambda run: shutil.rmtree(run / "30-find-duplicates"),
    "file in place of a stage": lambda run: (
        shutil.rmtree(run / "40-drop-duplicates"),
        (run / "40-drop-duplicates").write_text("x"),
    ),
    "foreign file in a stage": lambda run: (run / "20-score/part-00099.parquet").write_bytes(b"PAR1 foreign"),
    "foreign file in the run": lambda run: (run / "notes.txt").write_text("mine"),
    "corpus.json cut off": lambda run: _truncate(run / "20-score/corpus.json"),
    "corpus.json of a list": lambda run: (run / "20-score/corpus.json").write_text("[1, 2]"),
    "run.json cut off": lambda run: _truncate(run / "run.json"),
    "run.json missing": lambda run: (run / "run.json").unlink(),
    "run.json of another pipeline": lambda run: (run / "run.json").write_text('{"name": "other", "stages": []}'),
    "lock with other content": lambda run: (run / ".lock").write_bytes(b"\x00\xff"),
}


def damages(scene: Scene) -> Iterator[tuple[str, Outcomes]]:
    """Finished runs that are damaged and run again."""
    outcomes = Outcomes()
    for name, damage in DAMAGES.items():
        folder = scene.folder / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(scene.done, folder)
        damage(folder)
        if judge(outcomes, name, call(*run_of(scene, folder), cwd=scene.folder), scene.digest):
            outcomes.lost += lost_rows(folder)
    yield "damaged run folders", outcomes


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path | None]:
    """A file system of a fixed size for the block; None where it cannot be mounted."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)


def disks(scene: Scene) -> Iterator[tuple[str, Outcomes]]:
    """Disks that are full: files that may not grow, and a small file system where one can be mounted; then space."""
    outcomes = Outcomes()
    for limit in (0, 500, 5_000, 20_000):
        folder = scene.folder / f"limited-{limit}"
        judge(outcomes, f"files of {limit:,} bytes", call(*run_of(scene, folder), cwd=scene.folder, limit=limit))
        judge(outcomes, "the same, with space", call(*run_of(scene, folder), cwd=scene.folder), scene.digest)
        output = scene.folder / f"limited-{limit}.parquet"
        words = ("score", "sample.de-en.tsv", "--with", "length", "-o", output, "--engine", "inline")
        judge(outcomes, f"score, files of {limit:,} bytes", call(*words, cwd=scene.folder, limit=limit))
        outcomes.wrong += output.exists()
    for size in ("64k", "200k"):
        with small_disk(scene.folder / f"disk-{size}", size) as disk:
            if disk is not None:
                judge(outcomes, f"disk of {size}", call(*run_of(scene, disk / "run"), cwd=scene.folder))
                subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
                judge(
                    outcomes, "the same, with space", call(*run_of(scene, disk / "run"), cwd=scene.folder), scene.digest
                )
    yield "full disks, then space", outcomes


def outputs(scene: Scene) -> Iterator[tuple[str, Outcomes]]:
    """Outputs that cannot be written, or that are something else."""
    folder = scene.folder / "outputs"
    (folder / "mine").mkdir(parents=True)
    (folder / "mine/notes.txt").write_text("mine")
    (folder / "file").write_text("mine")
    shutil.copy(scene.folder / "sample.de-en.tsv", folder / "in.tsv")
    outcomes = Outcomes()
    scores = ("score", "in.tsv", "--with", "length", "--engine", "inline", "-o")
    bad = [
        "mine",
        "file",
        "file/x.tsv",
        "/proc/x.parquet",
        "/dev/full",
        "in.tsv",
        f"{'x' * 300}.tsv",
        "x.txt",
        "",
        "\udcff.tsv",
    ]
    for output in bad:
        judge(outcomes, f"-o {output[:20]!a}", call(*scores, output, cwd=folder))
    for output in ("mine", "file", "/proc/run"):
        judge(outcomes, f"run -o {output}", call(*run_of(scene, Path(output)), cwd=folder))
    kept = (folder / "mine/notes.txt").read_text() == (folder / "file").read_text() == "mine"
    outcomes.wrong += not kept
    outcomes.lost += abs(len((folder / "in.tsv").read_text(encoding="utf-8").splitlines()) - _sample_rows(scene))
    yield "forbidden outputs", outcomes


def _sample_rows(scene: Scene) -> int:
    return len((scene.folder / "sample.de-en.tsv").read_text(encoding="utf-8").splitlines())


def inputs(scene: Scene) -> Iterator[tuple[str, Outcomes]]:
    """Inputs that are damaged; with `--on-error reject`, every row is in the output or among the rejected ones."""
    folder = scene.folder / "inputs"
    folder.mkdir()
    good = "Guten Morgen.\tGood morning.\nDer Hund ist da.\tThe dog is here.\n"
    table = pa.table({"src": ["a", "b"], "tgt": ["c", "d"]})
    files: dict[str, tuple[bytes, int | None]] = {
        "empty.tsv": (b"", 0),
        "blank.tsv": (b"\n\n\n", 3),
        "nul.tsv": (f"{good}a\x00b\tc\n".encode(), 3),
        "utf16.tsv": (good.encode("utf-16"), None),
        "latin1.tsv": (f"{good}Caf\xe9\tcoffee\n".encode("latin-1"), 3),
        "bom.tsv": (b"\xef\xbb\xbf" + good.encode(), 2),
        "crlf.tsv": (good.replace("\n", "\r\n").encode(), 2),
        "more-fields.tsv": (f"{good}a\tb\tc\td\n".encode(), 3),
        "one-field.tsv": (f"{good}alone\n".encode(), 3),
        "no-end.tsv": (good.rstrip("\n").encode(), 2),
        "long.tsv": (("x" * 3_000_000 + "\ty\n").encode(), 1),
        "controls.tsv": (f"{good}a\x1b[31m\tb\u202e\u2028c\n".encode(), 3),
        "cut.tsv.gz": (gzip.compress(good.encode() * 500)[:-12], None),
        "text.tsv.gz": (good.encode(), None),
        "text.parquet": (good.encode(), None),
        "rows.jsonl": (b'{"src": "a", "tgt": "b"}\n{"src": 1}\n[]\n{"src": "\\ud800", "tgt": "x"}\n{\n', 5),
        "deep.jsonl": (b"[" * 100_000 + b"\n", 1),
        "other.tmx": (b"<html><body>no</body></html>", None),
        "cut.tmx": (b"<?xml version='1.0'?><tmx><body><tu><tuv xml:lang='de'><seg>a", None),
        "bomb.tmx": (
            b'<!DOCTYPE t [<!ENTITY a "a">]><tmx><body><tu><tuv xml:lang="de"><seg>&a;</seg></tuv></tu></body></tmx>',
            None,
        ),
    }
    outcomes = Outcomes()
    for name, (content, rows) in files.items():
        (folder / name).write_bytes(content)
        output = folder / f"{name}.out.parquet"
        words = ("score", name, "--with", "length", "--on-error", "reject", "--engine", "inline", "-o", output.name)
        if judge(outcomes, name, call(*words, cwd=folder)) and rows is not None:
            rejected = folder / f"{name}.out.rejected.jsonl"
            left_out = len(rejected.read_text(encoding="utf-8").splitlines()) if rejected.is_file() else 0
            missing = rows - pq.read_metadata(output).num_rows - left_out
            outcomes.lost += abs(missing)
            if missing:
                outcomes.notes.append(f"{name}: {missing} OF {rows} ROWS MISSING")
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    content = bytes(buffer.getvalue())
    for name, damaged in {
        "cut.parquet": content[:-30],
        "flipped.parquet": content[:60] + b"\xff" + content[61:],
    }.items():
        (folder / name).write_bytes(damaged)
        judge(outcomes, name, call("score", name, "--with", "length", "-o", f"{name}.out.tsv", cwd=folder))
    yield "damaged inputs", outcomes


KINDS = ("kills", "damages", "disks", "outputs", "inputs")


def scene_in(folder: Path) -> Scene:
    """The pipeline and its undisturbed run."""
    shutil.copy(SAMPLE, folder / "sample.de-en.tsv")
    (folder / "faults.toml").write_text(PIPELINE, encoding="utf-8")
    scene = Scene(folder, "", 0.0)
    seconds = []
    for name in ("warm", "done"):
        start = time.monotonic()
        ended = call(*run_of(scene, folder / name, "local"), cwd=folder)
        seconds.append(time.monotonic() - start)
        if ended.returncode:
            raise SystemExit(ended.stderr)
    return Scene(folder, json.loads(ended.stdout.splitlines()[-1])["digest"], seconds[-1])


def main() -> None:
    """Print a Markdown table: a row for each kind of fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=30, help="how often runs are killed (default: %(default)s)")
    parser.add_argument("--only", choices=KINDS, nargs="+", default=KINDS, help="kinds of faults; default: all")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments of kills")
    parser.add_argument("--verbose", action="store_true", help="print what each trial said, too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scene = scene_in(Path(scratch))
        print("| | tried | finished, same bytes | refused, plain error | tracebacks | rows lost | other |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
        good = True
        makers: dict[str, Callable[[], Iterator[tuple[str, Outcomes]]]] = {
            "kills": lambda: kills(scene, arguments.kills, random.Random(arguments.seed)),
            "damages": lambda: damages(scene),
            "disks": lambda: disks(scene),
            "outputs": lambda: outputs(scene),
            "inputs": lambda: inputs(scene),
        }
        for kind in arguments.only:
            for name, result in makers[kind]():
                cells = (result.tried, result.finished, result.refused, result.tracebacks, result.lost, result.wrong)
                print(f"| {name} | {' | '.join(map(str, cells))} |", flush=True)
                good = good and result.is_good
                if arguments.verbose or not result.is_good:
                    print("\n".join(result.notes), file=sys.stderr, flush=True)
    sys.exit(not good)


if __name__ == "__main__":
    main()
