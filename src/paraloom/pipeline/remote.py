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

import json
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import RunError
from paraloom.core.progress import Advance
from paraloom.core.remote_files import as_url, cache_folder, is_url, local_copy
from paraloom.core.stage import Map
from paraloom.io.atomic import atomic_write, disk_full_as_error, unwritable_as_error
from paraloom.io.corpus import DESCRIPTION
from paraloom.io.store import Store
from paraloom.pipeline.fit import ARTIFACT, commit_artifact, find_artifact
from paraloom.pipeline.manifest import Manifest, ShardRecord, artifact_digest, is_record
from paraloom.pipeline.shard import ShardTask

_REPORT = "run.json"
_FILES = "files.json"
_TOKEN = ".shared"
_DIGITS = 16
"""Digits of a digest in the name of an object."""

# What two workers who do the same work measure differently.
_MEASURES = ("seconds", "memory")


@dataclass(frozen=True)
class RemoteRun:
    """A run at a URL, as this and other machines know it.

    Args:
        store: Its objects.
        folder: Its local copy on the machine of the driver.
        token: Random text in a file there: a worker that finds it works in the same folder.
    """

    store: Store
    folder: Path
    token: str

    def begin(self) -> None:
        """Check rights, and that nothing but a run is there; fetch run.json, which says what run.

        Raises:
            RunError: The storage refuses, or holds something else.
        """
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
        """Whether this process sees the driver's local copy, and not just another folder at the same path."""
        if local_copy(self.store.url) != self.folder:
            return False
        try:
            return (self.folder / _TOKEN).read_text(encoding="ascii") == self.token
        except OSError:
            return False

    def write_report(self) -> None:
        """Copy run.json to the storage."""
        self.store.replace(_REPORT, (self.folder / _REPORT).read_bytes())


def remote_run(url: str | Path) -> RemoteRun | None:
    """The run at a URL, with its local copy in the cache of this machine; None for a local folder.

    Raises:
        ConfigError: Runs cannot be kept at URLs of this scheme.
    """
    if not is_url(url):
        return None
    store = Store.open(as_url(url))
    return RemoteRun(store, local_copy(url), secrets.token_hex(16))


@dataclass(frozen=True)
class Files:
    """Files of a storage that make up a file or a folder, for a machine that does not have it.

    Args:
        name: Name of the file or folder.
        objects: Path below the folder ('' for a file) → its object, and its SHA-256 ('' for any content).
    """

    name: str
    objects: Mapping[str, tuple[str, str]]

    def fetch(self, store: Store) -> Path:
        """Fetch what is not in the cache of this machine; checked once per process.

        Raises:
            RunError: An object is missing, or has other bytes.
        """
        return _fetch_once(store, self.name, tuple(sorted(self.objects.items())))


@lru_cache(maxsize=256)
def _fetch_once(store: Store, name: str, objects: tuple[tuple[str, tuple[str, str]], ...]) -> Path:
    contents = [[below, content] for below, (_, content) in objects]
    target = cache_folder().absolute() / "fetched" / digest(contents)[:24] / name
    for below, (key, content) in objects:
        _fetch(store, key, target / below if below else target, content)
    return target


def _fetch(store: Store, name: str, path: Path, content: str) -> None:
    """Fetch an object to a file, unless the file is there; files of timings have no digest, as in artifacts."""
    if path.is_file() and content in ("", file_digest(path)):
        return
    store.fetch(name, path)
    if content not in ("", file_digest(path)):
        path.unlink()
        raise RunError(
            "the bytes differ from those that the manifest records",
            file=f"{store.name}/{name}",
            remedy="Delete this object, and run again: it is made again.",
        )


def _upload_tree(store: Store, prefix: str, path: Path) -> None:
    """Upload a file or a folder (without `checkpoint/`), and last the list of its files."""
    below = {"": path}
    if path.is_dir():
        below = {file.relative_to(path).as_posix(): file for file in sorted(path.rglob("*")) if file.is_file()}
        below = {name: file for name, file in below.items() if not name.startswith("checkpoint/")}
    digests = {}
    for name, file in below.items():
        store.replace(f"{prefix}/{name or path.name}", file)
        digests[name] = "" if file.name.startswith("timings.") else file_digest(file)
    store.create(f"{prefix}/{_FILES}", _json({"name": path.name, "files": digests}))


def _tree(store: Store, prefix: str) -> Files:
    """What `_upload_tree` uploaded."""
    content = store.read(f"{prefix}/{_FILES}")
    try:
        listed = json.loads(content or b"")
        name, files = str(listed["name"]), dict(listed["files"])
        if any(".." in PurePosixPath(below).parts or below.startswith("/") for below in (name, *files)):
            raise ValueError("a name leads out of the folder")
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(
            "the list of files is missing or damaged",
            file=f"{store.name}/{prefix}/{_FILES}",
            remedy="Delete this object, and run again: it is made again.",
        ) from error
    return Files(name, {below: (f"{prefix}/{below or name}", str(known)) for below, known in files.items()})


