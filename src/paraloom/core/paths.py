"""Paths that files name: below the folder of the file, never out of it."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from paraloom.core.errors import DataError


def is_below(name: object) -> bool:
    """True if a value is a relative path that does not lead out of its folder."""
    if not isinstance(name, str) or not name or "\0" in name:
        return False
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and path.name != ""


def path_below(folder: Path, name: object, file: Path) -> Path:
    """The path that a file names."""
    if not is_below(name):
        raise DataError(
            f"the path {name!r:.80} cannot be read: it leads out of the folder, or is not text",
            file=file,
            remedy="Restore the file from a copy.",
        )
    return folder / str(name)
