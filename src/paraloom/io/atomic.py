"""Files that appear whole or not at all: written beside their place, forced to disk, renamed into it."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paraloom.core.errors import ConfigError, RunError

# EFBIG is what a limit on file sizes says; to the user it is one more way of having no room.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path in the folder of `path`, renamed to `path` when the block ends well, removed when it does not.

    The folder is made where it is missing.  A reader of `path` sees the old file or the whole new one, and that
    holds after `kill -9` and after a power cut too: the bytes are on the disk before the name is.
    Raises RunError when there is no room or no right to write.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [(each.name, each.read_text()) for each in folder.iterdir()]
    [('a.txt', 'whole')]
    """
    path = Path(path)
    with replacing_all([path]) as (temporary,):
        yield temporary


@contextmanager
def replacing_all(paths: list[Path]) -> Iterator[list[Path]]:
    """Like `replacing` for files that belong together: none is renamed before all are on the disk."""
    # Links are followed, so that the file they point to is replaced, not the link.
    targets = [path.resolve() if path.is_symlink() else path for path in paths]
    # A device or a named pipe (/dev/null, say) is written as it is: a rename would put a file in its place.
    moves = {
        target: target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        for target in targets
        if not target.exists() or target.is_file() or target.is_dir()
    }
    claimed: list[Path] = []
    try:
        for target, temporary in moves.items():
            _claim(target, temporary)
            claimed.append(temporary)
        with no_room_named(paths[0]):
            yield [moves.get(target, target) for target in targets]
            for temporary in moves.values():
                _to_disk(temporary)
            for target, temporary in moves.items():
                temporary.replace(target)
            for folder in {target.parent for target in moves}:
                _to_disk(folder)
    finally:
        for temporary in claimed:
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(folder: str | Path, mark: str) -> Iterator[Path]:
    """A temporary folder beside `folder`, put in its place when the block ends well, removed when it does not.

    mark: a file that every folder of this kind has; one without it that is not empty is somebody else's.
    Raises ConfigError for such a folder, RunError when there is no room.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "model"
    >>> with replacing_folder(folder, "config.json") as temporary:
    ...     _ = (temporary / "config.json").write_text("{}")
    >>> [each.name for each in folder.iterdir()]
    ['config.json']
    """
    folder = Path(folder)
    if folder.exists() and any(folder.iterdir()) and not (folder / mark).is_file():
        raise ConfigError(f"{folder} holds something else", remedy="Name a new folder.")
    temporary, old = (folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp") for _ in range(2))
    try:
        with no_room_named(folder):
            temporary.mkdir(parents=True)
            yield temporary
        if folder.exists():
            folder.rename(old)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def is_temporary(path: Path) -> bool:
    """Whether `path` is what a killed writer may have left behind; such files are never read."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


@contextmanager
def no_room_named(path: str | Path) -> Iterator[None]:
    """Turn a full disk inside the block into a RunError that names `path`."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise RunError(
            f"there is no room to write it ({os.strerror(error.errno)})",
            file=path,
            remedy="Free some space there, or write to another disk, and run again: nothing half-written was left.",
        ) from error


def _claim(path: Path, temporary: Path) -> None:
    """Create `temporary`, so that a place that cannot be written is known before the work is done."""
    if path.is_dir():
        raise RunError("this is a folder, a file was to be written there", file=path, remedy="Name a file in it.")
    with no_room_named(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.touch(exist_ok=False)
        except (PermissionError, FileExistsError, NotADirectoryError) as error:
            reason = os.strerror(error.errno or 0)
            raise RunError(
                f"it cannot be written ({reason})", file=path, remedy="Choose another place, or mend its rights."
            ) from error


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
