"""The objects of a stage in the storage of its run: their names, and entries that one writer of several commits."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from paraloom.io.store import Store
from paraloom.pipeline.fit import ARTIFACT
from paraloom.pipeline.manifest import ShardRecord, is_record, record_digest
from paraloom.pipeline.transfer import DIGITS, FILES, as_json

# What two workers who do the same work measure differently.
_MEASURES = ("seconds", "memory")

_ABOUT = "about"  # Key of an entry with the digest of its record, and what the storage says of the content of its files


@dataclass(frozen=True)
class StageObjects:
    """The objects of a stage; workers on any machine commit with it."""

    store: Store
    stage: str
    key: str

    def file(self, name: str, content: str) -> str:
        """The object of a file of the stage, which its digest is part of."""
        path = PurePosixPath(name)
        return f"{self.stage}/{path.with_name(f'{path.stem}.{content[:DIGITS]}{path.suffix}')}"

    def entry(self, kind: str, key: str, name: str = "") -> str:
        return f"{self.stage}/{self.key[:DIGITS]}/{f'{kind}-{name}' if name else kind}.{key[:DIGITS]}.json"

    def artifact(self, output: str) -> str:
        return f"{self.stage}/{ARTIFACT}/{output[:DIGITS]}"

    def upload(self, folder: Path, files: Mapping[str, str]) -> dict[str, str]:
        """Upload files of the stage, the same bytes whoever does, and return what the storage says of their content."""
        checksums = {}
        for name, content in files.items():
            self.store.replace(self.file(name, content), folder / name)
            checksums[name] = self.store.checksum(self.file(name, content))
        return checksums

    def commit(
        self, kind: str, record: Mapping[str, Any], name: str = "", checksums: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        """Write an entry, unless another writer was faster; returns the one that holds, also after a lost answer."""
        about = {"sha256": record_digest(record), "checksums": dict(checksums or {})}
        entry, content = self.entry(kind, record["key"], name), as_json({**record, _ABOUT: about})
        if self.store.create(entry, content):
            return record
        held, known = read_entry(kind, self.store.read(entry))
        if held is not None and _result(held) == _result(record):
            if known != about["checksums"]:
                self.store.replace(entry, content)  # Its files were uploaded again.
            return held
        if held is not None and self._has_files(held):
            warnings.warn(
                f"stage {self.stage}: another worker made other bytes of the same {kind} {name}".rstrip()
                + ", and was faster: its result is used",
                stacklevel=2,
            )
            return held
        self.store.replace(entry, content)  # It is damaged, or its files were deleted.
        return record

    def commit_shard(self, record: ShardRecord, folder: Path) -> ShardRecord:
        """Upload the files of a finished shard, then write its entry; returns the entry that holds."""
        checksums = self.upload(folder, record.files)
        return ShardRecord.from_dict(self.commit("shard", record.as_dict(), record.name, checksums))

    def _has_files(self, record: Mapping[str, Any]) -> bool:
        if "output" in record:
            return self.store.read(f"{self.artifact(record['output'])}/{FILES}") is not None
        present = self.store.list(self.stage)
        return all(self.file(name, content) in present for name, content in record.get("files", {}).items())


def read_entry(kind: str, content: bytes | None) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """The record of an entry, None if it is not one or was changed; and the checksums of its files, as far as known."""
    try:
        record = json.loads(content or b"")
        about = record.pop(_ABOUT, {})
        unchanged = "sha256" not in about or about["sha256"] == record_digest(record)
        return (record, dict(about.get("checksums", {}))) if unchanged and is_record(kind, record) else (None, {})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, {}


def _result(record: Mapping[str, object]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in _MEASURES}
