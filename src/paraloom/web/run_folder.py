"""Reads a run folder for its report: stages in order, row counts, corpora and artifacts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import pyarrow as pa

from paraloom.core.errors import DataError, ParaloomError
from paraloom.core.remote_files import path_below
from paraloom.core.schema import signature_of
from paraloom.io import Corpus
from paraloom.pipeline.estimate import read_estimate, settings_digest
from paraloom.pipeline.registry import STAGES, load_stage
from paraloom.pipeline.result import count_not_sampled
from paraloom.pipeline.store import read_report

RUN = "run.json"
_UNSET: tuple[object, ...] = (None, "", [])
_RAW = ("rank", "logprob", "tokens")  # What decoders write beside a translation
_HIGHEST = 1e15
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class StageView:
    """A finished stage of a run."""

    folder: str
    name: str
    use: str
    kind: Literal["source", "map", "fit"]
    settings: str = ""
    read: int = 0
    kept: int = 0
    rejected: int = 0
    not_sampled: int = 0
    failed: int = 0
    out: int = 0
    seconds: float | None = None
    digest: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunView:
    """A run, finished or not."""

    root: Path
    name: str
    stages: tuple[StageView, ...]
    details: Mapping[str, str]
    pipeline: str = ""
    pending: tuple[str, ...] = ()
    predicted: Mapping[str, float] = field(default_factory=dict)

    def corpus(self, stage: StageView) -> Corpus | None:
        if stage.kind == "fit":
            return None
        try:
            return Corpus.open(self.root / stage.folder)
        except ParaloomError:
            return None

    def split(self, stage: StageView, split: Literal["rejected", "failed"]) -> Sequence[Path]:
        return sorted((self.root / stage.folder / split).glob("*.parquet"))

    def artifact(self, stage: StageView) -> Path:
        return self.root / stage.folder / "artifact"


def open_run(folder: str | Path) -> RunView:
    root = Path(folder)
    path = root / RUN
    if not path.is_file():
        raise DataError(
            f"not a run folder: {RUN} not found" if root.is_dir() else "run folder not found",
            file=root,
            remedy="Give the folder that `paraloom run` wrote.",
        )
    try:
        record = read_report(path)
        stages = tuple(_stage(root, stage) for stage in record["stages"] if "folder" in stage)
        pending = tuple(str(stage["name"]) for stage in record["stages"] if "folder" not in stage)
        details: dict[str, str] = {key: _text(record[key]) for key in ("seed", "versions", "digest") if key in record}
        name, pipeline = str(record.get("name", root.name)), str(record.get("pipeline", ""))
        return RunView(root, name, stages, details, pipeline, pending, _predicted(root, record["stages"]))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, OSError) as error:
        raise DataError(f"cannot be read ({error!r})", file=path, remedy="Run the pipeline again.") from error


def score_columns(schema: pa.Schema) -> dict[str, str]:
    """The score columns of a corpus, which are numeric and signed, without raw decoder output: name → signature."""
    numbers = [field for field in schema if pa.types.is_floating(field.type) or pa.types.is_integer(field.type)]
    signatures = {field.name: signature_of(field) for field in numbers if field.name not in _RAW}
    return {name: signature for name, signature in signatures.items() if signature}


def _predicted(root: Path, stages: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Seconds of work by stage, of the estimate in the folder; empty if it was made for other settings."""
    estimate = read_estimate(root)
    keys = ("use", "version", "configuration")
    known = [stage for stage in stages if all(key in stage for key in keys)]
    settings = {str(stage["name"]): settings_digest(*(stage[key] for key in keys)) for stage in known}
    if estimate is None or not estimate.is_of(settings):
        return {}
    return {stage.name: stage.work_seconds(estimate.workers) for stage in estimate.stages}


def _stage(root: Path, record: Mapping[str, Any]) -> StageView:
    counts = record.get("counts") or {}
    use = str(record.get("use", ""))
    configuration = record.get("configuration") or {}
    rows = {key: _number(counts.get(key, 0), int) for key in ("read", "kept", "rejected", "failed", "out")}
    seconds = record.get("seconds")
    folder, name = str(record["folder"]), str(record["name"])
    stage_folder = path_below(root, record["folder"], root / RUN)
    f"{folder}{name}".encode()  # half of a surrogate pair cannot be in an address
    return StageView(
        folder=folder,
        name=name,
        use=use if use != record["name"] else "",
        kind=record["kind"],
        settings=", ".join(f"{key} = {_text(value)}" for key, value in _changed(use, configuration).items()),
        seconds=None if seconds is None else _number(seconds, float),
        digest=str(record.get("digest", "")),
        figures=record.get("figures") or {},
        not_sampled=count_not_sampled(stage_folder, use, configuration, rows["rejected"]),
        **rows,
    )


def _number(value: object, kind: type[Number]) -> Number:
    """A number of run.json; raises ValueError or TypeError where it is none, or none that a page can show."""
    if not isinstance(value, int | float) or not abs(value) < _HIGHEST:
        raise ValueError(f"expected a number, got {str(value)[:50]!r}")
    return kind(value)


def _changed(use: str, configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from the defaults of the stage; all settings where the stage is not one of ours."""
    # To look at a run imports nothing that the run names.
    defaults: dict[str, object] = {}
    if use in STAGES:
        kind = load_stage(use)
        defaults = {**kind.removed_fields, **{field.name: field.default for field in dataclasses.fields(kind)}}
    return {
        key: value
        for key, value in configuration.items()
        if value not in _UNSET and _text(value) != _text(defaults.get(key, dataclasses.MISSING))
    }


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)
