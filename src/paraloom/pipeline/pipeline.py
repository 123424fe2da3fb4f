"""A pipeline: the TOML file, checked word by word, as frozen stages that refer to earlier ones."""

from __future__ import annotations

import dataclasses
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, get_type_hints

from paraloom.core.config import FieldTypeError, coerce
from paraloom.core.errors import ConfigError, ParaloomError, nearest
from paraloom.core.stage import Fit, Map, Stage
from paraloom.pipeline.registry import load

Reference: TypeAlias = str | Path
"""The name of an earlier stage, or a path outside of the run."""

_TOP_KEYS = ("name", "seed", "stage")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Step:
    """A stage in its place.  source: the corpus that a Map maps.  references: by field, `field.0` … for a list."""

    name: str
    use: str
    stage: Stage
    source: Reference | None = None
    references: Mapping[str, Reference] = field(default_factory=dict)


@dataclass(frozen=True)
class Pipeline:
    """Steps in the order they run; a step refers only to earlier ones.  text: the TOML it was read from."""

    name: str
    seed: int
    steps: tuple[Step, ...]
    text: str = ""

    def until(self, name: str | None) -> tuple[Step, ...]:
        """The steps up to and including `name`; all when it is None.  Raises ConfigError when there is no such one."""
        if name is None:
            return self.steps
        names = [step.name for step in self.steps]
        if name not in names:
            raise ConfigError(f"the pipeline has no stage '{name}'{nearest(name, names)}")
        return self.steps[: names.index(name) + 1]


