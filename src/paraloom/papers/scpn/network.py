"""Base of recurrent encoder–decoders, for training and search, and their inputs from ids of subwords."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from paraloom.mt.data import END_ID, pad
from paraloom.papers.scpn.layers import NO_DROPOUT, Dropout

Ids: TypeAlias = npt.NDArray[np.int32]
Tensors: TypeAlias = tuple[Tensor, ...]
"""Several tensors whose first dimension is the row of the batch."""


class RecurrentNetwork(nn.Module):
    """An encoder–decoder that writes token by token.

    Its own ids of tokens are 0 for the end, and `padding`, the last one, for padding; decoding starts from `padding`,
    whose embedding is zero.
    """

    kind: ClassVar[str]
    padding: int

    def __init__(self, **sizes: Any) -> None:
        super().__init__()
        self._sizes = sizes

    def sizes(self) -> dict[str, Any]:
        """Arguments that make a network of the same shape, as JSON has them."""
        return self._sizes

    @property
    def device(self) -> torch.device:
        """Where its parameters are."""
        return next(self.parameters()).device

    @abstractmethod
    def inputs(self, sources: Sequence[Ids]) -> Tensors:
        """Inputs of `encode`, from the subwords of each source, the end included."""

    @abstractmethod
    def encode(self, inputs: Tensors, drop: Dropout = NO_DROPOUT) -> Tensors:
        """Read the sources: what `start`, `step` and `loss` look at."""

    @abstractmethod
    def start(self, memory: Tensors) -> Tensors:
        """The decoder's state before its first token."""

    @abstractmethod
    def step(self, previous: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """Read a token and predict the next."""

    @abstractmethod
    def loss(self, memory: Tensors, targets: Tensor, drop: Dropout = NO_DROPOUT) -> Tensor:
        """The sum of −log p of the tokens of targets, each after those before it."""

    def own_ids(self, subwords: Ids) -> Ids:
        """The tokens of a target, in the network's ids, from its subwords."""
        return subwords

    def subword_ids(self, own: Sequence[int]) -> list[int]:
        """The subwords that tokens stand for."""
        return list(own)

    def targets(self, rows: Sequence[Ids]) -> Tensor:
        """Targets as int64 (b, t), from the subwords of each, the end included."""
        return pad([self.own_ids(row) for row in rows], self.padding).to(self.device)


def shifted(targets: Tensor, padding: int) -> Tensor:
    """The tokens before those of targets: padding, then all but the last."""
    return torch.cat([torch.full_like(targets[:, :1], padding), targets[:, :-1]], 1)


class LabelIds:
    """Tokens of parses, numbered for networks: 0 is the end, then the tokens, then padding."""

    def __init__(self, subwords: Sequence[int], separator: int) -> None:
        self.subwords = [END_ID, *subwords]
        self.separator = separator
        self.padding = len(self.subwords)
        self._own = {subword: number for number, subword in enumerate(self.subwords)}

    def own(self, ids: Ids) -> Ids:
        """Tokens of a parse, the end included; other subwords are left out."""
        numbers = [self._own[one] for one in ids.tolist() if one in self._own and one != END_ID]
        return np.array([*numbers, END_ID], np.int32)

    def split(self, ids: Ids) -> tuple[Ids, Ids]:
        """The subwords before and after the separator, both ended; without one, the second part is its end alone."""
        positions = np.flatnonzero(ids == self.separator)
        cut = int(positions[0]) if len(positions) else len(ids) - 1
        return np.append(ids[:cut], np.int32(END_ID)), ids[min(cut + 1, len(ids) - 1) :]


def embedding(size: int, width: int) -> nn.Embedding:
    """Embeddings of `size` tokens, at random from N(0, 1), and of padding, the last, which is zero and stays so."""
    return nn.Embedding(size + 1, width, padding_idx=size)
