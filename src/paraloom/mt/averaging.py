"""The mean of the weights of several checkpoints of a training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraloom.core.errors import ModelError


def mean_weights(files: Sequence[Path]) -> dict[str, Any]:
    """The mean of each tensor of several files, summed in float64."""
    import torch
    from safetensors import safe_open

    sums: dict[str, Any] = {}
    for number, path in enumerate(files):
        with safe_open(path, "pt") as stored:
            names = set(stored.keys())
            if number and names != set(sums):
                other = sorted(names ^ set(sums))[0]
                raise ModelError(
                    f"'{other}' is not in all checkpoints", file=path, remedy="Average models of one shape."
                )
            for name in sorted(names):
                value = stored.get_tensor(name)
                if number and value.shape != sums[name].shape:
                    raise ModelError(
                        f"'{name}' has the shape {tuple(value.shape)}, not {tuple(sums[name].shape)} as in the first",
                        file=path,
                        remedy="Average models of one shape.",
                    )
                if not value.is_floating_point():
                    sums[name] = value
                elif number:
                    sums[name] += value.double()
                else:
                    sums[name] = value.double()
    return {
        name: (value / len(files)).float() if value.dtype == torch.float64 else value for name, value in sums.items()
    }
