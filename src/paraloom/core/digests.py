"""Signatures that say how a figure was computed, and digests of values, files and folders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from paraloom.core.version import __version__


def signature(name: str, **parts: object) -> str:
    """Format a signature in the style of sacreBLEU: `name|key:value|…|version:V`."""
    settings = [name]
    for key, value in parts.items():
        formatted = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        settings.append(f"{key}:{formatted}")
    return "|".join([*settings, f"version:{__version__}"])


def digest(value: object) -> str:
    """Compute the SHA-256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def file_digest(path: str | Path) -> str:
    """Compute the SHA-256 (hexadecimal) of a file, without reading it whole."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def folder_digest(folder: str | Path, ignore: tuple[str, ...] = ()) -> str:
    """Compute the SHA-256 (hexadecimal) of the names and bytes of all files below a folder."""
    root = Path(folder)
    files: Mapping[str, str] = {
        path.relative_to(root).as_posix(): file_digest(path)
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name not in ignore
    }
    return digest(files)


def path_digest(path: Path) -> str:
    """The digest of a file, or of a folder with all its files; a file is hashed once while it is unchanged."""
    if path.is_dir():
        return folder_digest(path)
    facts = path.stat()
    return _unchanged_digest(path.absolute(), facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)


@lru_cache(maxsize=256)
def _unchanged_digest(path: Path, *facts: int) -> str:
    return file_digest(path)
