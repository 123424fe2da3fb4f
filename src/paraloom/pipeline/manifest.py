"""The manifest of a stage: a journal of what is done, by digest, that survives a kill in the middle of a line."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraloom.core.digests import digest, file_digest
from paraloom.core.remote_files import is_below
from paraloom.io.atomic import disk_full_as_error, unwritable_as_error
from paraloom.io.shards import open_shard
from paraloom.pipeline.counts import RowCounts

JOURNAL = "manifest.jsonl"


@dataclass(frozen=True)
class ShardRecord:
    """A shard that is done."""

    name: str
    key: str  # Digest of all that its bytes depend on
    # Path below the stage's folder → SHA-256 of each file it was written to (kept, rejected, failed rows).
    files: Mapping[str, str]
    columns: str  # Digest of the kept rows' schema, '' where there are none
    counts: RowCounts
    seconds: float  # Of one worker
    memory: int  # Its peak, in bytes

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "files": dict(self.files), "counts": self.counts.as_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ShardRecord:
        return cls(**{**values, "counts": RowCounts(**values["counts"])})


class Manifest:
    """The journal in a stage's folder, one JSON object a line; of two with the same kind and name the later holds.

    A line counts when it is whole and what we write.  What a kill tore in two, or something else wrote or changed, is
    passed over, and that shard is done again: each line has a digest of its own content. Lines of earlier versions have
    none.
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

    def put(self, kind: str, record: Mapping[str, object], name: str = "") -> dict[str, Any]:
        """Append a record; it is on the disk when this returns. Returns the record that holds, which is this one."""
        entry = {"kind": kind, "name": name, "sha256": _line_digest(kind, name, record), "record": dict(record)}
        line = ("\n" if self._torn else "") + json.dumps(entry, ensure_ascii=False, allow_nan=False) + "\n"
        self._torn = True  # Until the whole line is there.
        with disk_full_as_error(self.path), unwritable_as_error(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as stream:
                # Half of a surrogate pair, as in names that are not UTF-8, becomes an escape of JSON.
                stream.write(line.encode("utf-8", "backslashreplace"))
                stream.flush()
                os.fsync(stream.fileno())
        self._torn = False
        self._records[kind, name] = dict(record)
        return self._records[kind, name]

    def shard(self, name: str, key: str = "") -> ShardRecord | None:
        """The last record of a shard, if it has this key ('' for any)."""
        record = self.get("shard", name)
        return ShardRecord.from_dict(record) if record and key in ("", record["key"]) else None

    def shards(self) -> list[ShardRecord]:
        return [ShardRecord.from_dict(record) for (kind, _), record in self._records.items() if kind == "shard"]

    def holds(self, files: Mapping[str, str], counts: Mapping[str, object]) -> bool:
        """True if all of `files` are there with the bytes that were recorded, and as many rows as `counts` says."""
        return intact(self.path.parent, files) and _rows_fit(self.path.parent, files, counts)

    def fetch(self, files: Mapping[str, str]) -> None:
        """Make sure that `files` are in the stage's folder; where runs are kept elsewhere, they are fetched."""

    def fetch_output(self, end: Mapping[str, object]) -> None:
        """Make sure that the output of the finished stage is in its folder; see `fetch`."""

    def _take(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
            kind, name, record = entry["kind"], entry["name"], entry["record"]
            ours = isinstance(kind, str) and isinstance(name, str) and is_record(kind, record)
            if ours and entry.get("sha256") in (None, _line_digest(kind, name, record)):
                self._records[kind, name] = record
        except (ValueError, KeyError, TypeError, RecursionError):
            return


def is_record(kind: str, record: object) -> bool:
    """True if a record has what is read of its kind, with the right types; raises KeyError or TypeError, too."""
    check = _CHECKS.get(kind)
    return isinstance(record, dict) and (check is None or check(record))


def _is_survey(record: Mapping[str, Any]) -> bool:
    return isinstance(record["key"], str) and "value" in record


def _is_shard(record: Mapping[str, Any]) -> bool:
    shard = ShardRecord.from_dict(record)
    texts: list[object] = [shard.name, shard.key, shard.columns]
    return _are_measures(record) and _are_files(record) and all(isinstance(text, str) for text in texts)


def _is_end(record: Mapping[str, Any]) -> bool:
    artifact = isinstance(record.get("output"), str)
    corpus = "files" in record and _are_files(record) and isinstance(record["kind"], str) and "counts" in record
    shards = isinstance(record.get("shards", 0), int) and isinstance(record.get("figures", {}), dict)
    return isinstance(record["key"], str) and (artifact or corpus) and shards and _are_measures(record)


_CHECKS = {"survey": _is_survey, "shard": _is_shard, "end": _is_end}


def _are_files(record: Mapping[str, object]) -> bool:
    files = record["files"]
    return isinstance(files, dict) and all(is_below(name) and isinstance(value, str) for name, value in files.items())


def _are_measures(record: Mapping[str, Any]) -> bool:
    counts = record.get("counts", {})
    RowCounts(**counts)
    values = [*counts.values(), record["seconds"], record["memory"]]
    return all(isinstance(value, (int, float)) and value >= 0 for value in values)


def intact(folder: Path, files: Mapping[str, str]) -> bool:
    """True if all of `files` are below `folder` with the bytes that were recorded; reads every byte."""
    return all((folder / name).is_file() and file_digest(folder / name) == recorded for name, recorded in files.items())


def _rows_fit(folder: Path, files: Mapping[str, str], counts: Mapping[str, Any]) -> bool:
    """True if files have the rows that are recorded as written and failed, and the row counts add up."""
    rows: Counter[str] = Counter()
    for name in files:
        if name.endswith(".parquet"):
            with open_shard(folder / name) as file:
                rows[name.rpartition("/")[0]] += file.metadata.num_rows
    known = RowCounts(**counts)
    adds_up = known.read == known.kept + known.rejected + known.failed
    return adds_up and (known.out, known.failed) == (rows[""], rows["failed"])


def record_digest(record: Mapping[str, object]) -> str:
    """The digest of a record as it is read back, without `output`, with which the artifact itself is compared."""
    known = {key: value for key, value in record.items() if key != "output"}
    return digest(json.loads(json.dumps(known, allow_nan=False)))


def _line_digest(kind: str, name: str, record: Mapping[str, object]) -> str:
    return digest([kind, name, record_digest(record)])


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
