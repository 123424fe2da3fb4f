"""State of a stage, decided by digests alone: the same decision for a run and for a dry run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraloom.core.digests import digest, path_digest
from paraloom.core.lazy import load_object
from paraloom.core.remote_files import is_url
from paraloom.core.stage import BATCH_ROWS, Fit, Json, Map
from paraloom.io import Corpus
from paraloom.pipeline.definition import Definition, Step
from paraloom.pipeline.fit import ARTIFACT, find_artifact
from paraloom.pipeline.manifest import Manifest, ShardRecord

if TYPE_CHECKING:
    from paraloom.pipeline.remote import RemoteRun
    from paraloom.pipeline.remote_manifest import RemoteManifest

_LAYOUT = ["paraloom-run", "1", BATCH_ROWS]  # Part of every key: what the engine itself adds to the bytes of a stage


@dataclass(frozen=True)
class Output:
    """Output of a stage, or of a path outside of the run, for other stages."""

    folder: Path
    digest: str
    shards: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """A stage with all its inputs known."""

    folder_name: str
    label: str
    folder: Path
    manifest: Manifest
    described: Mapping[str, Json]
    key: str
    whole: str
    inputs: Mapping[str, Path]
    source: Output | None = None
    stored: RemoteManifest | None = None

    def shard(self, name: str, key: str) -> ShardRecord | None:
        """The record of a finished shard: written under this key, with the recorded bytes still on disk."""
        record = self.manifest.shard(name, key)
        if record is None or not self.manifest.holds(record.files, record.counts.as_dict()):
            return None
        return record

    def finished(self) -> dict[str, Any] | None:
        """The stage's closing record, if all of it is done and its files are unchanged."""
        end = self.manifest.get("end")
        if end is None or end["key"] != self.whole:
            return None
        if "files" in end:
            return end if self.manifest.holds(end["files"], end["counts"]) else None
        if self.stored is not None:
            return end if self.stored.holds_artifact(end["output"]) else None
        return end if find_artifact(self.folder, end) is not None else None

    def why(self) -> str:
        """Why it has to run, in a few words: it is new, something changed, it was stopped, or files are damaged."""
        before, end = self.manifest.get("begin"), self.manifest.get("end")
        if before is None:
            return "new"
        changed = [name for name in {**before, **self.described} if before.get(name) != self.described.get(name)]
        if changed:
            return f"changed: {', '.join(changed)}"
        if end is None or end["key"] != self.whole:
            return "unfinished"
        return "its files are missing or were changed"


def state_of(
    step: Step, pipeline: Definition, folder: Path, outputs: Mapping[str, Output], remote: RemoteRun | None = None
) -> State | str:
    """The state of a step, by the manifest of the storage if `remote`; or a needed stage that `outputs` lacks."""
    references = {**step.references, **({"": step.source} if step.source is not None else {})}
    resolved: dict[str, Output] = {}
    for name, reference in references.items():
        if isinstance(reference, str) and reference not in outputs:
            return reference
        resolved[name] = outside(reference) if isinstance(reference, Path) else outputs[reference]
    source = resolved.pop("", None)
    stage = step.stage
    described: dict[str, Json] = {
        "use": type(stage).__name__,
        "version": stage.version,
        **stage.configuration(),
        "seed": pipeline.seed,
        "name": step.name,
        **{f"file {number}": [file.name, path_digest(file)] for number, file in enumerate(stage.files(), start=1)},
        **{name: output.digest for name, output in resolved.items()},
    }
    described = json.loads(json.dumps(described))  # As it will be read back: tuples are lists.
    key = digest([_LAYOUT, described])
    whole = key
    if source is not None:
        whole = digest([key, source.digest])
        described["input"] = source.digest
    inputs = {name: output.folder for name, output in resolved.items()}
    label = f"{step.name} ({pipeline.steps.index(step) + 1} of {len(pipeline.steps)})"
    stored: RemoteManifest | None = None
    if remote is not None:
        stored = load_object("paraloom.pipeline.remote_manifest:RemoteManifest")(remote, folder, step.name, key, whole)
    manifest = Manifest(folder) if stored is None else stored
    return State(folder.name, label, folder, manifest, described, key, whole, inputs, source, stored)


def remote_run(folder: str | Path) -> RemoteRun | None:
    """The run at a URL; None for a local folder."""
    run: RemoteRun | None = load_object("paraloom.pipeline.remote:open_run")(folder) if is_url(folder) else None
    return run


def survey_of(state: State, mapping: Map) -> tuple[bool, Json]:
    """True if the survey of a Map is known, and the survey: from the manifest, or None if the class has none."""
    if type(mapping).survey is Map.survey:
        return True, None
    record = state.manifest.get("survey")
    if record is None or record["key"] != state.whole:
        return False, None
    return True, record["value"]


def shard_keys(state: State, survey: Json) -> dict[str, str]:
    """Name of each shard that a Map maps → the key that decides whether it is done."""
    shards = state.source.shards if state.source else {}
    common = digest([state.key, survey])
    return {name: digest([common, name, content]) for name, content in shards.items()}


def output_of(state: State, end: Mapping[str, Any], stage: object) -> Output:
    if isinstance(stage, Fit):
        return Output(state.folder / ARTIFACT, end["output"])
    files = sorted(end["files"].items())
    shards = {name: content for name, content in files if name.endswith(".parquet") and "/" not in name}
    return Output(state.folder, digest([end["kind"], shards]), shards)


def outside(path: Path) -> Output:
    """Kind and content of a path outside of the run: a corpus, a folder such as a model's, or a file."""
    if (path / "corpus.json").is_file():
        corpus = Corpus.open(path)
        corpus.verify()
        shards = {shard.name: content for shard, content in zip(corpus.shards, corpus.digests, strict=True)}
        return Output(path, digest([corpus.kind, shards]), shards)
    return Output(path, path_digest(path))