def read_pipeline(path: str | Path) -> Pipeline:
    """The pipeline in a TOML file.  Paths in it are relative to its folder; `${NAME}` is the environment's NAME, and,
    where it begins a path, relative to the folder that the command is called in.

    Raises ConfigError that names file, stage and key, and the nearest known one.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(
            f"the pipeline cannot be read: {reason}", file=path, remedy="Name a pipeline's TOML file."
        ) from error
    return parse_pipeline(text, file=path)


def parse_pipeline(text: str, *, file: str | Path = "pipeline.toml") -> Pipeline:
    """The pipeline in `text`; `file` gives its default name and the folder that paths are relative to.

    >>> parse_pipeline("seed = 1\\ndepth = 2")
    Traceback (most recent call last):
        ...
    paraloom.core.errors.ConfigError: pipeline.toml: there is no key 'depth'; known are name, seed, stage.
    """
    try:
        return _parse(text, Path(file))
    except ParaloomError as error:
        error.at(file=file)
        raise


def _parse(text: str, file: Path) -> Pipeline:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"this is not TOML: {error}", remedy="Mend the line, as https://toml.io has it.") from error
    document = expanded(document)
    for key in document:
        if key not in _TOP_KEYS:
            raise ConfigError(f"there is no key '{key}'{nearest(key, _TOP_KEYS)}")
    name, seed, tables = document.get("name", file.stem), document.get("seed", 1), document.get("stage", [])
    if not isinstance(name, str):
        raise ConfigError(f"key 'name' must be text, not {name!r}")
    if type(seed) is not int or seed < 0:
        raise ConfigError(f"key 'seed' must be a whole number, 0 or more, not {seed!r}")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise ConfigError("there are no stages", remedy="Begin each stage with a line [[stage]].")
    steps: list[Step] = []
    for place, table in enumerate(tables, start=1):
        try:
            steps.append(_step(table, steps, file.absolute().parent))
        except ParaloomError as error:
            error.at(stage=str(table.get("name", table.get("use", f"number {place}"))))
            raise
    return Pipeline(name, seed, tuple(steps), text)


def _step(table: dict[str, Any], earlier: list[Step], base: Path) -> Step:
    use = table.get("use")
    if not isinstance(use, str):
        raise ConfigError("key 'use' is missing: the kind of stage", remedy='Write, for example, use = "score".')
    kind = load(use)
    name = table.get("name", use.rpartition(":")[2])
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(f"key 'name' must be letters, digits, - and _, not {name!r}")
    if name in (step.name for step in earlier):
        raise ConfigError("an earlier stage has this name", remedy="Give each stage a name of its own.")
    known = [f.name for f in dataclasses.fields(kind)]
    allowed = ["name", "use", *(["input"] if issubclass(kind, Map) else []), *known]
    for key in table:
        if key not in allowed:
            raise ConfigError(f"there is no key '{key}'{nearest(key, allowed)}")
    stage = kind(**_values(kind, {key: value for key, value in table.items() if key in known}, base))
    missing = next((path for path in stage.files() if not path.exists()), None)
    if missing is not None:
        raise ConfigError(f"there is no file '{missing}'", remedy="Paths are relative to the pipeline's folder.")
    source = _source(table.get("input"), earlier, base) if isinstance(stage, Map) else None
    return Step(name, use, stage, source, dict(_references(stage, earlier, base)))


def _values(kind: type[Stage], given: dict[str, Any], base: Path) -> dict[str, Any]:
    annotations = get_type_hints(kind)
    values = {}
    for f in dataclasses.fields(kind):
        if f.name in given:
            try:
                values[f.name] = coerce(given[f.name], annotations[f.name], base)
            except FieldTypeError as error:
                raise ConfigError(f"key '{f.name}' {error}") from error
        elif f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            raise ConfigError(f"key '{f.name}' is missing", remedy=f"Write {f.name} = … below its [[stage]].")
    return values


def _references(stage: Stage, earlier: list[Step], base: Path) -> Iterator[tuple[str, Reference]]:
    for key in stage.inputs:
        value = getattr(stage, key)
        if isinstance(value, (tuple, list)):
            for place, each in enumerate(value):
                yield f"{key}.{place}", _refer(each, key, earlier, base)
        elif value:
            yield key, _refer(value, key, earlier, base)


def _source(value: object, earlier: list[Step], base: Path) -> Reference:
    corpora = [step for step in earlier if not isinstance(step.stage, Fit)]
    if value is None:
        if not corpora:
            raise ConfigError("no earlier stage yields a corpus", remedy="Begin with a stage that reads one.")
        return corpora[-1].name
    if not isinstance(value, str):
        raise ConfigError(f"key 'input' must be text, not {value!r}")
    if value in (step.name for step in earlier if isinstance(step.stage, Fit)):
        raise ConfigError(f"key 'input': stage '{value}' yields a model, not a corpus")
    return _refer(value, "input", corpora, base)


def _refer(value: str, key: str, earlier: list[Step], base: Path) -> Reference:
    names = [step.name for step in earlier]
    if value in names:
        return value
    path = base / Path(value).expanduser()
    if "/" in value and not path.exists():
        raise ConfigError(f"key '{key}': there is no file or folder '{value}'", remedy=f"Paths are seen from {base}.")
    if not path.exists():
        raise ConfigError(
            f"key '{key}': there is neither an earlier stage nor a path '{value}'{nearest(value, names)}",
            remedy="A stage can only use what stands above it; paths are relative to the pipeline's folder.",
        )
    return path


def expanded(value: Any) -> Any:
    """`value` with `${NAME}` replaced in all its texts."""
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", _from_environment, value)
    if isinstance(value, list):
        return [expanded(each) for each in value]
    if isinstance(value, dict):
        return {key: expanded(each) for key, each in value.items()}
    return value


def _from_environment(match: re.Match[str]) -> str:
    name = match.group(1)
    if name not in os.environ:
        raise ConfigError(f"the environment has no variable '{name}'", remedy=f"Set it: export {name}=…")
    value = os.environ[name]
    # A relative path in the environment is meant from where the command is called, not from the pipeline's folder.
    return str(Path(value).absolute()) if match.start() == 0 and value and Path(value).exists() else value
