"""A run folder as the page sees it: stages in order, their counts, and where their corpora and artifacts are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from paraloom.core.errors import DataError, ParaloomError
from paraloom.io import Corpus

RUN = "run.json"
_UNSET: tuple[object, ...] = (None, "", [])


@dataclass(frozen=True)
class StageView:
    """One stage.  folder: its name in the run folder.  name: the user's.  what: the kind of stage, in words.

    settings: how it was configured, in one line.  read, kept, rejected, failed: rows that went in and what became of
    them; out: rows that came out.  All are 0 for a stage that makes a model.
    """

    folder: str
    name: str
    what: str
    kind: Literal["source", "map", "fit"]
    settings: str = ""
    read: int = 0
    kept: int = 0
    rejected: int = 0
    failed: int = 0
    out: int = 0
    seconds: float | None = None
    digest: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunView:
    """A run.  stages: those that are done.  facts: what made it (seed, versions …), by name.  pipeline: its TOML.

    pending: names of the stages that are still to do.
    """

    root: Path
    name: str
    stages: tuple[StageView, ...]
    facts: Mapping[str, str]
    pipeline: str = ""
    pending: tuple[str, ...] = ()

    def corpus(self, stage: StageView) -> Corpus | None:
        """What the stage yielded, None where that is no corpus."""
        if stage.kind == "fit":
            return None
        try:
            return Corpus.open(self.root / stage.folder)
        except ParaloomError:
            return None

    def aside(self, stage: StageView, lane: Literal["rejected", "failed"]) -> Sequence[Path]:
        """The shards of rows that the stage set aside."""
        return sorted((self.root / stage.folder / lane).glob("*.parquet"))

    def artifact(self, stage: StageView) -> Path:
        """The folder of what a stage coerce."""
        return self.root / stage.folder / "artifact"


def open_run(folder: str | Path) -> RunView:
    """The run in `folder`, finished or not.  Raises DataError when there is none, or its run.json cannot be read."""
    root = Path(folder)
    path = root / RUN
    if not path.is_file():
        raise DataError(
            f"this is no run folder: there is no {RUN}" if root.is_dir() else "there is no such folder",
            file=root,
            remedy="Name the folder that `paraloom run` wrote to.",
        )
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        stages = tuple(_stage(each) for each in told["stages"] if "folder" in each)
        pending = tuple(str(each["name"]) for each in told["stages"] if "folder" not in each)
        facts = {key: _said(told[key]) for key in ("seed", "versions", "digest") if key in told}
        name, pipeline = str(told.get("name", root.name)), str(told.get("pipeline", ""))
        return RunView(root, name, stages, facts, pipeline, pending)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"it cannot be read ({error!r})", file=path, remedy="Run the pipeline again.") from error


def score_columns(schema: pa.Schema) -> dict[str, str]:
    """The numeric columns that carry a signature, so were computed: name → signature; raw decoder output left out."""
    raw = {"logprob", "tokens", "rank"}
    found = {}
    for each in schema:
        numeric = pa.types.is_floating(each.type) or pa.types.is_integer(each.type)
        signature = (each.metadata or {}).get(b"signature", b"").decode()
        if numeric and signature and each.name not in raw:
            found[each.name] = signature
    return found


def _stage(told: Mapping[str, Any]) -> StageView:
    counts = told.get("counts") or {}
    use = str(told.get("use", ""))
    configuration = told.get("configuration") or {}
    counts = {key: int(counts.get(key, 0)) for key in ("read", "kept", "rejected", "failed", "out")}
    return StageView(
        folder=str(told["folder"]),
        name=str(told["name"]),
        what=use if use != told["name"] else "",
        kind=told["kind"],
        settings=", ".join(f"{key} = {_said(value)}" for key, value in configuration.items() if value not in _UNSET),
        seconds=told.get("seconds"),
        digest=str(told.get("digest", "")),
        figures=told.get("figures") or {},
        **counts,
    )


def _said(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_said(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    return str(value)
