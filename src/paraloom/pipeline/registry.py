"""The stages that a pipeline may name, each loaded when a pipeline asks for it.

Those of Paraloom are in `paraloom.stages`; a stage of one's own is named in full, `use = "package.module:Class"`.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module

from paraloom.core.errors import ConfigError, nearest
from paraloom.core.stage import Fit, Map, Source, Stage
from paraloom.stages import STAGES as STAGES


def load_stage(use: str) -> type[Stage]:
    if use not in STAGES and ":" not in use:
        raise ConfigError(f"unknown stage '{use}'{nearest(use, list(STAGES))}")
    module, _, name = STAGES.get(use, use).partition(":")
    try:
        kind = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise ConfigError(
            f"stage '{use}' cannot be loaded ({error})", remedy="Name it 'package.module:Class', importable from here."
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, (Map, Fit, Source)) and dataclasses.is_dataclass(kind)):
        raise ConfigError(f"'{use}' is not a stage", remedy="A stage is a frozen dataclass: a Map, a Fit or a Source.")
    return kind


def use_of(kind: type[Stage]) -> str:
    """The name that TOML files use for a class of stages: the inverse of `load_stage`."""
    path = f"{kind.__module__}:{kind.__qualname__}"
    return next((use for use, target in STAGES.items() if target == path), path)
