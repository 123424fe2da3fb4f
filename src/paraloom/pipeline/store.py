"""The run folder: one run at a time, a numbered folder per stage, and run.json."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from paraloom.core.digests import digest
from paraloom.core.errors import DataError, RunError
from paraloom.core.secrets import redacted
from paraloom.core.version import __version__
from paraloom.io.atomic import atomic_write, disk_full_as_error, is_temporary, try_lock, unwritable_as_error
from paraloom.pipeline.definition import Step

REPORT = "run.json"
LOCK = ".lock"
_PACKAGES = ("pyarrow", "numpy", "duckdb", "sentencepiece", "ctranslate2", "torch", "transformers", "ray")


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Lock `folder`, made if it does not exist, for this process: the system releases it when the process ends."""
    check(folder)
    with disk_full_as_error(folder), unwritable_as_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
        opened = (folder / LOCK).open("a+", encoding="utf-8")
    with opened as lock:
        # `read_status` may hold the lock for a moment, to see whether it is free.
        if not try_lock(lock, 0.2):
            lock.seek(0)
            raise RunError(
                f"another run is active here ({lock.read().strip() or 'unknown process'})",
                file=folder,
                remedy="Wait for it, end it, or name another output.",
            )
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {platform.node()}\n")
        lock.flush()
        yield


def check(folder: Path) -> None:
    """Check that `folder`, if it exists, is a run folder; raises RunError."""
    with unwritable_as_error(folder):
        if folder.exists() and not folder.is_dir():
            raise RunError("this is a file, not a run folder", file=folder, remedy="Name another folder.")
        foreign = folder.is_dir() and not (folder / REPORT).exists() and not (folder / LOCK).exists()
        holds_files = foreign and any(folder.iterdir())
    if holds_files:
        raise RunError("this folder holds something other than a run", file=folder, remedy="Name a new folder.")


def check_name(folder: Path, names: set[str]) -> None:
    """Check that the run in `folder`, if any, has one of these names; raises RunError."""
    held = _held(folder)
    if held is not None and held[0] not in names:
        raise RunError(f"this folder holds another run, '{held[0]}'", file=folder, remedy="Name another folder.")


def check_run(folder: Path, name: str, stages: set[str]) -> None:
    """Check that `folder` does not hold a run of another name with none of these stages; raises RunError."""
    held = _held(folder)
    if held is not None and held[0] != name and not stages & held[1]:
        raise RunError(f"this folder holds another run, '{held[0]}'", file=folder, remedy="Name another folder.")


def _held(folder: Path) -> tuple[str, set[str]] | None:
    """Name and stages of the run in a folder, None if it holds no run."""
    try:
        held = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        return str(held["name"]), {stage["name"] for stage in held["stages"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def stage_folder(folder: Path, number: int, step: Step) -> Path:
    """`folder/20-name` for the second step, or its present folder if that has another number."""
    present = folder / f"{number:02d}-{step.name}"
    if not present.exists() and folder.is_dir():
        named = re.compile(rf"\d+-{re.escape(step.name)}")
        present = next((path for path in sorted(folder.iterdir()) if named.fullmatch(path.name)), present)
    if present.exists() and not present.is_dir():
        raise RunError("expected the folder of a stage, got a file", file=present, remedy="Move the file away.")
    return present


def renumber(folder: Path, present: Path, number: int, step: Step) -> Path:
    """Rename a stage's folder to its present number, which changes when an earlier stage is added or removed."""
    wanted = folder / f"{number:02d}-{step.name}"
    if present != wanted:
        present.rename(wanted)
    return wanted


def sweep(folder: Path, keep: set[str]) -> None:
    """Remove shards that are not among `keep` (paths below `folder`), and temporary files of killed writers."""
    for below in (folder, folder / "rejected", folder / "failed"):
        for path in sorted(below.iterdir()) if below.is_dir() else ():
            stale = path.suffix == ".parquet" and path.relative_to(folder).as_posix() not in keep
            if path.is_file() and (stale or is_temporary(path)):
                path.unlink()
        if below != folder and below.is_dir() and not any(below.glob("*.parquet")):
            (below / "corpus.json").unlink(missing_ok=True)
            with suppress(OSError):
                below.rmdir()


def write_report(folder: Path, report: Mapping[str, object]) -> None:
    """Write run.json, whole or not at all."""
    with atomic_write(folder / REPORT) as temporary:
        shown = json.loads(redacted(json.dumps(report, ensure_ascii=False)))
        text = json.dumps({**shown, "sha256": digest(shown)}, indent=1, ensure_ascii=False)
        temporary.write_text(text + "\n", "utf-8", "backslashreplace")


def read_report(path: Path) -> dict[str, Any]:
    return parse_report(path.read_bytes(), path)


def parse_report(content: bytes, path: Path | str) -> dict[str, Any]:
    """The content of a run.json, by its path or URL; DataError if it is damaged, or was changed."""
    try:
        report = dict(json.loads(content))
        known = report.pop("sha256", None)
        changed = known is not None and known != digest(report)
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(f"cannot be read ({error!r})", file=path, remedy="Run the pipeline again.") from error
    if changed:
        raise DataError(
            "the file was changed after the run wrote it",
            file=path,
            remedy="Run the pipeline again: it writes this file, and does nothing twice that is done.",
        )
    return report


@cache
def versions() -> Mapping[str, str]:
    """Versions of Paraloom, Python and the installed packages that bytes may depend on."""
    installed = {"paraloom": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            installed[package] = importlib.metadata.version(package)
    return installed
