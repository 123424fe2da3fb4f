"""Files and folders that go between the machines of a run and its storage, each checked by its digest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import RunError
from paraloom.core.remote_files import cache_folder, is_below
from paraloom.io.store import Store

FILES = "files.json"  # Object that lists the files of an uploaded folder, written last
DIGITS = 16  # Digits of a digest in the name of an object


@dataclass(frozen=True)
class Files:
    """Files of a storage that make up a file or a folder, for a machine that does not have it."""

    name: str
    objects: Mapping[str, tuple[str, str]]

    def fetch(self, store: Store) -> Path:
        """Fetch what is not in the cache of this machine; checked once per process."""
        return _fetch_once(store, self.name, tuple(sorted(self.objects.items())))


@lru_cache(maxsize=256)
def _fetch_once(store: Store, name: str, objects: tuple[tuple[str, tuple[str, str]], ...]) -> Path:
    contents = [[below, content] for below, (_, content) in objects]
    target = cache_folder().absolute() / "fetched" / digest(contents)[:24] / name
    for below, (key, content) in objects:
        fetch_file(store, key, target / below if below else target, content)
    return target


def fetch_file(store: Store, name: str, path: Path, content: str) -> None:
    """Fetch an object to a file, unless the file is there; files of timings have no digest, as in artifacts."""
    if path.is_file() and content in ("", file_digest(path)):
        return
    store.fetch(name, path)
    if content not in ("", file_digest(path)):
        path.unlink()
        raise _other_bytes(store, name)


@dataclass(frozen=True)
class Recorded:
    """A file of a storage as its manifest records it."""

    name: str
    content: str
    checksum: str = ""


def holds(store: Store, files: Iterable[Recorded], present: Mapping[str, str]) -> bool:
    """True if a storage has all of some files; their bytes are read where its checksums do not tell."""
    files = list(files)
    if not all(file.name in present for file in files):
        return False
    for file in files:
        known = file.checksum and file.checksum == present[file.name]
        if file.content and not known and store.digest(file.name) != file.content:
            raise _other_bytes(store, file.name)
    return True


def _other_bytes(store: Store, name: str) -> RunError:
    return RunError(
        "the bytes differ from those that the manifest records",
        file=f"{store.name}/{name}",
        remedy="Delete this object, and run again: it is made again.",
    )


def upload_tree(store: Store, prefix: str, path: Path) -> None:
    """Upload a file or a folder (without `checkpoint/`), and last the list of its files."""
    below = {"": path}
    if path.is_dir():
        below = {file.relative_to(path).as_posix(): file for file in sorted(path.rglob("*")) if file.is_file()}
        below = {name: file for name, file in below.items() if not name.startswith("checkpoint/")}
    digests, checksums = {}, {}
    for name, file in below.items():
        store.replace(f"{prefix}/{name or path.name}", file)
        digests[name] = "" if file.name.startswith("timings.") else file_digest(file)
        checksums[name] = store.checksum(f"{prefix}/{name or path.name}")
    content = as_json({"name": path.name, "files": digests, "checksums": checksums})
    if not store.create(f"{prefix}/{FILES}", content):
        store.replace(f"{prefix}/{FILES}", content)  # It lists what was damaged, or was uploaded by another.


def holds_tree(store: Store, prefix: str, present: Mapping[str, str]) -> bool:
    """True if a storage has all that `upload_tree` uploaded; raises RunError where bytes differ."""
    if f"{prefix}/{FILES}" not in present:
        return False
    listed, checksums = _listed(store, prefix)
    files = [Recorded(key, content, checksums.get(below, "")) for below, (key, content) in listed.objects.items()]
    return holds(store, files, present)


def listed_tree(store: Store, prefix: str) -> Files:
    """Objects that `upload_tree` uploaded."""
    return _listed(store, prefix)[0]


def _listed(store: Store, prefix: str) -> tuple[Files, dict[str, str]]:
    content = store.read(f"{prefix}/{FILES}")
    try:
        listed = json.loads(content or b"")
        name, files, checksums = str(listed["name"]), dict(listed["files"]), dict(listed.get("checksums", {}))
        if not is_below(name) or not all(below == "" or is_below(below) for below in files):
            raise ValueError("a name leads out of the folder")
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(
            "the list of files is missing or damaged",
            file=f"{store.name}/{prefix}/{FILES}",
            remedy="Delete this object, and run again: it is made again.",
        ) from error
    objects = {below: (f"{prefix}/{below or name}", str(known)) for below, known in files.items()}
    return Files(name, objects), checksums


def uploaded(store: Store, path: Path, content: str) -> Files:
    """A file or folder from outside of the run, uploaded for machines that do not have it."""
    prefix = f"inputs/{content[:DIGITS]}"
    if not holds_tree(store, prefix, store.checksums(prefix)):
        upload_tree(store, prefix, path)
    return listed_tree(store, prefix)


def as_json(record: Mapping[str, object]) -> bytes:
    """A record as an object: the same bytes for the same record."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, sort_keys=True) + "\n"
    return text.encode("utf-8", "backslashreplace")