def uploaded(store: Store, path: Path, content: str) -> Files:
    """A file or folder from outside of the run, uploaded for machines that do not have it.

    Args:
        store: The run's objects.
        path: The file or folder.
        content: Its digest, which names it there.
    """
    prefix = f"inputs/{content[:_DIGITS]}"
    if store.read(f"{prefix}/{_FILES}") is None:
        _upload_tree(store, prefix, path)
    return _tree(store, prefix)


@dataclass(frozen=True)
class Elsewhere:
    """What workers that do not see the driver's files fetch; empty where all of them do.

    Args:
        source: Name of each shard of the corpus that is mapped → its object, and its SHA-256.
        inputs: What `StageContext.inputs` refers to.
        paths: What `Path` fields of the stage refer to.
    """

    source: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    inputs: Mapping[str, Files] = field(default_factory=dict)
    paths: Mapping[Path, Files] = field(default_factory=dict)


@dataclass(frozen=True)
class StageObjects:
    """The objects of a stage; workers on any machine commit with it.

    Args:
        store: The run's objects.
        stage: Name of the stage.
        key: Digest of what its shards depend on.
    """

    store: Store
    stage: str
    key: str

    def file(self, name: str, content: str) -> str:
        """The object of a file of the stage, which its digest is part of.

        Example:
            >>> StageObjects(Store("memory://run"), "score", "").file("rejected/part-00000.parquet", "3f1c" * 16)
            'score/rejected/part-00000.3f1c3f1c3f1c3f1c.parquet'
        """
        path = PurePosixPath(name)
        return f"{self.stage}/{path.with_name(f'{path.stem}.{content[:_DIGITS]}{path.suffix}')}"

    def entry(self, kind: str, key: str, name: str = "") -> str:
        """The object of an entry of the manifest."""
        return f"{self.stage}/{self.key[:_DIGITS]}/{f'{kind}-{name}' if name else kind}.{key[:_DIGITS]}.json"

    def artifact(self, output: str) -> str:
        """The folder of an artifact."""
        return f"{self.stage}/{ARTIFACT}/{output[:_DIGITS]}"

    def upload(self, folder: Path, files: Mapping[str, str]) -> None:
        """Upload files of the stage; whoever uploads the same name uploads the same bytes."""
        for name, content in files.items():
            self.store.replace(self.file(name, content), folder / name)

    def commit(self, kind: str, record: Mapping[str, Any], name: str = "") -> Mapping[str, Any]:
        """Write an entry, unless another writer was faster: returns the one that holds.

        Where an answer was lost after the entry was written, what is there is this very entry, which holds.
        """
        entry, content = self.entry(kind, record["key"], name), _json(record)
        if self.store.create(entry, content):
            return record
        held = _parse(kind, self.store.read(entry))
        if held is not None and _result(held) == _result(record):
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
        self.upload(folder, record.files)
        return ShardRecord.from_dict(self.commit("shard", record.as_dict(), record.name))

    def _has_files(self, record: Mapping[str, Any]) -> bool:
        if "output" in record:
            return self.store.read(f"{self.artifact(record['output'])}/{_FILES}") is not None
        present = self.store.list(self.stage)
        return all(self.file(name, content) in present for name, content in record.get("files", {}).items())


def _json(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, sort_keys=True) + "\n"
    return text.encode("utf-8", "backslashreplace")


def _parse(kind: str, content: bytes | None) -> dict[str, Any] | None:
    """An entry, None if it is not one."""
    try:
        record = json.loads(content or b"")
        return record if is_record(kind, record) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _result(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in _MEASURES}


