"""Definition of a pipeline: named stages, checked, each referring only to earlier ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from paraloom.bundled import bundled_path
from paraloom.core.errors import ConfigError, ParaloomError, nearest
from paraloom.core.remote_files import fetched, is_url
from paraloom.core.stage import Fit, Map, Ref, Stage
from paraloom.pipeline.registry import use_of

Reference: TypeAlias = str | Path  # The name of an earlier stage, or a path outside of the run

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Step:
    """A stage at its position in a pipeline."""

    name: str
    use: str
    stage: Stage
    source: Reference | None = None
    references: Mapping[str, Reference] = field(default_factory=dict)

    def files(self) -> list[Path]:
        """The files and folders outside of the run that the stage reads."""
        references = (self.source, *self.references.values())
        return [*self.stage.files(), *(reference for reference in references if isinstance(reference, Path))]


OF_COMMAND = "verb"  # Name of the pipeline of a command that is not `run`


@dataclass(frozen=True)
class Definition:
    """Steps in the order they run; a step refers only to earlier ones.

    Shards that are soon deleted are not compressed: a third of the time, and twice the space.
    """

    name: str
    seed: int
    steps: tuple[Step, ...]
    text: str = ""
    compressed: bool = True

    def files(self) -> list[Path]:
        """The files and folders outside of the run that its stages read."""
        return [path for step in self.steps for path in step.files()]

    def until(self, name: str | None) -> tuple[Step, ...]:
        """The steps up to and including `name`, all for None."""
        if name is None:
            return self.steps
        names = [step.name for step in self.steps]
        if name not in names:
            raise ConfigError(f"unknown stage '{name}'{nearest(name, names)}")
        return self.steps[: names.index(name) + 1]


def detached(step: Step) -> Stage:
    """The stage of a step with names and paths instead of stages, whose data worker processes shall not carry."""
    stage = step.stage.with_references(step.references)
    return replace(stage, input=step.source) if isinstance(stage, Map) and stage.input is not None else stage


def define_steps(stages: Iterable[Stage], base: Path) -> tuple[Step, ...]:
    """Check stages and resolve what they refer to."""
    steps: list[Step] = []
    for stage in stages:
        if not isinstance(stage, Stage):
            raise ConfigError(
                f"expected a list of stages, got {type(stage).__name__} as number {len(steps) + 1}",
                remedy="Take stages from paraloom.stages.",
            )
        use = use_of(type(stage))
        try:
            for companion in stage.companions():
                steps.append(_step(companion, use_of(type(companion)), steps, base))
            steps.append(_step(stage, use, steps, base))
        except ParaloomError as error:
            error.at(stage=stage.name or use)
            raise
    if not steps:
        raise ConfigError(
            "the pipeline has no stages", remedy="Give at least one; in TOML, each begins with [[stage]]."
        )
    return tuple(steps)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long for the file system
        return False


def _step(stage: Stage, use: str, earlier: Sequence[Step], base: Path) -> Step:
    name = stage.name or re.split(r"[:.]", use)[-1]  # of package.module:function.<locals>.Class the last part
    if not _NAME.fullmatch(name):
        raise ConfigError(f"key 'name' must be letters, digits, - and _, not {name!r}")
    if name in (step.name for step in earlier):
        raise ConfigError("an earlier stage has this name", remedy="Give each stage a unique name.")
    missing = next((path for path in stage.files() if not _exists(path)), None)
    if missing is not None:
        raise ConfigError(f"file '{missing}' not found", remedy=f"Relative paths are resolved against {base}.")
    source = _source(stage, earlier, base) if isinstance(stage, Map) else None
    references = {key: _resolve(value, key.partition(".")[0], earlier, base) for key, value in stage.refs()}
    return Step(name, use, stage, source, references)


def _source(stage: Map, earlier: Sequence[Step], base: Path) -> Reference:
    corpora = [step for step in earlier if not isinstance(step.stage, Fit)]
    if stage.input is None:
        if not corpora:
            raise ConfigError("no earlier stage yields a corpus", remedy="Begin with a stage that reads one.")
        return corpora[-1].name
    models = [step for step in earlier if isinstance(step.stage, Fit)]
    model = next((step for step in models if stage.input in (step.name,) or stage.input is step.stage), None)
    if model is not None:
        raise ConfigError(f"key 'input': stage '{model.name}' yields a model, not a corpus")
    return _resolve(stage.input, "input", corpora, base)


def _resolve(value: Ref, key: str, earlier: Sequence[Step], base: Path) -> Reference:
    if isinstance(value, Stage):
        step = next((step for step in earlier if step.stage is value), None)
        if step is None:
            raise ConfigError(
                f"key '{key}': the {type(value).__name__} it refers to is not an earlier stage of this pipeline",
                remedy="List a stage before the stages that use it.",
            )
        return step.name
    names = [step.name for step in earlier]
    if str(value) in names and not isinstance(value, Path):
        return str(value)
    if is_url(value):
        return fetched(value)
    path = base / Path(value).expanduser()
    bundled = None if path.exists() else bundled_path(str(value), key)
    if bundled is not None:
        return bundled
    if not path.exists() and (isinstance(value, Path) or "/" in value):
        raise ConfigError(f"key '{key}': '{value}' not found", remedy=f"Relative paths are resolved against {base}.")
    if not path.exists():
        raise ConfigError(
            f"key '{key}': '{value}' is neither an earlier stage nor a path{nearest(str(value), names)}",
            remedy=f"A stage can only use earlier stages; relative paths are resolved against {base}.",
        )
    return path
