"""The manifest of a stage whose run is kept in a storage."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path, PurePosixPath
from typing import Any

from paraloom.core.progress import Advance
from paraloom.core.remote_files import cache_folder
from paraloom.core.stage import Map
from paraloom.io.atomic import unwritable_as_error
from paraloom.io.corpus import DESCRIPTION
from paraloom.pipeline.fit import ARTIFACT, commit_artifact, find_artifact
from paraloom.pipeline.manifest import Manifest, ShardRecord, artifact_digest
from paraloom.pipeline.remote import RemoteRun
from paraloom.pipeline.remote_objects import StageObjects, read_entry
from paraloom.pipeline.shard import ShardTask
from paraloom.pipeline.transfer import (
    DIGITS,
    Files,
    Recorded,
    as_json,
    fetch_file,
    holds,
    holds_tree,
    listed_tree,
    upload_tree,
)


class RemoteManifest(Manifest):
    """The manifest of a stage in a storage. The journal in the local copy says the same, and is not read."""

    def __init__(self, run: RemoteRun, folder: Path, stage: str, key: str, whole: str) -> None:
        super().__init__(folder)
        self.run = run
        self.folder = folder
        self.objects = StageObjects(run.store, stage, key)
        self._whole = whole
        self._present = run.store.checksums(stage)
        self._checksums: dict[str, str] = {}
        self._held: set[str] = set()
        self._remote: dict[tuple[str, str], dict[str, Any]] = {}
        self._by_workers: set[str] = set()
        self._read(("begin", "end", "survey", "check"))
        self._shards_read = False

    def get(self, kind: str, name: str = "") -> dict[str, Any] | None:
        return self._remote.get((kind, name))

    def shard(self, name: str, key: str = "") -> ShardRecord | None:
        if not self._shards_read:
            self._shards_read = True
            prefix = f"{self.objects.stage}/{self.objects.key[:DIGITS]}/shard-"
            contents = self.run.store.read_all([entry for entry in self._present if entry.startswith(prefix)])
            for content in contents.values():
                record = self._entered("shard", content)
                if record is not None:
                    self._remote["shard", f"{record['name']} {record['key']}"] = record
        record = self._remote.get(("shard", f"{name} {key}"))
        if record is None:
            return None
        self._note("shard", record, name)
        return ShardRecord.from_dict(record)

    def put(self, kind: str, record: Mapping[str, object], name: str = "") -> dict[str, Any]:
        """Commit an entry, after the files that it names; returns the one that holds, of the first writer."""
        if kind == "begin":
            self.run.store.replace(f"{self.objects.stage}/begin.json", as_json(record))
        elif kind == "shard" and name not in self._by_workers:
            record = self.objects.commit_shard(ShardRecord.from_dict(record), self.folder).as_dict()
        elif kind != "shard":
            checksums = self._upload_output(record) if kind == "end" else {}
            record = self.objects.commit(kind, record, checksums=checksums)
        key = f"{name} {record['key']}" if kind == "shard" else name
        self._remote[kind, key] = dict(record)
        return super().put(kind, record, name)

    def holds(self, files: Mapping[str, str], counts: Mapping[str, object]) -> bool:
        """True if the storage has all of `files`; RunError if one has other bytes."""
        objects = {name: self.objects.file(name, content) for name, content in files.items()}
        unseen = [
            Recorded(objects[name], content, self._checksums.get(name, ""))
            for name, content in files.items()
            if objects[name] not in self._held
        ]
        held = holds(self.run.store, unseen, self._present)
        self._held.update(objects.values() if held else ())
        return held

    def holds_artifact(self, output: str) -> bool:
        """True if the storage has all of the artifact with this digest; RunError if a file has other bytes."""
        return holds_tree(self.run.store, self.objects.artifact(output), self._present)

    def fetch(self, files: Mapping[str, str]) -> None:
        for name, content in files.items():
            fetch_file(self.run.store, self.objects.file(name, content), self.folder / name, content)

    def fetch_output(self, end: Mapping[str, Any]) -> None:
        """Fetch the output of the finished stage, as far as it is not in the local copy."""
        self._note("end", end)
        if "files" in end:
            self.fetch({name: content for name, content in end["files"].items() if "/" not in name})
            return
        commit_artifact(self.folder, end)
        artifact = self.folder / ARTIFACT
        if not (artifact.is_dir() and artifact_digest(artifact) == end["output"]):
            shutil.rmtree(artifact, ignore_errors=True)
            for below, (key, content) in self.output(end).objects.items():
                fetch_file(self.run.store, key, artifact / below, content)

    def output(self, end: Mapping[str, Any]) -> Files:
        if "output" in end:
            return listed_tree(self.run.store, self.objects.artifact(end["output"]))
        kept = {name: content for name, content in end["files"].items() if "/" not in name}
        return Files(
            self.folder.name, {name: (self.objects.file(name, content), content) for name, content in kept.items()}
        )

    def task(self, task: ShardTask, elsewhere: Elsewhere | None) -> RemoteShardTask:
        elsewhere = elsewhere or Elsewhere()
        self._by_workers.add(task.name)
        shard = elsewhere.source.get(task.name)
        source = Files(task.name, {} if shard is None else {"": shard})
        return RemoteShardTask(task, self.run, self.objects, source, elsewhere.inputs, elsewhere.paths)

    def _read(self, kinds: tuple[str, ...]) -> None:
        for kind in kinds:
            entry = self.objects.entry(kind, self._whole) if kind != "begin" else f"{self.objects.stage}/begin.json"
            record = self._entered(kind, self.run.store.read(entry)) if entry in self._present else None
            if record is not None:
                self._remote[kind, ""] = record

    def _entered(self, kind: str, content: bytes | None) -> dict[str, object] | None:
        """The record of an entry; the checksums that it has are noted."""
        record, checksums = read_entry(kind, content)
        self._checksums.update(checksums)
        return record

    def _note(self, kind: str, record: Mapping[str, object], name: str = "") -> None:
        """Write a record into the local journal, unless it is there."""
        if super().get(kind, name) != record:
            super().put(kind, record, name)

    def _upload_output(self, end: Mapping[str, Any]) -> dict[str, str]:
        """Upload what the closing record names and no shard's record does; returns the checksums of all files."""
        if "output" in end:
            artifact = find_artifact(self.folder, end)
            assert artifact is not None, "a Fit ends with its artifact in the local copy"
            upload_tree(self.run.store, self.objects.artifact(end["output"]), artifact)
            return {}
        known = {name for record in self._remote.values() for name in record.get("files", ())}
        self.objects.upload(self.folder, {name: end["files"][name] for name in end["files"] if name not in known})
        for name in end["files"]:
            if PurePosixPath(name).name == DESCRIPTION:
                self._describe(name, end["files"])
        present = self.run.store.checksums(self.objects.stage)
        uploaded = {name: present.get(self.objects.file(name, content), "") for name, content in end["files"].items()}
        # What an earlier run uploaded was compared with what that run recorded, not with what is there now.
        return uploaded | {name: known for name, known in self._checksums.items() if known and name in uploaded}

    def _describe(self, name: str, files: Mapping[str, str]) -> None:
        """Write a corpus.json that names the objects, so that whoever fetches the folder has a corpus."""
        below = PurePosixPath(name).parent
        description = json.loads((self.folder / name).read_text(encoding="utf-8"))
        for shard in description["shards"]:
            content = files[(below / shard["file"]).as_posix()]
            shard["file"] = PurePosixPath(self.objects.file(shard["file"], content)).name
        self.run.store.replace(f"{self.objects.stage}/{name}", as_json(description))


