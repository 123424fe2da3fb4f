"""Where a training stands, in one file that appears whole: parameters, moments, position and the curve so far."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ModelError
from paraloom.core.io.atomic import replacing

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

    with replacing(folder / "checkpoint" / _FILE) as temporary:
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
