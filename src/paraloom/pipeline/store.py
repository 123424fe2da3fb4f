"""The run folder: one run at a time, a numbered folder a stage, and run.json."""

from __future__ import annotations

import fcntl
import importlib.metadata
import json
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from paraloom import __version__
from paraloom.core.errors import RunError
from paraloom.io.atomic import atomic_write, is_temporary
from paraloom.pipeline.definition import Step

REPORT = "run.json"
_LOCK = ".lock"
_PACKAGES = ("pyarrow", "numpy", "duckdb", "sentencepiece", "ctranslate2", "torch", "transformers", "ray")


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Have `folder` for oneself; it is made where it is missing.

    The lock is the operating system's: it goes with the process, however that ends.
    Raises RunError when another run is at work there, or when something other than a run is.
    """
    check(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.seek(0)
            raise RunError(
                f"another run is at work here ({lock.read().strip() or 'it does not say which'})",
                file=folder,
                remedy="Wait for it, end it, or name another folder.",
            ) from error
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {platform.node()}\n")
        lock.flush()
        yield


def check(folder: Path) -> None:
    """Raises RunError when `folder` is there and is no run's."""
    if folder.exists() and not folder.is_dir():
        raise RunError("this is a file, not a run's folder", file=folder, remedy="Name another folder.")
    strange = folder.is_dir() and not (folder / REPORT).exists() and not (folder / _LOCK).exists()
    if strange and any(folder.iterdir()):
        raise RunError("this folder holds something other than a run", file=folder, remedy="Name a new folder.")


def check_name(folder: Path, names: set[str]) -> None:
    """Raises RunError when `folder` holds a run that has none of these names."""
    held = _held(folder)
    if held is not None and held[0] not in names:
        raise RunError(f"this folder holds another run, '{held[0]}'", file=folder, remedy="Name another folder.")


def check_run(folder: Path, name: str, stages: set[str]) -> None:
    """Raises RunError when `folder` holds a run of another name that has none of these stages: another one's work."""
    held = _held(folder)
    if held is not None and held[0] != name and not stages & held[1]:
        raise RunError(f"this folder holds another run, '{held[0]}'", file=folder, remedy="Name another folder.")


def _held(folder: Path) -> tuple[str, set[str]] | None:
    """Name and stages of the run in a folder, None where there is none."""
    try:
        held = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        return str(held["name"]), {stage["name"] for stage in held["stages"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def stage_folder(folder: Path, place: int, step: Step) -> Path:
    """`folder/20-name` for the second step; the folder that it has now, where its number was another."""
    wanted = folder / f"{place:02d}-{step.name}"
    if not wanted.exists() and folder.is_dir():
        named = re.compile(rf"\d+-{re.escape(step.name)}")
        return next((each for each in sorted(folder.iterdir()) if named.fullmatch(each.name)), wanted)
    return wanted


def renumber(folder: Path, found: Path, place: int, step: Step) -> Path:
    """Give a stage's folder the number of its place, which changes when a stage is put in or taken out before it."""
    wanted = folder / f"{place:02d}-{step.name}"
    if found != wanted:
        found.rename(wanted)
    return wanted


def sweep(folder: Path, keep: set[str]) -> None:
    """Remove shards that are not among `keep` (paths below `folder`), and what killed writers left."""
    for below in (folder, folder / "rejected", folder / "failed"):
        for path in sorted(below.iterdir()) if below.is_dir() else ():
            stale = path.suffix == ".parquet" and path.relative_to(folder).as_posix() not in keep
            if path.is_file() and (stale or is_temporary(path)):
                path.unlink()
        if below != folder and below.is_dir() and not any(below.glob("*.parquet")):
            (below / "corpus.json").unlink(missing_ok=True)
            with suppress(OSError):
                below.rmdir()


def write_report(folder: Path, report: dict[str, Any]) -> None:
    """Write run.json, whole or not at all."""
    with atomic_write(folder / REPORT) as temporary:
        temporary.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def versions() -> dict[str, str]:
    """Of Paraloom, Python and the packages that bytes may depend on, as far as they are installed."""
    found = {"paraloom": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found
