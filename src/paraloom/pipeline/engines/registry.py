"""The engines by name."""

from __future__ import annotations

from paraloom.core.errors import ConfigError, nearest
from paraloom.core.lazy import load_object
from paraloom.pipeline.engines.base import Engine, Inline
from paraloom.pipeline.engines.local import Local

ENGINES = ("local", "ray", "inline")


def make_engine(name: str, workers: int | None = None, address: str | None = None) -> Engine:
    if workers is not None and workers < 1:
        raise ConfigError(f"workers must be 1 or more, not {workers}", remedy="Leave the number out for one per core.")
    match name:
        case "local":
            return Local(workers)
        case "inline":
            return Inline()
        case "ray":
            cluster: Engine = load_object("paraloom.pipeline.engines.ray:Cluster")(workers, address)
            return cluster
    raise ConfigError(f"unknown engine '{name}'{nearest(name, ENGINES)}")
