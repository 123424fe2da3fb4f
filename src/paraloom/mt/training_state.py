"""The file from which an interrupted training resumes: tensors and counters, complete or not there."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor


def save_state(path: Path, tensors: Mapping[str, Tensor], identity: str, numbers: Sequence[float]) -> None:
    """Write a state; the file appears complete or not at all.

    Args:
        path: The file.
        tensors: By name.
        identity: Digest of data and configuration, which `load_state` compares.
        numbers: Counters, which come back as text.
    """
    part = path.with_suffix(".part")
    save_file(
        {name: value.cpu().contiguous() for name, value in tensors.items()},
        part,
        metadata={"identity": identity, "progress": " ".join(map(repr, numbers))},
    )
    with part.open("rb+") as stream:
        os.fsync(stream.fileno())
    part.replace(path)


def load_state(path: Path, identity: str) -> tuple[dict[str, Tensor], list[str]] | None:
    """Read a state.

    Args:
        path: The file.
        identity: Digest of data and configuration.

    Returns:
        Tensors by name, and the counters; None if the file is missing, or of another training.
    """
    if not path.is_file():
        return None
    with safe_open(path, "pt") as stored:
        metadata = stored.metadata()
        if metadata.get("identity") != identity:
            return None
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    return tensors, metadata["progress"].split()
