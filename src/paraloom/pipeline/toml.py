"""Pipelines in TOML: read with every key checked, and written."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from paraloom.core.config import Config, FieldTypeError, check_keys, coerce, type_hints
from paraloom.core.errors import ConfigError, ParaloomError, nearest
from paraloom.core.remote_files import origin
from paraloom.core.stage import Stage
from paraloom.pipeline.definition import Definition, define_steps, detached
from paraloom.pipeline.registry import load_stage

_TOP_KEYS = ("name", "seed", "stage")


def read_pipeline(path: str | Path) -> Definition:
    """Read a pipeline from a TOML file.

    Relative paths in it are resolved against its folder. `${NAME}` is replaced with the environment variable NAME,
    which, at the beginning of a path, is relative to the current folder.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(
            f"the pipeline cannot be read: {reason}", file=path, remedy="Name a pipeline's TOML file."
        ) from error
    return parse_pipeline(text, file=path)


def parse_pipeline(text: str, *, file: str | Path = "pipeline.toml") -> Definition:
    try:
        return _parse(text, Path(file))
    except ParaloomError as error:
        error.at(file=file)
        raise


def pipeline_from_tables(
    tables: Sequence[Mapping[str, object]], *, name: str, seed: int = 1, base: Path | None = None
) -> Definition:
    """A pipeline from tables, as a TOML file has them: for experiments whose own files hold settings of stages."""
    base = (base or Path.cwd()).absolute()
    stages = _stages([{key: value for key, value in table.items() if value is not None} for table in tables], base)
    definition = Definition(name, seed, define_steps(stages, base))
    return replace(definition, text=format_pipeline(definition))


def format_pipeline(definition: Definition) -> str:
    """A pipeline as TOML text, with absolute paths; values that are the default are left out."""
    lines = [f"name = {_toml(definition.name)}", f"seed = {definition.seed}"]
    for step in definition.steps:
        lines += ["", "[[stage]]", f"use = {_toml(step.use)}"]
        stage = detached(step)
        for field in fields(stage):
            value = getattr(stage, field.name)
            if value is not None and value != field.default and field.name not in stage.in_memory:
                lines.append(f"{field.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def expand_variables(value: object) -> Any:
    """`value` with `${NAME}` replaced in every string by the environment variable NAME."""
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", _from_environment, value)
    if isinstance(value, list):
        return [expand_variables(item) for item in value]
    if isinstance(value, dict):
        return {key: expand_variables(item) for key, item in value.items()}
    return value


def read_toml(text: str) -> dict[str, Any]:
    """The keys of a TOML document, with variables of the environment in place."""
    try:
        keys: dict[str, object] = expand_variables(tomllib.loads(text))
    # A number of thousands of digits is a ValueError that is not TOML's; brackets may be nested too deeply.
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"invalid TOML: {error}", remedy="See https://toml.io for the syntax.") from error
    return keys


def _parse(text: str, file: Path) -> Definition:
    document = read_toml(text)
    for key in document:
        if key not in _TOP_KEYS:
            raise ConfigError(f"unknown key '{key}'{nearest(key, _TOP_KEYS)}")
    name, seed, tables = document.get("name", file.stem), document.get("seed", 1), document.get("stage", [])
    if not isinstance(name, str):
        raise ConfigError(f"key 'name' must be text, not {name!r}")
    if type(seed) is not int or seed < 0:
        raise ConfigError(f"key 'seed' must be a whole number, 0 or more, not {seed!r}")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError("'stage' is not a list of tables", remedy="Begin each stage with a line [[stage]].")
    base = file.absolute().parent
    stages = _stages(tables, base)
    return Definition(name, seed, define_steps(stages, base), text)


def stage_from_table(table: Mapping[str, object], base: Path) -> Stage:
    use = table.get("use")
    if not isinstance(use, str):
        raise ConfigError("key 'use' is missing: the kind of stage", remedy='Write, for example, use = "score".')
    kind = load_stage(use)
    given = {key: value for key, value in table.items() if key != "use"}
    check_keys(kind, given, also=("use",))
    annotations = type_hints(kind)
    values = {}
    for key, value in given.items():
        try:
            values[key] = coerce(value, annotations[key], base)
        except FieldTypeError as error:
            raise ConfigError(f"key '{key}' {error}") from error
        except ConfigError as error:
            if not isinstance(value, Mapping):
                raise
            raise ConfigError(f"key '{key}': {error.what}", remedy=error.remedy) from error
    return kind(**values)


def _stages(tables: Sequence[Mapping[str, object]], base: Path) -> list[Stage]:
    stages = []
    for number, table in enumerate(tables, start=1):
        try:
            stages.append(stage_from_table(table, base))
        except ParaloomError as error:
            error.at(stage=str(table.get("name", table.get("use", f"number {number}"))))
            raise
    return stages


def _from_environment(match: re.Match[str]) -> str:
    name = match.group(1)
    if name not in os.environ:
        raise ConfigError(f"environment variable '{name}' is not set", remedy=f"Set it: export {name}=…")
    value = os.environ[name]
    # A relative path in the environment is meant from where the command is called, not from the pipeline's folder.
    return str(Path(value).absolute()) if match.start() == 0 and value and Path(value).exists() else value


def _toml(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, Config):
        value = asdict(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml(key)} = {_toml(item)}' for key, item in value.items())} }}"
    if isinstance(value, Path):
        value = origin(value) or str(value)
    return json.dumps(value, ensure_ascii=False)
