"""A folder of an object storage or of a server, with the few verbs that a run needs: each object appears whole.

Nothing is renamed and nothing is appended to, because object storages can do neither. What decides between writers who
race is `create`, which writes an object only if there is none (S3 calls it a conditional put, ``If-None-Match: *``).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from paraloom.core.errors import ConfigError, RunError
from paraloom.core.remote_files import as_url, filesystem, storage_errors
from paraloom.core.secrets import redacted
from paraloom.io.atomic import atomic_write

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_CONDITIONAL = frozenset(["s3", "s3a", "gs", "gcs", "memory"])
"""Schemes whose packages create an object on condition that it does not exist."""

_BY_LINK = frozenset(["file", "sftp", "ssh"])  # Schemes of folders, where a file is written under another name first

_CHECKSUMS = ("md5Hash", "crc32c", "ETag")
"""Facts that storages know about an object and that change with its content; times of changes may be set by anybody."""

_ATTEMPTS = 5


@dataclass(frozen=True)
class Store:
    """Objects below a URL. It can be sent to other processes and machines, which connect when they first use it."""

    url: str

    @classmethod
    def open(cls, url: str | Path) -> Store:
        url = as_url(url)
        scheme = url.partition(":")[0]
        if scheme not in _CONDITIONAL | _BY_LINK:
            raise ConfigError(
                f"a run cannot be kept at a URL that begins with {scheme}://",
                file=redacted(url),
                remedy=f"Schemes for runs are {', '.join(sorted(_CONDITIONAL | _BY_LINK))}; others can be read only.",
            )
        return cls(url)

    def __repr__(self) -> str:
        return f"Store({self.name!r})"

    @property
    def name(self) -> str:
        """The URL without a password, for people."""
        return redacted(self.url)

    def probe(self) -> None:
        """Check that objects can be written, read and deleted, and that `create` writes nothing twice."""
        name = f".probe-{secrets.token_hex(8)}"
        first = self.create(name, b"1")
        try:
            second = self.create(name, b"2")
            if not first or second or self.read(name) != b"1":
                raise RunError(
                    "the storage overwrites objects that are to be created only once",
                    file=self.name,
                    remedy="It has no conditional writes (If-None-Match): run in a local folder, and copy that then.",
                )
        finally:
            self.delete(name)

    def list(self, below: str = "") -> dict[str, int]:
        """Names of all objects below a folder, relative to the store → their size in bytes."""
        sizes = ((name, facts.get("size")) for name, facts in self._find(below))
        return {name: size if isinstance(size, int) else 0 for name, size in sizes}

    def checksums(self, below: str = "") -> dict[str, str]:
        """Names of all objects below a folder → what the storage says of their content, '' where it says nothing."""
        return {name: _checksum(facts) for name, facts in self._find(below)}

    def checksum(self, name: str) -> str:
        """The checksum that the storage has of an object: with other content, S3 and GCS say something else."""
        system, root = self._system()
        with storage_errors(self._of(name)):
            system.invalidate_cache()
            return _checksum(system.info(f"{root}/{name}"))

    def digest(self, name: str) -> str:
        """SHA-256 of the bytes of an object, which are read but not kept; '' if there is none."""
        system, root = self._system()
        with storage_errors(self._of(name)):
            try:
                with system.open(f"{root}/{name}", "rb") as stream:
                    return hashlib.file_digest(stream, "sha256").hexdigest()
            except FileNotFoundError:
                return ""

    def read(self, name: str) -> bytes | None:
        """The content of an object; None if there is none."""
        system, root = self._system()
        with storage_errors(self._of(name)):
            try:
                content: bytes = system.cat_file(f"{root}/{name}")
            except FileNotFoundError:
                return None
        return content

    def read_all(self, names: Sequence[str]) -> dict[str, bytes]:
        """The contents of small objects, several at a time where the storage allows it."""
        system, root = self._system()
        if not names:
            return {}
        with storage_errors(self.url):
            contents = system.cat([f"{root}/{name}" for name in names])
        return {path.removeprefix(f"{root}/"): content for path, content in contents.items()}

    def create(self, name: str, content: bytes) -> bool:
        """Write an object unless there is one: of writers who race at most one gets True; others compare it."""
        system, root = self._system()
        path = f"{root}/{name}"
        with storage_errors(self._of(name)):
            if self._scheme in _BY_LINK:
                return self._link(system, path, content)
            for attempt in range(_ATTEMPTS):
                try:
                    system.pipe_file(path, content, mode="create")
                    return True
                except FileExistsError:
                    return False
                except OSError as error:
                    # S3's answer to one of two writers at the same moment: neither won.
                    if "ConditionalRequestConflict" not in repr(error.__cause__ or error) or attempt + 1 == _ATTEMPTS:
                        raise
                    time.sleep(0.1 * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    def replace(self, name: str, content: bytes | Path) -> None:
        """Write an object, whole or not at all, whatever is there."""
        system, root = self._system()
        path = f"{root}/{name}"
        with storage_errors(self._of(name)):
            if self._scheme not in _BY_LINK:
                _put(system, path, content)
                return
            temporary = self._temporary(system, path, content)
            try:
                if self._scheme == "file":
                    Path(temporary).replace(path)
                else:
                    system.ftp.posix_rename(temporary, path)
            except OSError:
                with suppress(OSError):
                    system.rm_file(temporary)
                raise

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""
        system, root = self._system()
        with storage_errors(self._of(name)), suppress(FileNotFoundError):
            system.rm_file(f"{root}/{name}")

    def fetch(self, name: str, target: Path) -> None:
        """Copy an object to a local file, which appears whole."""
        system, root = self._system()
        with atomic_write(target) as temporary, storage_errors(self._of(name)):
            system.get_file(f"{root}/{name}", str(temporary))

    def _find(self, below: str) -> Sequence[tuple[str, Mapping[str, object]]]:
        """Names of the objects below a folder, and what the storage knows about each."""
        system, root = self._system()
        path = f"{root}/{below}".rstrip("/")
        with storage_errors(self._of(below)):
            system.invalidate_cache()
            try:
                objects = system.find(path, detail=True)
            except FileNotFoundError:
                return []
        return [
            (name.removeprefix(f"{root}/"), facts)
            for name, facts in sorted(objects.items())
            if name.startswith(f"{path}/") and not _is_temporary(name)
        ]

    @property
    def _scheme(self) -> str:
        return self.url.partition(":")[0]

    def _system(self) -> tuple[AbstractFileSystem, str]:
        return filesystem(self.url)  # fsspec keeps one connection per process.

    def _of(self, name: str) -> str:
        return f"{self.url}/{name}" if name else self.url

    def _temporary(self, system: AbstractFileSystem, path: str, content: bytes | Path) -> str:
        folder, _, name = path.rpartition("/")
        temporary = f"{folder}/.{name}.{secrets.token_hex(4)}.tmp"
        for attempt in range(_ATTEMPTS):  # Another writer may make the same folder at the same time.
            try:
                system.makedirs(folder, exist_ok=True)
                break
            except OSError:
                if attempt + 1 == _ATTEMPTS:
                    raise
        _put(system, temporary, content)
        return temporary

    def _link(self, system: AbstractFileSystem, path: str, content: bytes) -> bool:
        """Create a file by renaming a temporary one to a name that must be free."""
        if system.exists(path):
            return False
        temporary = self._temporary(system, path, content)
        try:
            if self._scheme == "file":
                os.link(temporary, path)
            else:
                system.ftp.rename(temporary, path)  # By the protocol, it fails if there is such a file.
                return True
        except OSError:
            if not system.exists(path):
                raise
            return False
        finally:
            with suppress(OSError):
                system.rm_file(temporary)
        return True


def _put(system: AbstractFileSystem, path: str, content: bytes | Path) -> None:
    if isinstance(content, Path):
        system.put_file(str(content), path)
    else:
        system.pipe_file(path, content)


def _checksum(facts: Mapping[str, object]) -> str:
    return next((f"{key} {facts[key]}" for key in _CHECKSUMS if facts.get(key)), "")


def _is_temporary(name: str) -> bool:
    last = PurePosixPath(name).name
    return last.startswith(".") and (last.endswith(".tmp") or last.startswith(".probe-"))
