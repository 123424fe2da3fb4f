"""Checkpoints of a training, one file that is written atomically: parameters, moments, position and curve."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from paraloom.core.array_types import Float32s
from paraloom.core.errors import ModelError
from paraloom.io.atomic import atomic_write, write_text

_FILE = "state.safetensors"


@dataclass
class TrainingState:
    """Position of a training and its statistics."""

    epoch: int = 0
    megabatch: int = 0
    step: int = 0
    loss: float = 0.0
    violations: int = 0
    triples: int = 0
    steps: int = 0
    curve: list[dict[str, Any]] = field(default_factory=list)

    def add_loss(self, value: float) -> None:
        """Add the loss of the current step, which `step` already counts, to the sums."""
        if not math.isfinite(value):
            raise ModelError(
                f"the loss is {value} in epoch {self.epoch + 1}, batch {self.step}",
                remedy="Lower the learning rate; the last checkpoint is intact.",
            )
        self.loss += value
        self.steps += 1

    def end_line(self, loss: float, **figures: float) -> None:
        """Append a line to the curve and reset the sums."""
        self.curve.append({"epoch": self.epoch + 1, "step": self.step, "loss": loss, **figures})
        self.loss, self.violations, self.triples, self.steps = 0.0, 0, 0, 0

    @property
    def last_line(self) -> dict[str, Any]:
        """The last line of the curve with a loss."""
        return next(line for line in reversed(self.curve) if "loss" in line)

    @property
    def measured(self) -> list[dict[str, Any]]:
        """The lines of the curve with figures of the evaluator."""
        return [line for line in self.curve if "dev" in line]

    def measure(self, figures: Mapping[str, float], epoch: int) -> bool:
        """Append an evaluator's figures to the curve; True if the first one is the best so far."""
        line = {"epoch": epoch, "step": self.step, "dev": {name: float(figure) for name, figure in figures.items()}}
        self.curve.append(line)
        return best_line(self.measured) is line


def best_line(measured: Iterable[Mapping[str, object]]) -> Mapping[str, Any] | None:
    """The line of a curve with the highest first figure, the earliest of equal ones; NaN counts as the lowest."""

    def figure(line: Mapping[str, Any]) -> float:
        first: float = next(iter(line["dev"].values()))
        return -math.inf if math.isnan(first) else first

    return max(measured, key=figure, default=None)


def write_checkpoint(folder: Path, state: TrainingState, tensors: Mapping[str, Float32s], digest: str) -> None:
    from safetensors.numpy import save_file

    with atomic_write(folder / "checkpoint" / _FILE) as temporary:
        # JSON restores every float exactly, and so the sums.
        save_file(dict(tensors), temporary, {"digest": digest, "progress": json.dumps(asdict(state))})


def read_checkpoint(folder: Path, tensors: Mapping[str, Float32s], digest: str) -> TrainingState:
    from safetensors import SafetensorError, safe_open

    path = folder / "checkpoint" / _FILE
    if not path.is_file():
        return TrainingState()
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            if metadata.get("digest") != digest:
                raise ModelError(
                    "the checkpoint belongs to a training on other data or with another configuration",
                    file=path,
                    remedy="Remove its folder to start again, or use the data and the configuration of that training.",
                )
            for name, tensor in tensors.items():
                tensor[...] = file.get_tensor(name)
            return TrainingState(**json.loads(metadata["progress"]))
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ModelError(
            f"the checkpoint cannot be read ({error})", file=path, remedy="Remove its folder to start again."
        ) from error


def run_with_checkpoints(
    steps: Iterable[None],
    folder: Path,
    state: TrainingState,
    tensors: Mapping[str, Float32s],
    digest: str,
    seconds: float,
) -> None:
    saved = time.monotonic()
    for _ in steps:
        if time.monotonic() - saved >= seconds:
            write_checkpoint(folder, state, tensors, digest)
            saved = time.monotonic()


def write_records(folder: Path, curve: Iterable[Mapping[str, object]], timings: Mapping[str, float]) -> None:
    write_text(folder / "curve.jsonl", "".join(f"{json.dumps(line)}\n" for line in curve))
    write_text(folder / "timings.json", json.dumps(timings, indent=1) + "\n")
