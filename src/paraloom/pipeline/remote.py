"""Runs whose folder is a URL: work is done in a local copy, and what is finished is committed to the storage.

Below the URL, each stage has a folder with its files, each named by its content, and one small object for each entry of
its manifest, named by the digest of all that the entry depends on:

    score/part-00000.3f1c….parquet           a shard
    score/9be2…/shard-part-00000.77ab….json  its entry: written last, on condition that there is none
    score/9be2…/end.c41d….json               the closing record of the stage
    train/artifact/51ce…/…                   a model, and files.json, which is written last

Whoever reads trusts the entries alone. A writer that is killed leaves files that no entry names; two writers of the
same shard write the same bytes, and the entry of one of them holds.
"""

from __future__ import annotations

import platform
import secrets
from dataclasses import dataclass
from pathlib import Path

from paraloom.core.digests import digest
from paraloom.core.errors import RunError
from paraloom.core.remote_files import as_url, local_copy
from paraloom.io.atomic import atomic_write, disk_full_as_error, unwritable_as_error
from paraloom.io.store import Store

_REPORT = "run.json"
_TOKEN = ".shared"
STATUSES = ".status"  # Folder with the status of each process that runs, or ran, the same at a URL


@dataclass(frozen=True)
class RemoteRun:
    """A run at a URL, as this and other machines know it."""

    store: Store
    folder: Path
    token: str

    def begin(self) -> None:
        """Check rights, and that nothing but a run is there; fetch run.json, which says what run."""
        self.store.probe()
        present = self.store.list()  # Before run.json, which a driver that begins now writes first.
        report = self.store.read(_REPORT)
        if report is None and present:
            raise RunError(
                "this folder holds something other than a run", file=self.store.name, remedy="Name a new folder."
            )
        with disk_full_as_error(self.folder), unwritable_as_error(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / _REPORT).unlink(missing_ok=True)
            if report is not None:
                with atomic_write(self.folder / _REPORT) as temporary:
                    temporary.write_bytes(report)
            else:
                (self.folder / ".lock").touch()

    def share(self) -> None:
        """Leave the token in the local copy, which is locked by this process."""
        with disk_full_as_error(self.folder), unwritable_as_error(self.folder):
            (self.folder / _TOKEN).write_text(self.token, encoding="ascii")

    def is_shared(self) -> bool:
        """True if this process sees the driver's local copy, and not just another folder at the same path."""
        if local_copy(self.store.url) != self.folder:
            return False
        try:
            return (self.folder / _TOKEN).read_text(encoding="ascii") == self.token
        except OSError:
            return False

    def write_status(self, text: str) -> None:
        """Copy the status of this process to the storage, in place of that of an earlier one of the same local copy."""
        own = digest([platform.node(), str(self.folder)])[:16]
        self.store.replace(f"{STATUSES}/{own}.json", text.encode(errors="backslashreplace"))

    def write_report(self) -> None:
        self.store.replace(_REPORT, (self.folder / _REPORT).read_bytes())


def open_run(url: str | Path) -> RemoteRun:
    """The run at a URL, with its local copy in the cache of this machine."""
    store = Store.open(as_url(url))
    return RemoteRun(store, local_copy(url), secrets.token_hex(16))
