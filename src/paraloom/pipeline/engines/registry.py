"""The engines there are, by name."""

from __future__ import annotations

from paraloom.core.errors import ConfigError, nearest
from paraloom.pipeline.engines.base import Engine, Inline
from paraloom.pipeline.engines.local import Local
from paraloom.pipeline.engines.ray import Cluster

ENGINES = ("local", "ray", "inline")


def make_engine(name: str, workers: int | None = None, address: str | None = None) -> Engine:
    """The engine of a name: 'local', 'ray' (a cluster at `address`, or one started here) or 'inline'."""
    if workers is not None and workers < 1:
        raise ConfigError(f"there must be a worker or more, not {workers}")
    match name:
        case "local":
            return Local(workers)
        case "inline":
            return Inline()
        case "ray":
            return Cluster(workers, address)
    raise ConfigError(f"there is no engine '{name}'{nearest(name, ENGINES)}")
