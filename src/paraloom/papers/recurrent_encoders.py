"""Recurrent parts, which read words in order: inference, and training on processors and GPUs."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.batches import batches_by_length
from paraloom.core.devices import supports_bfloat16
from paraloom.core.errors import ConfigError, MissingExtraError, ModelError
from paraloom.embed.average import Average, Part, Vectors
from paraloom.embed.average_training import BETA1, BETA2, BatchGradient, EmbeddingPenalty, adam_rows, bias_corrected
from paraloom.embed.network_parts import PartTraining
from paraloom.embed.threads import ThreadTeam
from paraloom.embed.vocabulary import RowLists, Vocabulary, padded

if TYPE_CHECKING:
    from torch import Tensor

    from paraloom.papers.encoder_networks import Network

CHUNK = 128
"""Sentences that a network reads at a time, of similar length: fixed, so that sums do not depend on the threads."""

# The same on GPUs, which a smaller chunk would leave waiting for the next call.
_GPU_CHUNK = 1024


class Recurrent:
    """A network over the vectors of a text's known words: LSTM and BLSTM of PNMT, GRAN of W17, GRU or that of PGRU."""

    def __init__(self, vocabulary: Vocabulary, table: Vectors, network: Network) -> None:
        self.vocabulary = vocabulary
        self.table = table
        self.network = network

    @property
    def dimension(self) -> int:
        return self.network.dimension

    @property
    def vectors(self) -> Vectors:
        """float32 `(V, d)`, of the words."""
        return self.table

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.generic]]:
        return {"table": self.table, **parameters(self.network)}

    def add_to(self, texts: pa.Array, out: Vectors, column: int) -> npt.NDArray[np.bool_]:
        lists = self.vocabulary.row_lists(texts)
        for chunk in chunks(lists):
            add_vectors(self.table, self.network, lists, chunk, out, column)
        known: npt.NDArray[np.bool_] = np.diff(lists.offsets) > 0
        return known


def chunks(
    lists: RowLists, selected: npt.NDArray[np.bool_] | None = None, size: int = CHUNK
) -> list[npt.NDArray[np.int64]]:
    """Indices of the non-empty lists, shortest first, `size` at a time."""
    lengths = np.diff(lists.offsets)
    chosen = np.flatnonzero(lengths > 0 if selected is None else (lengths > 0) & selected)
    return [chosen[batch] for batch in batches_by_length(lengths[chosen], size)]


def add_vectors(
    table: Vectors, network: Network, lists: RowLists, chunk: npt.NDArray[np.int64], out: Vectors, column: int
) -> None:
    """Add the network's vectors of the lists in a chunk to their rows of `out`, from a column on."""
    import torch

    rows, mask = padded(lists, chunk)
    with torch.no_grad():
        vectors: Tensor = network(torch.from_numpy(table[rows]), torch.from_numpy(mask))
    out[chunk, column : column + vectors.shape[1]] += vectors.numpy()


def parameters(network: Network) -> dict[str, npt.NDArray[np.float32]]:
    """The weights of a network by name: the arrays themselves."""
    return {f"network.{name}": value.detach().numpy() for name, value in network.named_parameters()}


