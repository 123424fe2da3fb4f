"""The tasks of workers that may be on other machines than the driver: they fetch what they read, and commit shards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from paraloom.core.progress import Advance
from paraloom.core.remote_files import cache_folder
from paraloom.core.stage import Map
from paraloom.io.atomic import unwritable_as_error
from paraloom.pipeline.manifest import ShardRecord
from paraloom.pipeline.remote import RemoteRun
from paraloom.pipeline.remote_objects import StageObjects
from paraloom.pipeline.shard import ShardTask
from paraloom.pipeline.transfer import Files


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
    """The stage with other paths in its fields."""
    if not paths:
        return mapping

    def moved(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(moved(item) for item in value)
        return paths.get(value, value) if isinstance(value, Path) else value

    changed = {f.name: moved(getattr(mapping, f.name)) for f in fields(mapping) if f.name not in mapping.inputs}
    return replace(mapping, **{name: value for name, value in changed.items() if value != getattr(mapping, name)})
