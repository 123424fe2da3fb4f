"""Trained toy models, made once and shared by the processes of a test run and by later runs of the same code."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

import paraloom

KEPT = 4
"""Models of earlier code that stay in the cache."""


def training_digest(packages: Iterable[str], libraries: Iterable[str], settings: str) -> str:
    """A digest of all that decides how a training ends: our code, libraries, this machine and the settings."""
    source = Path(paraloom.__file__).parent
    parts = [settings, platform.python_version(), platform.node()]
    parts += [os.environ.get(name, "") for name in ("PARALOOM_TEST_SEED", "CT2_FORCE_CPU_ISA", "ATEN_CPU_CAPABILITY")]
    parts += [f"{name} {version(name)}" for name in sorted(libraries)]
    for package in sorted(packages):
        for file in sorted((source / package).rglob("*.py")):
            parts += [file.relative_to(source).as_posix(), file.read_text(encoding="utf-8")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def cached_model(cache: Path, digest: str, train: Callable[[Path], object]) -> Path:
    """The folder of the model with this digest in `cache`; `train` writes it when it is missing.

    A lock keeps other processes waiting until the model is whole, and a folder appears under its name only then.
    """
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / digest
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            unfinished = cache / f"{digest}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            train(unfinished)
            unfinished.rename(folder)
            others = [path for path in cache.iterdir() if path.is_dir() and path != folder]
            for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
                shutil.rmtree(path, ignore_errors=True)
    return folder
