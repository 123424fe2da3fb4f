"""The manifest of a stage: a journal of what is done, by digest, that survives a kill in the middle of a line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraloom.core.digests import digest, file_digest
from paraloom.io.atomic import disk_full_as_error
from paraloom.pipeline.counts import RowCounts

JOURNAL = "manifest.jsonl"


@dataclass(frozen=True)
class ShardRecord:
    """A shard that is done.

    name: of its file.  key: digest of all that its bytes depend on.  files: path below the stage's folder → SHA-256
    of each file it was written to (kept, rejected, failed rows).  columns: digest of the kept rows' schema, '' where
    there are none.  seconds: of one worker.  memory: its peak, in bytes.
    """

    name: str
    key: str
    files: Mapping[str, str]
    columns: str
    counts: RowCounts
    seconds: float
    memory: int

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "files": dict(self.files), "counts": self.counts.as_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ShardRecord:
        return cls(**{**values, "counts": RowCounts(**values["counts"])})


class Manifest:
    """The journal in a stage's folder, one JSON object a line; of two with the same kind and name the later holds.

    A line counts when it is whole.  What a kill tore in two is passed over, and that shard is done again.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> Manifest(folder).put("survey", {"key": "k", "value": 3})
    >>> _ = (folder / JOURNAL).open("a").write('{"kind": "survey", "va')
    >>> Manifest(folder).get("survey")
    {'key': 'k', 'value': 3}
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL
        self._records: dict[tuple[str, str], dict[str, Any]] = {}
        self._torn = False
        if self.path.is_file():
            text = self.path.read_bytes()
            self._torn = bool(text) and not text.endswith(b"\n")
            for line in text.splitlines():
                self._take(line)

    def get(self, kind: str, name: str = "") -> dict[str, Any] | None:
        """The last record of a kind and name, None when there is none."""
        return self._records.get((kind, name))

    def put(self, kind: str, record: Mapping[str, Any], name: str = "") -> None:
        """Append a record; it is on the disk when this returns."""
        entry = {"kind": kind, "name": name, "record": dict(record)}
        line = ("\n" if self._torn else "") + json.dumps(entry, ensure_ascii=False, allow_nan=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._torn = True  # Until the whole line is there.
        with disk_full_as_error(self.path), self.path.open("ab") as stream:
            stream.write(line.encode())
            stream.flush()
            os.fsync(stream.fileno())
        self._torn = False
        self._records[kind, name] = entry["record"]  # type: ignore[assignment]

    def shard(self, name: str) -> ShardRecord | None:
        """The last record of a shard."""
        record = self.get("shard", name)
        return None if record is None else ShardRecord.from_dict(record)

    def _take(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
            self._records[entry["kind"], entry["name"]] = entry["record"]
        except (ValueError, KeyError, TypeError):
            return


def intact(folder: Path, files: Mapping[str, str]) -> bool:
    """Whether all of `files` are below `folder` with the bytes that were recorded; reads every byte."""
    return all((folder / name).is_file() and file_digest(folder / name) == recorded for name, recorded in files.items())


def artifact_digest(folder: Path) -> str:
    """SHA-256 of a Fit's folder: names and bytes, all but `checkpoint/` and files named `timings.*`."""
    files = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return digest(
        {
            name.as_posix(): file_digest(path)
            for name, path in files.items()
            if name.parts[0] != "checkpoint" and not name.name.startswith("timings.")
        }
    )
