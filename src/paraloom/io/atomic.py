"""Atomic writes: files and folders appear complete or not at all."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from paraloom.core.errors import DISK_FULL, ConfigError, RunError, system_errno
from paraloom.core.remote_files import as_url, is_url
from paraloom.core.secrets import redacted


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Write a file by way of a temporary one that replaces it when the block succeeds.

    Readers of `path` see the old file or the complete new one, also after `kill -9` or a power failure: the bytes are
    flushed to disk before the file is renamed. If the block fails, the temporary file is removed.
    """
    path = Path(path)
    with atomic_write_all([path]) as (temporary,):
        yield temporary


def write_text(path: str | Path, text: str) -> None:
    """Write a file of text that appears complete or not at all."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def atomic_write_all(paths: list[Path]) -> Iterator[list[Path]]:
    """Write several files that belong together: none is renamed before all of them are on disk."""
    for path in paths:
        check_local(path)
    with unwritable_as_error(paths[0]):
        # Symbolic links are followed: the file that they point to is replaced, not the link.
        # A device or a pipe (/dev/null, /dev/stdout) is written directly: a rename would replace it by a file.
        targets = [path.resolve() if path.is_symlink() and not is_device(path) else path for path in paths]
        moves = {
            target: target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
            for target in targets
            if not is_device(target)
        }
    created: list[Path] = []
    try:
        for target, temporary in moves.items():
            _create(target, temporary)
            created.append(temporary)
        with disk_full_as_error(paths[0]):
            yield [moves.get(target, target) for target in targets]
            with unwritable_as_error(paths[0]):
                for temporary in moves.values():
                    _flush_to_disk(temporary)
                for target, temporary in moves.items():
                    temporary.replace(target)
                for folder in {target.parent for target in moves}:
                    _flush_to_disk(folder)
    finally:
        for temporary in created:
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(folder: str | Path, sentinel: str) -> Iterator[Path]:
    """Write a folder by way of a temporary one that replaces it when the block succeeds."""
    folder = Path(folder)
    check_local(folder)
    if not folder.name:
        raise ConfigError("the current folder cannot be replaced", file=folder, remedy="Name a new folder.")
    with unwritable_as_error(folder):
        if folder.exists() and any(folder.iterdir()) and not (folder / sentinel).is_file():
            raise ConfigError(f"{folder} exists and holds something else", remedy="Name a new folder.")
    temporary, old = (folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp") for _ in range(2))
    try:
        with disk_full_as_error(folder):
            with unwritable_as_error(folder):
                temporary.mkdir(parents=True)
            yield temporary
        check_replaceable(folder, temporary)
        with unwritable_as_error(folder):
            if folder.exists():
                folder.rename(old)
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


_SYSTEM_FILES = (".DS_Store", "__pycache__")  # made beside the files by macOS and Python


def check_replaceable(folder: Path, new: Path) -> None:
    """Check that no folder or hidden file, such as .git, is deleted with a folder that another one replaces."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        is_other = path.name not in _SYSTEM_FILES and (path.name.startswith(".") or path.is_dir())
        if is_other and not (new / path.name).exists():
            raise ConfigError(
                "the folder holds something else, too, which would be deleted",
                file=path,
                remedy="Name a new folder, or move that away.",
            )


def check_local(path: Path) -> None:
    """Refuse a URL and standard output, which would become a folder of a strange name."""
    if str(path) == "-":
        # A Path of ./- is the same as one of -.
        raise ConfigError(
            "this output cannot be written to standard output, which - and ./- are",
            remedy="Name a file or folder, with its whole path if its name is -.",
        )
    if is_url(path):
        raise ConfigError(
            "cannot write to a URL: only the folder of a run may be one",
            file=redacted(as_url(path)),
            remedy="Name a file or folder on this machine, and copy it then.",
        )


def is_device(path: str | Path) -> bool:
    """True if a path is a device or a pipe, such as /dev/null, which is written directly."""
    path = Path(path)
    return path.exists() and not path.is_file() and not path.is_dir()


def is_temporary(path: Path) -> bool:
    """True if `path` is named like a temporary file, which a killed process may have left behind."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


@contextmanager
def disk_full_as_error(path: str | Path) -> Iterator[None]:
    """Turn a full disk inside the block into a RunError."""
    try:
        yield
    except Exception as error:
        # Not OSError alone: safetensors and other libraries raise classes of their own.
        number = system_errno(error)
        if number not in DISK_FULL:
            raise
        raise RunError(
            f"cannot write: the disk is full ({os.strerror(number)})",
            file=path,
            remedy="Free space there, or write to another disk, and run again; no partial file was left.",
        ) from error


def _create(path: Path, temporary: Path) -> None:
    """Create `temporary`, so that a path that cannot be written is noticed before the work is done."""
    if path.is_dir():
        raise RunError("cannot write: expected a file name, got a folder", file=path, remedy="Name a file in it.")
    with disk_full_as_error(path), unwritable_as_error(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch(exist_ok=False)


@contextmanager
def unwritable_as_error(path: str | Path) -> Iterator[None]:
    """Turn what the system refuses inside the block into a RunError: permissions, a read-only disk, a bad name."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise
        raise RunError(
            f"cannot write: {os.strerror(error.errno or 0)}",
            file=path,
            remedy="Choose another path, or change the permissions.",
        ) from error


def _flush_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def try_lock(stream: TextIO, seconds: float) -> bool:
    """Lock an open file, and wait so long for whoever holds it; False if it is held then, or cannot be locked."""
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if not isinstance(error, BlockingIOError) or time.monotonic() > end:
                return False
            time.sleep(0.01)
