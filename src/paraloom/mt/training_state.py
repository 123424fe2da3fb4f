"""The file from which an interrupted training resumes: tensors and counters, complete or not there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from paraloom.io.atomic import atomic_write
from paraloom.mt.schedule import Counters

_COUNTERS = ("step", "epoch", "position", "tokens", "evaluations_without_gain")
_MEASURES = ("seconds", "best_loss")


def save_state(path: Path, tensors: Mapping[str, Tensor], identity: str, counters: Counters) -> None:
    numbers = [getattr(counters, name) for name in (*_COUNTERS, *_MEASURES)]
    with atomic_write(path) as temporary:
        save_file(
            {name: value.cpu().contiguous() for name, value in tensors.items()},
            temporary,
            metadata={"identity": identity, "progress": " ".join(map(repr, numbers))},
        )


def load_state(path: Path, identity: str, counters: Counters) -> dict[str, Tensor] | None:
    """Read a state, and set the counters to what it has."""
    if not path.is_file():
        return None
    with safe_open(path, "pt") as stored:
        metadata = stored.metadata()
        if metadata.get("identity") != identity:
            return None
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    numbers = dict(zip((*_COUNTERS, *_MEASURES), metadata["progress"].split(), strict=True))
    for name, number in numbers.items():
        setattr(counters, name, int(number) if name in _COUNTERS else float(number))
    return tensors