class TrainableRecurrent:
    """A network over word vectors, with Adam: lazy on the vectors, dense on the weights.

    Sentences are read in chunks of a fixed size, by several threads, and gradients are added in the order of the
    chunks: the result does not depend on the number of threads. Word vectors and Adam stay on the processor, whose
    memory holds them whatever the size of the vocabulary.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        table: Vectors,
        network: Network,
        team: ThreadTeam,
        embedding_l2: float = 0.0,
        network_l2: float = 0.0,
        devices: Sequence[str] = ("cpu",),
        precision: str = "float32",
    ) -> None:
        import torch

        torch.set_num_threads(1)  # the threads of the team are the only ones
        self.vocabulary = vocabulary
        self.table = table
        self.network = network
        self.first, self.second = np.zeros_like(table), np.zeros_like(table)
        self._team = team
        self._replicas = Replicas(network, devices, precision)
        self._chunk = self._replicas.chunk_size
        self._penalty, self._network_l2 = EmbeddingPenalty(table, embedding_l2), network_l2
        self._rates = np.ones(len(table), np.float32)
        self._weights = list(network.parameters())
        self._moments = [(torch.zeros_like(weight), torch.zeros_like(weight)) for weight in self._weights]

    @property
    def dimension(self) -> int:
        return self.table.shape[1]

    @property
    def state(self) -> dict[str, npt.NDArray[np.float32]]:
        names = [name for name, _ in self.network.named_parameters()]
        moments = {
            f"{which}.{name}": moment.numpy()
            for name, pair in zip(names, self._moments, strict=True)
            for which, moment in zip(("first", "second"), pair, strict=True)
        }
        return {"table": self.table, "first": self.first, "second": self.second, **parameters(self.network), **moments}

    def forward(self, lists: RowLists, out: Vectors, column: int) -> None:
        import torch

        parts = chunks(lists, size=self._chunk)
        self._replicas.refresh()

        def read(begin: int, end: int) -> None:
            for index in range(begin, end):
                rows, mask = padded(lists, parts[index])
                with torch.no_grad():
                    vectors = self._replicas.vectors(index, torch.from_numpy(self.table[rows]), torch.from_numpy(mask))
                out[parts[index], column : column + self.table.shape[1]] += vectors.cpu().numpy()

        self._team.parallel_for(len(parts), read)

    def backward(self, batch: BatchGradient) -> tuple[npt.NDArray[np.int32], Vectors, list[npt.NDArray[np.float32]]]:
        """Rows in the active lists, int32 `(u,)`; gradients of the loss by each row, `(u, d)`, and by each weight."""
        import torch

        lists, gradient, active, column = batch
        parts = chunks(lists, active, self._chunk)
        self._replicas.refresh()
        width = self.table.shape[1]
        used = np.unique(lists.rows[np.repeat(active, np.diff(lists.offsets))])
        gradients: list[tuple[torch.Tensor, ...]] = [() for _ in parts]

        def differentiate(begin: int, end: int) -> None:
            for index in range(begin, end):
                chunk = parts[index]
                rows, mask = padded(lists, chunk)
                device = self._replicas.device(index)
                weights = list(self._replicas.network_of(index).parameters())
                table = torch.from_numpy(self.table[used]).to(device).requires_grad_()
                by_vector = torch.from_numpy(gradient[chunk, column : column + width]).to(device)
                with torch.enable_grad():
                    numbers = torch.from_numpy(np.searchsorted(used, rows)).to(device)
                    x = torch.nn.functional.embedding(numbers, table)
                    vectors = self._replicas.vectors(index, x, torch.from_numpy(mask))
                by_input = torch.autograd.grad(vectors, [table, *weights], by_vector)
                gradients[index] = tuple(tensor.cpu() for tensor in by_input)

        self._team.parallel_for(len(parts), differentiate)
        sums = [torch.zeros(len(used), width), *(torch.zeros_like(weight) for weight in self._weights)]
        for chunk_gradients in gradients:
            for total, tensor in zip(sums, chunk_gradients, strict=True):
                total += tensor
        by_row, *by_weight = (total.numpy() for total in sums)
        return used.astype(np.int32), by_row, by_weight

    def update(self, batch: BatchGradient, learning_rate: float, step: int) -> None:
        import torch

        rows, by_row, by_weight = self.backward(batch)
        self._penalty.add_gradient(rows, self.table, by_row)
        adam_rows(self._team, rows, by_row, self.table, self.first, self.second, learning_rate, step, self._rates)
        corrected_rate, epsilon = bias_corrected(learning_rate, step)
        with torch.no_grad():
            for weight, array, (first, second) in zip(self._weights, by_weight, self._moments, strict=True):
                total = torch.from_numpy(array) + 2 * self._network_l2 * weight
                first.lerp_(total, 1 - BETA1)
                second.mul_(BETA2).addcmul_(total, total, value=1 - BETA2)
                weight.addcdiv_(first, second.sqrt().add_(float(epsilon)), value=-float(corrected_rate))

    def update_weights(self, batch: BatchGradient, learning_rate: float, step: int) -> None:
        pass

    def fold_weights(self) -> None:
        pass

    def frozen(self) -> Recurrent:
        return Recurrent(self.vocabulary, self.table, self.network)


class Replicas:
    """A network and its copies, one per device, which compute chunks in parallel.

    The network itself stays on the processor, where Adam changes it; `refresh` copies its weights to the replicas.
    Chunks go to the devices in turn. Callers add up results in the order of the chunks, so that the result does not
    depend on the number of devices of a kind.
    """

    def __init__(self, network: Network, devices: Sequence[str] = ("cpu",), precision: str = "float32") -> None:
        if precision == "bfloat16" and "cpu" in devices and not supports_bfloat16():
            raise ConfigError(
                "this processor has no instructions for bfloat16",
                remedy="Set precision = 'float32', or train on a GPU (devices = 'cuda').",
            )
        self.network = network
        self.precision = precision
        self._devices = tuple(devices)
        self._copies = [network, *(copy.deepcopy(network).to(name) for name in devices[1:])]
        if devices[0] != "cpu":
            self._copies[0] = copy.deepcopy(network).to(devices[0])

    @property
    def chunk_size(self) -> int:
        """Sentences that the devices should read at a time."""
        return CHUNK if "cpu" in self._devices else _GPU_CHUNK

    def refresh(self) -> None:
        """Copy the network's weights to the replicas."""
        import torch

        with torch.no_grad():
            for replica in self._copies:
                if replica is not self.network:
                    for ours, theirs in zip(replica.parameters(), self.network.parameters(), strict=True):
                        ours.copy_(theirs)

    def network_of(self, index: int) -> Network:
        """The replica that computes chunk number `index`."""
        return self._copies[index % len(self._copies)]

    def device(self, index: int) -> str:
        """The device of that replica."""
        return self._devices[index % len(self._devices)]

    def autocast(self, index: int) -> AbstractContextManager[object]:
        """Context in which the products of chunk number `index` are computed in `precision`."""
        import torch

        kind = torch.device(self.device(index)).type
        return torch.autocast(kind, torch.bfloat16, enabled=self.precision == "bfloat16")

    def vectors(self, index: int, x: Tensor, mask: Tensor) -> Tensor:
        """The network's vectors of chunk number `index`."""
        device = self.device(index)
        with self.autocast(index):
            return self.network_of(index)(x.to(device), mask.to(device)).float()


