"""The engines there are, by name."""

from __future__ import annotations

from paraloom.core.errors import ConfigError, nearest
from paraloom.run.engine import Engine, Inline
from paraloom.run.local import Local

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
            from paraloom.run.cluster import Cluster

            return Cluster(workers, address)
    raise ConfigError(f"there is no engine '{name}'{nearest(name, ENGINES)}")
