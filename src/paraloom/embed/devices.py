"""Where the networks of a training compute: this processor, one GPU, or several beside each other."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from paraloom.core.errors import ConfigError
from paraloom.core.hardware import supports_bfloat16

if TYPE_CHECKING:
    from torch import Tensor

    from paraloom.embed.networks import Network

# Sentences that a GPU reads at a time: fewer leave it waiting for the next call.
_GPU_CHUNK = 1024


def parse_devices(text: str) -> tuple[str, ...]:
    """The devices of 'cpu', 'cuda' (every GPU) or 'cuda:0,cuda:2'; raises ConfigError for one that is not there.

    >>> parse_devices("cpu")
    ('cpu',)
    """
    names = [name.strip() for name in text.split(",")]
    if all(name == "cpu" for name in names):
        return tuple(names)
    import torch

    there = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    if names == ["cuda"] and there:
        return tuple(there)
    missing = [name for name in names if name not in there]
    if missing:
        raise ConfigError(
            f"there is no device '{missing[0]}'; there are {', '.join(['cpu', *there])}",
            remedy="" if there else "A build of torch for the CPU alone sees no GPU.",
        )
    return tuple(names)


class Replicas:
    """A network and its copies, one a device, which compute chunks side by side.

    The network itself stays on the processor, where Adam changes it; `refresh` brings the copies up to it.  Chunk
    after chunk goes to the devices in turn, and whoever adds up what was computed does so in the chunks' order: how
    many devices of a kind there are changes nothing.
    precision: float32, or bfloat16, in which a network's products are then computed; its weights stay float32.
    Raises ConfigError for bfloat16 on a processor without instructions for it, where it would be slower, if it worked.
    """

    def __init__(self, network: Network, devices: Sequence[str] = ("cpu",), precision: str = "float32") -> None:
        if precision == "bfloat16" and "cpu" in devices and not supports_bfloat16():
            raise ConfigError(
                "this processor has no instructions for bfloat16", remedy="Compute in float32, or on a GPU (cuda)."
            )
        self.network = network
        self.precision = precision
        self._devices = tuple(devices)
        self._copies = [network, *(copy.deepcopy(network).to(name) for name in devices[1:])]
        if devices[0] != "cpu":
            self._copies[0] = copy.deepcopy(network).to(devices[0])

    @property
    def chunk(self) -> int | None:
        """Sentences at a time that suit the devices; None for the processor's own."""
        return None if "cpu" in self._devices else _GPU_CHUNK

    def refresh(self) -> None:
        """Give the copies the network's weights."""
        import torch

        with torch.no_grad():
            for each in self._copies:
                if each is not self.network:
                    for ours, theirs in zip(each.parameters(), self.network.parameters(), strict=True):
                        ours.copy_(theirs)

    def at(self, place: int) -> Network:
        """The network that computes the chunk of this number."""
        return self._copies[place % len(self._copies)]

    def device(self, place: int) -> str:
        """The device it is on."""
        return self._devices[place % len(self._devices)]

    def reduced(self, place: int) -> AbstractContextManager[object]:
        """Within it, the products of the chunk of this number are computed in `precision`."""
        import torch

        kind = torch.device(self.device(place)).type
        return torch.autocast(kind, torch.bfloat16, enabled=self.precision == "bfloat16")

    def vectors(self, place: int, x: Tensor, mask: Tensor) -> Tensor:
        """The network's vectors (n, d) float32, on the chunk's device, of x (n, t, d) and mask (n, t) from anywhere."""
        device = self.device(place)
        with self.reduced(place):
            return self.at(place)(x.to(device), mask.to(device)).float()