class RecurrentParts:
    """Recurrent parts of an encoder: opened and trained; see `embed.network_parts`."""

    @staticmethod
    def open(name: str, part: Average, dimension: int, tensors: Mapping[str, Any], file: Path) -> Recurrent:
        """The part with the network whose weights are stored with its table."""
        try:
            from paraloom.papers.encoder_networks import network_with_weights
        except ImportError:
            raise MissingExtraError.for_verb(f"an encoder with the part '{name}'", "train") from None

        weights = {key.partition(".")[2]: value for key, value in tensors.items() if key.startswith("network.")}
        try:
            network = network_with_weights(name, dimension, weights, part.dimension)
        except RuntimeError as error:
            raise ModelError(
                f"the weights do not fit the network: {str(error).splitlines()[-1].strip()}", file=file
            ) from None
        if not all(np.isfinite(value).all() for value in weights.values()):
            raise ModelError("the network's weights contain values that are not finite", file=file)
        return Recurrent(part.vocabulary, part.vectors, network)

    @staticmethod
    def trainable(
        name: str, vocabulary: Vocabulary, table: Vectors, source: Part | None, training: PartTraining
    ) -> TrainableRecurrent:
        """The network of `source`, or a new one, whose random weights the seed determines, for training."""
        if isinstance(source, Recurrent):
            network = source.network
        else:
            from paraloom.papers.encoder_networks import new_network

            network = new_network(name, training.config.dimension, training.seed)
        penalties = training.config.embedding_l2, training.config.network_l2
        devices, precision = training.devices, training.precision
        return TrainableRecurrent(vocabulary, table, network, training.team, *penalties, devices, precision)