class RemoteManifest(Manifest):
    """The manifest of a stage that is kept in a storage. The journal in the local copy says the same, and is not read.

    Args:
        run: The run.
        folder: The stage's folder in the local copy.
        stage: Name of the stage.
        key: Digest of what its shards depend on.
        whole: Digest of what its output depends on.
    """

    def __init__(self, run: RemoteRun, folder: Path, stage: str, key: str, whole: str) -> None:
        super().__init__(folder)
        self.run = run
        self.folder = folder
        self.objects = StageObjects(run.store, stage, key)
        self._whole = whole
        self._present = set(run.store.list(stage))
        self._remote: dict[tuple[str, str], dict[str, Any]] = {}
        self._by_workers: set[str] = set()
        self._read(("begin", "end", "survey", "check"))
        self._shards_read = False

    def get(self, kind: str, name: str = "") -> dict[str, Any] | None:
        """The record of a kind, None when there is none."""
        return self._remote.get((kind, name))

    def shard(self, name: str, key: str = "") -> ShardRecord | None:
        """The record of a shard with this key."""
        if not self._shards_read:
            self._shards_read = True
            prefix = f"{self.objects.stage}/{self.objects.key[:_DIGITS]}/shard-"
            contents = self.run.store.read_all([entry for entry in self._present if entry.startswith(prefix)])
            for content in contents.values():
                if (record := _parse("shard", content)) is not None:
                    self._remote["shard", f"{record['name']} {record['key']}"] = record
        record = self._remote.get(("shard", f"{name} {key}"))
        if record is None:
            return None
        self._note("shard", record, name)
        return ShardRecord.from_dict(record)

    def put(self, kind: str, record: Mapping[str, Any], name: str = "") -> dict[str, Any]:
        """Commit an entry, after the files that it names; returns the one that holds, of the first writer."""
        if kind == "begin":
            self.run.store.replace(f"{self.objects.stage}/begin.json", _json(record))
        elif kind == "shard" and name not in self._by_workers:
            record = self.objects.commit_shard(ShardRecord.from_dict(record), self.folder).as_dict()
        elif kind != "shard":
            if kind == "end":
                self._upload_output(record)
            record = self.objects.commit(kind, record)
        key = f"{name} {record['key']}" if kind == "shard" else name
        self._remote[kind, key] = dict(record)
        return super().put(kind, record, name)

    def holds(self, files: Mapping[str, str]) -> bool:
        """Whether the storage has all of `files`; their bytes are compared when they are fetched."""
        return all(self.objects.file(name, content) in self._present for name, content in files.items())

    def holds_artifact(self, output: str) -> bool:
        """Whether the storage has all of the artifact with this digest."""
        return f"{self.objects.artifact(output)}/{_FILES}" in self._present

    def fetch(self, files: Mapping[str, str]) -> None:
        """Fetch those of `files` that are not in the local copy.

        Raises:
            RunError: An object is missing, or has other bytes.
        """
        for name, content in files.items():
            _fetch(self.run.store, self.objects.file(name, content), self.folder / name, content)

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
                _fetch(self.run.store, key, artifact / below, content)

    def output(self, end: Mapping[str, Any]) -> Files:
        """The output of the finished stage, for other machines."""
        if "output" in end:
            return _tree(self.run.store, self.objects.artifact(end["output"]))
        kept = {name: content for name, content in end["files"].items() if "/" not in name}
        return Files(
            self.folder.name, {name: (self.objects.file(name, content), content) for name, content in kept.items()}
        )

    def task(self, task: ShardTask, elsewhere: Elsewhere) -> RemoteShardTask:
        """The task of a worker, which commits the shard itself."""
        self._by_workers.add(task.name)
        shard = elsewhere.source.get(task.name)
        source = Files(task.name, {} if shard is None else {"": shard})
        return RemoteShardTask(task, self.run, self.objects, source, elsewhere.inputs, elsewhere.paths)

    def _read(self, kinds: tuple[str, ...]) -> None:
        for kind in kinds:
            entry = self.objects.entry(kind, self._whole) if kind != "begin" else f"{self.objects.stage}/begin.json"
            if entry in self._present and (record := _parse(kind, self.run.store.read(entry))) is not None:
                self._remote[kind, ""] = record

    def _note(self, kind: str, record: Mapping[str, Any], name: str = "") -> None:
        """Write a record into the local journal, unless it is there."""
        if super().get(kind, name) != record:
            super().put(kind, record, name)

    def _upload_output(self, end: Mapping[str, Any]) -> None:
        """Upload what the closing record names and no shard's record does."""
        if "output" in end:
            artifact = find_artifact(self.folder, end)
            assert artifact is not None, "a Fit ends with its artifact in the local copy"
            _upload_tree(self.run.store, self.objects.artifact(end["output"]), artifact)
            return
        known = {name for record in self._remote.values() for name in record.get("files", ())}
        self.objects.upload(self.folder, {name: end["files"][name] for name in end["files"] if name not in known})
        for name in end["files"]:
            if PurePosixPath(name).name == DESCRIPTION:
                self._describe(name, end["files"])

    def _describe(self, name: str, files: Mapping[str, str]) -> None:
        """Write a corpus.json that names the objects, so that whoever fetches the folder has a corpus."""
        below = PurePosixPath(name).parent
        description = json.loads((self.folder / name).read_text(encoding="utf-8"))
        for shard in description["shards"]:
            content = files[(below / shard["file"]).as_posix()]
            shard["file"] = PurePosixPath(self.objects.file(shard["file"], content)).name
        self.run.store.replace(f"{self.objects.stage}/{name}", _json(description))


@dataclass(frozen=True)
class RemoteShardTask:
    """One shard of a Map, as a task for a worker that may be on another machine, and that commits the shard.

    Args:
        task: The task, with paths of the driver.
        run: The run.
        objects: The objects of the stage.
        source: The shard, for a worker that does not see the driver's files; likewise:
        inputs: What `StageContext.inputs` refers to.
        paths: What `Path` fields of the stage refer to.
    """

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
    """The stage with other paths in its fields."""
    if not paths:
        return mapping

    def moved(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(moved(item) for item in value)
        return paths.get(value, value) if isinstance(value, Path) else value

    changed = {f.name: moved(getattr(mapping, f.name)) for f in fields(mapping) if f.name not in mapping.inputs}
    return replace(mapping, **{name: value for name, value in changed.items() if value != getattr(mapping, name)})
