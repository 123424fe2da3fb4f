"""Configurations in TOML files of their own: a self-training loop, an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from paraloom.core.config import Config, check_keys
from paraloom.core.errors import ConfigError, ParaloomError
from paraloom.pipeline.toml import read_toml

_Config = TypeVar("_Config", bound=Config)


def read_config(path: str | Path, kind: type[_Config]) -> tuple[str, int, _Config]:
    """Read a name, a seed and a configuration from TOML, with `${NAME}` from the environment and paths as written."""
    path = Path(path)
    try:
        table = read_toml(path.read_text(encoding="utf-8"))
        check_keys(kind, table, also=("name", "seed"))
        name, seed = str(table.pop("name", path.stem)), table.pop("seed", 1)
        if type(seed) is not int or seed < 0:
            raise ConfigError(f"key 'seed' must be a whole number, 0 or more, not {seed!r}")
        return name, seed, kind(**table)
    except FileNotFoundError:
        raise ConfigError("file not found", file=path, remedy="Name a TOML file; see the folder examples.") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"invalid TOML: {error}", file=path, remedy="See https://toml.io for the syntax.") from None
    except ParaloomError as error:
        error.at(file=path)
        raise
