"""All that a training of phrases goes on from, as arrays that a checkpoint keeps."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

# Bytes that hold the state of numpy's generator as JSON.
_GENERATOR = 512


class PhraseState:
    """The network, the best one so far, and both generators of chance.

    tensors: by name, arrays that share the network's memory or hold copies.
    """

    def __init__(self, network: Any, draw: np.random.Generator) -> None:
        import torch

        self.network, self.draw = network, draw
        values = {name: value.numpy() for name, value in network.state_dict().items()}
        self.tensors: dict[str, Any] = {
            **{f"network.{name}": value for name, value in values.items()},
            **{f"best.{name}": np.zeros_like(value) for name, value in values.items()},
            "figure": np.full(1, -np.inf),
            "dropout": torch.get_rng_state().numpy(),
            "draw": np.frombuffer(json.dumps(draw.bit_generator.state).encode().ljust(_GENERATOR), np.uint8).copy(),
        }

    def note_chance(self) -> None:
        """Take down where the generators stand."""
        import torch

        self.tensors["dropout"][...] = torch.get_rng_state().numpy()
        state = json.dumps(self.draw.bit_generator.state).encode().ljust(_GENERATOR)
        self.tensors["draw"][...] = np.frombuffer(state, np.uint8)

    def restore(self) -> None:
        """Put the generators where they stood."""
        import torch

        torch.set_rng_state(torch.from_numpy(self.tensors["dropout"].copy()))
        self.draw.bit_generator.state = json.loads(self.tensors["draw"].tobytes())

    def note_best(self, figure: float) -> None:
        """Keep the network as it is now, where its figure is above all before."""
        if figure > self.tensors["figure"][0]:
            self.tensors["figure"][0] = figure
            for name, value in self.network.state_dict().items():
                self.tensors[f"best.{name}"][...] = value.numpy()

    def take_best(self) -> float | None:
        """Make the network the best one, and say its figure; None where none was measured."""
        import torch

        best = float(self.tensors["figure"][0])
        if not math.isfinite(best):
            return None
        names = self.network.state_dict()
        self.network.load_state_dict({name: torch.from_numpy(self.tensors[f"best.{name}"]) for name in names})
        return best
