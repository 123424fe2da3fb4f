"""Signatures: the short text beside a figure that says how it was made, and digests of files and settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from paraloom import __version__


def signature(name: str, **parts: object) -> str:
    """`name|key:value|…|version:V`, keys in the order given, sacreBLEU's way.

    >>> signature("trigram_overlap", lower=True).startswith("trigram_overlap|lower:yes|version:")
    True
    """
    words = [name]
    for key, value in parts.items():
        shown = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        words.append(f"{key}:{shown}")
    return "|".join([*words, f"version:{__version__}"])


def digest(value: object) -> str:
    """SHA-256 (hex, 64 characters) of anything JSON can say; the order of keys does not matter.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def file_digest(path: str | Path) -> str:
    """SHA-256 (hex) of a file's bytes, read in pieces."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def folder_digest(folder: str | Path, ignore: tuple[str, ...] = ()) -> str:
    """SHA-256 (hex) of a folder's files: their names below it and their bytes; `ignore` are names left out."""
    root = Path(folder)
    files: Mapping[str, str] = {
        path.relative_to(root).as_posix(): file_digest(path)
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name not in ignore
    }
    return digest(files)