@dataclass(frozen=True)
class Elsewhere:
    """Files that workers fetch when they do not see the driver's; empty where all of them do."""

    source: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    inputs: Mapping[str, Files] = field(default_factory=dict)
    paths: Mapping[Path, Files] = field(default_factory=dict)


@dataclass(frozen=True)
class RemoteShardTask:
    """One shard of a Map, as a task for a worker that may be on another machine, and that commits the shard."""

    task: ShardTask
    run: RemoteRun
    objects: StageObjects
    source: Files
    inputs: Mapping[str, Files] = field(default_factory=dict)
    paths: Mapping[Path, Files] = field(default_factory=dict)

    @property
    def stage(self) -> str:
        return self.task.stage

    @property
    def file(self) -> str:
        return self.task.file

    @property
    def rows(self) -> int:
        return self.task.rows

    def __call__(self, advance: Advance) -> ShardRecord:
        if self.run.is_shared():
            return self.objects.commit_shard(self.task(advance), self.task.folder)
        with _working_folder() as folder:
            store = self.run.store
            paths = {path: files.fetch(store) for path, files in self.paths.items()}
            task = replace(
                self.task,
                file=str(self.source.fetch(store)),
                folder=folder,
                mapping=_with_paths(self.task.mapping, paths),
                inputs={name: files.fetch(store) for name, files in self.inputs.items()},
            )
            return self.objects.commit_shard(task(advance), folder)


@contextmanager
def _working_folder() -> Iterator[Path]:
    """A folder of the cache that is removed at the end."""
    below = cache_folder().absolute() / "work"
    with unwritable_as_error(below):
        below.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=below))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _with_paths(mapping: Map, paths: Mapping[Path, Path]) -> Map:
    if not paths:
        return mapping

    def moved(value: object) -> Any:
        if isinstance(value, tuple):
            return tuple(moved(item) for item in value)
        return paths.get(value, value) if isinstance(value, Path) else value

    changed = {f.name: moved(getattr(mapping, f.name)) for f in fields(mapping) if f.name not in mapping.inputs}
    return replace(mapping, **{name: value for name, value in changed.items() if value != getattr(mapping, name)})
