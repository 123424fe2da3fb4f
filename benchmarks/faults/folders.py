"""Damaged run folders, full disks and outputs that cannot be written."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from trials import Outcomes, Scene, judge, lost_rows

from paraloom.bundled import SAMPLE


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
        if judge(outcomes, name, scene.call(*scene.run(folder)), scene.digest):
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
        judge(outcomes, f"files of {limit:,} bytes", scene.call(*scene.run(folder), limit=limit))
        judge(outcomes, "the same, with space", scene.call(*scene.run(folder)), scene.digest)
        output = scene.folder / f"limited-{limit}.parquet"
        words = ("score", "sample.de-en.tsv", "--with", "length", "-o", output, "--engine", "inline")
        judge(outcomes, f"score, files of {limit:,} bytes", scene.call(*words, limit=limit))
        outcomes.wrong += output.exists()
    for size in ("64k", "200k"):
        with small_disk(scene.folder / f"disk-{size}", size) as disk:
            if disk is not None:
                judge(outcomes, f"disk of {size}", scene.call(*scene.run(disk / "run")))
                subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
                judge(outcomes, "the same, with space", scene.call(*scene.run(disk / "run")), scene.digest)
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
        judge(outcomes, f"-o {output[:20]!a}", scene.call(*scores, output, cwd=folder))
    for output in ("mine", "file", "/proc/run"):
        judge(outcomes, f"run -o {output}", scene.call(*scene.run(Path(output)), cwd=folder))
    kept = (folder / "mine/notes.txt").read_text() == (folder / "file").read_text() == "mine"
    outcomes.wrong += not kept
    outcomes.lost += (folder / "in.tsv").read_bytes() != SAMPLE.read_bytes()
    yield "forbidden outputs", outcomes
