"""A part that reads words in order, while it learns: torch makes the gradients, Adam goes over the words it met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from paraloom.embed.average import Part, Vectors
from paraloom.embed.average_training import BETA1, BETA2, Pull, adam_rate, adam_rows
from paraloom.embed.devices import Replicas
from paraloom.embed.ordered import CHUNK, Ordered, chunks, padded, parameters
from paraloom.embed.threads import Team
from paraloom.embed.vocabulary import Rows, Vocabulary

if TYPE_CHECKING:
    from paraloom.embed.networks import Network


def network_of(kind: str, given: Part | None, width: int, seed: int) -> Network:
    """The network of the part that a training goes on from; a new one, with weights that the seed decides, without."""
    if isinstance(given, Ordered):
        return given.network
    from paraloom.embed.networks import new_network

    return new_network(kind, width, seed)


class LearningOrdered:
    """A network over word vectors, and Adam: lazy on the vectors, whole on the network's weights.

    Sentences are read in chunks of a fixed size, by as many threads as there are, and gradients are added in the
    chunks' order: what is learned never depends on the threads.  pull, decay: W17's λ_w, as for averages, and λ_c, of
    the network's weights.  devices, precision: where and how the network computes (embed.devices); words' vectors and
    Adam stay on the processor, which keeps them whatever the vocabulary's size.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        table: Vectors,
        network: Network,
        team: Team,
        pull: float = 0.0,
        decay: float = 0.0,
        devices: Sequence[str] = ("cpu",),
        precision: str = "float32",
    ) -> None:
        import torch

        torch.set_num_threads(1)  # the team's threads are the only ones
        self.vocabulary = vocabulary
        self.table = table
        self.network = network
        self.first, self.second = np.zeros_like(table), np.zeros_like(table)
        self._team = team
        self._replicas = Replicas(network, devices, precision)
        self._chunk = self._replicas.chunk or CHUNK
        self._pull, self._decay = Pull(table, pull), decay
        self._weights = list(network.parameters())
        self._moments = [(torch.zeros_like(each), torch.zeros_like(each)) for each in self._weights]

    @property
    def state(self) -> dict[str, npt.NDArray[np.float32]]:
        names = [name for name, _ in self.network.named_parameters()]
        moments = {
            f"{which}.{name}": moment.numpy()
            for name, pair in zip(names, self._moments, strict=True)
            for which, moment in zip(("first", "second"), pair, strict=True)
        }
        return {
            "table": self.table,
            "first": self.first,
            "second": self.second,
            **parameters(self.network),
            **moments,
        }

    def forward(self, lists: Rows, out: Vectors, column: int) -> None:
        import torch

        parts = chunks(lists, size=self._chunk)
        self._replicas.refresh()

        def read(begin: int, end: int) -> None:
            for place in range(begin, end):
                rows, mask = padded(lists, parts[place])
                with torch.no_grad():
                    made = self._replicas.vectors(place, torch.from_numpy(self.table[rows]), torch.from_numpy(mask))
                out[parts[place], column : column + self.table.shape[1]] += made.cpu().numpy()

        self._team.share(len(parts), read)

    def backward(
        self, lists: Rows, gradient: Vectors, moved: npt.NDArray[np.bool_], column: int
    ) -> tuple[npt.NDArray[np.int32], Vectors, list[npt.NDArray[np.float32]]]:
        """Rows that the moved lists hold, int32 (u,); the loss's gradient by each, (u, d), and by each weight."""
        import torch

        parts = chunks(lists, moved, self._chunk)
        self._replicas.refresh()
        width = self.table.shape[1]
        held = np.unique(lists.rows[np.repeat(moved, np.diff(lists.offsets))])
        found: list[tuple[torch.Tensor, ...]] = [() for _ in parts]

        def differentiate(begin: int, end: int) -> None:
            for place in range(begin, end):
                chunk = parts[place]
                rows, mask = padded(lists, chunk)
                device = self._replicas.device(place)
                weights = list(self._replicas.at(place).parameters())
                vectors = torch.from_numpy(self.table[held]).to(device).requires_grad_()
                given = torch.from_numpy(gradient[chunk, column : column + width]).to(device)
                with torch.enable_grad():
                    numbers = torch.from_numpy(np.searchsorted(held, rows)).to(device)
                    x = torch.nn.functional.embedding(numbers, vectors)
                    made = self._replicas.vectors(place, x, torch.from_numpy(mask))
                found[place] = tuple(part.cpu() for part in torch.autograd.grad(made, [vectors, *weights], given))

        self._team.share(len(parts), differentiate)
        sums = [torch.zeros(len(held), width), *(torch.zeros_like(each) for each in self._weights)]
        for each in found:
            for total, part in zip(sums, each, strict=True):
                total += part
        by_row, *by_weight = (total.numpy() for total in sums)
        return held.astype(np.int32), by_row, by_weight

    def learn(
        self, lists: Rows, gradient: Vectors, moved: npt.NDArray[np.bool_], column: int, rate: float, step: int
    ) -> None:
        import torch

        held, by_row, by_weight = self.backward(lists, gradient, moved, column)
        self._pull.add(held, self.table, by_row)
        adam_rows(self._team, held, by_row, self.table, self.first, self.second, rate, step)
        corrected, floor = adam_rate(rate, step)
        with torch.no_grad():
            for weight, given, (first, second) in zip(self._weights, by_weight, self._moments, strict=True):
                new = torch.from_numpy(given) + 2 * self._decay * weight
                first.lerp_(new, 1 - BETA1)
                second.mul_(BETA2).addcmul_(new, new, value=1 - BETA2)
                weight.addcdiv_(first, second.sqrt().add_(float(floor)), value=-float(corrected))

    def at_rest(self) -> Ordered:
        return Ordered(self.vocabulary, self.table, self.network)
