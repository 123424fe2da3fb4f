"""The file of a recipe that has one: its name, its seed, and a table of known keys."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError, ParaloomError, nearest
from paraloom.pipeline.toml import expand_variables


def read_settings(path: Path, known: Collection[str], needed: Collection[str]) -> tuple[str, int, dict[str, Any]]:
    """Name (the file's where it says none), seed (1) and the other keys, environment variables put in.

    known: the keys that there may be.  needed: those that there must be.  Raises ConfigError where there is no such
    file or it is not TOML, for an unknown key, naming the nearest, for one that is missing, and for another seed than
    a whole number.
    """
    try:
        table = expand_variables(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ConfigError("there is no such file", file=path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"this is not TOML: {error}", file=path) from None
    except ParaloomError as error:
        raise error.at(file=path) from None
    name, seed = str(table.pop("name", path.stem)), table.pop("seed", 1)
    if type(seed) is not int:
        raise ConfigError(f"'seed' is a whole number, not {seed!r}", file=path)
    for key in table:
        if key not in known:
            raise ConfigError(f"there is no key '{key}'{nearest(key, ['name', 'seed', *known])}", file=path)
    for key in needed:
        if key not in table:
            raise ConfigError(f"'{key}' is missing", file=path)
    return name, seed, table
