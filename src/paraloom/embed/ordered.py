"""A part that reads words in order, at rest: vectors of words and a network over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.embed.average import Vectors
from paraloom.embed.vocabulary import Rows, Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from paraloom.embed.networks import Network

CHUNK = 128
"""Sentences that a network reads at a time, of like length: fixed, so that sums never depend on threads."""


class Ordered:
    """What a network makes of a text's known words, in their order: PNMT's LSTM and BLSTM, W17's GRAN, a GRU.

    table: float32 (V, d), the vectors of the vocabulary's words.  network: one of paraloom.embed.networks, of width d.
    """

    def __init__(self, vocabulary: Vocabulary, table: Vectors, network: Network) -> None:
        self.vocabulary = vocabulary
        self.table = table
        self.network = network

    @property
    def dimension(self) -> int:
        return self.table.shape[1]

    @property
    def vectors(self) -> Vectors:
        """float32 (V, d), of the vocabulary's words."""
        return self.table

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.generic]]:
        return {"table": self.table, **parameters(self.network)}

    def add(self, texts: pa.Array, out: Vectors, column: int) -> npt.NDArray[np.bool_]:
        lists = self.vocabulary.lists(texts)
        for chunk in chunks(lists):
            add_vectors(self.table, self.network, lists, chunk, out, column)
        known: npt.NDArray[np.bool_] = np.diff(lists.offsets) > 0
        return known


def chunks(lists: Rows, only: npt.NDArray[np.bool_] | None = None, size: int = CHUNK) -> list[npt.NDArray[np.int64]]:
    """The numbers of lists that have a word, shortest first, `size` at a time; `only`: bool (n,), those wanted."""
    lengths = np.diff(lists.offsets)
    wanted = lengths > 0 if only is None else (lengths > 0) & only
    order = np.argsort(lengths, kind="stable")
    order = order[wanted[order]]
    return [order[start : start + size] for start in range(0, len(order), size)]


def padded(lists: Rows, chunk: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The rows of some lists as int64 (n, t), 0 behind their ends, and bool (n, t), where their words are."""
    starts, lengths = lists.offsets[chunk], np.diff(lists.offsets)[chunk]
    places = np.arange(lengths.max())
    mask = places < lengths[:, None]
    rows = np.zeros(mask.shape, np.int64)
    rows[mask] = lists.rows[(starts[:, None] + places)[mask]]
    return rows, mask


def add_vectors(
    table: Vectors, network: Network, lists: Rows, chunk: npt.NDArray[np.int64], out: Vectors, column: int
) -> None:
    """out[i, column : column + d] += the network's vector of list i, for those in the chunk."""
    import torch

    rows, mask = padded(lists, chunk)
    with torch.no_grad():
        vectors: Tensor = network(torch.from_numpy(table[rows]), torch.from_numpy(mask))
    out[chunk, column : column + table.shape[1]] += vectors.numpy()


def parameters(network: Network) -> dict[str, npt.NDArray[np.float32]]:
    """A network's weights by name: the arrays themselves."""
    return {f"network.{name}": value.detach().numpy() for name, value in network.named_parameters()}
