"""Where a training stands, in one file that appears whole: parameters, moments, position and the curve so far."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ModelError
from paraloom.io.atomic import atomic_write

_FILE = "state.safetensors"


@dataclass
class Progress:
    """The next mega-batch to do, the steps done, the sums since the last line of the curve, and the curve."""

    epoch: int = 0
    megabatch: int = 0
    step: int = 0
    loss: float = 0.0
    violations: int = 0
    triples: int = 0
    steps: int = 0
    curve: list[dict[str, Any]] = field(default_factory=list)


def write_checkpoint(
    folder: Path, progress: Progress, tensors: Mapping[str, npt.NDArray[np.float32]], digest: str
) -> None:
    """Put `checkpoint/state.safetensors` below `folder`; digest: of what the training depends on."""
    from safetensors.numpy import save_file

    with atomic_write(folder / "checkpoint" / _FILE) as temporary:
        # JSON gives every float back as it was, so the sums go on exactly.
        save_file(dict(tensors), temporary, {"digest": digest, "progress": json.dumps(asdict(progress))})


def read_checkpoint(folder: Path, tensors: Mapping[str, npt.NDArray[np.float32]], digest: str) -> Progress:
    """Copy the checkpoint's numbers into `tensors`; where there is none, leave them and start at the beginning.

    Raises ModelError when it belongs to other pairs or another configuration, or cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    path = folder / "checkpoint" / _FILE
    if not path.is_file():
        return Progress()
    try:
        with safe_open(path, framework="numpy") as file:
            said = file.metadata() or {}
            if said.get("digest") != digest:
                raise ModelError(
                    "the checkpoint is of a training with other pairs or another configuration",
                    file=path,
                    remedy="Remove its folder to start anew, or give what it was started with.",
                )
            for name, tensor in tensors.items():
                tensor[...] = file.get_tensor(name)
            return Progress(**json.loads(said["progress"]))
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ModelError(
            f"the checkpoint cannot be read ({error})", file=path, remedy="Remove its folder to start anew."
        ) from error


def keep_checkpoints(
    steps: Iterable[None],
    folder: Path,
    progress: Progress,
    tensors: Mapping[str, npt.NDArray[np.float32]],
    digest: str,
    seconds: float,
) -> None:
    """Go through the steps of a training, each of which leaves it whole, with a checkpoint every so many seconds."""
    saved = time.monotonic()
    for _ in steps:
        if time.monotonic() - saved >= seconds:
            write_checkpoint(folder, progress, tensors, digest)
            saved = time.monotonic()


def write_records(folder: Path, curve: Iterable[Mapping[str, Any]], timings: Mapping[str, float]) -> None:
    """Put `curve.jsonl` and `timings.json` into `folder`."""
    with atomic_write(folder / "curve.jsonl") as temporary:
        temporary.write_text("".join(f"{json.dumps(line)}\n" for line in curve), encoding="utf-8")
    with atomic_write(folder / "timings.json") as temporary:
        temporary.write_text(json.dumps(timings, indent=1) + "\n", encoding="utf-8")
