"""An encoder while it learns: its parts, the sentences they read, and one update of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paraloom.embed.average import SentenceEncoder, Vectors
from paraloom.embed.average_training import LearningPart
from paraloom.embed.losses import Loss
from paraloom.embed.numbering import Numbered
from paraloom.embed.parts import PARTS
from paraloom.embed.spec import Spec
from paraloom.embed.threads import Team
from paraloom.embed.vocabulary import Rows

Lists = Mapping[str, Rows]
"""The units of some sentences, as each part reads them."""


@dataclass(frozen=True)
class Learner:
    """The parts of an encoder, by name, and the sentences to learn from, by kind of unit."""

    spec: Spec
    units: Mapping[str, Numbered]
    parts: Mapping[str, LearningPart]
    team: Team

    @property
    def dimension(self) -> int:
        """Width of each part."""
        return next(iter(self.parts.values())).at_rest().dimension

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.float32]]:
        """All that a checkpoint keeps: the arrays themselves."""
        return {f"{name}.{key}": tensor for name, part in self.parts.items() for key, tensor in part.state.items()}

    def encoder(self) -> SentenceEncoder:
        """The encoder as it is now, sharing its parameters."""
        return SentenceEncoder(
            self.spec, {name: part.at_rest() for name, part in self.parts.items()}, self.team.threads
        )

    def take(self, sentences: npt.NDArray[np.int64]) -> dict[str, Rows]:
        """The units of some sentences."""
        lists = {unit: self.units[unit].take(sentences) for unit in self.spec.units}
        return {name: lists[PARTS[name].unit] for name in self.parts}

    def vectors(self, lists: Lists) -> Vectors:
        """float32 (n, width), a vector a list."""
        count = len(next(iter(lists.values())).offsets) - 1
        dimension = self.dimension
        vectors = np.zeros((count, self.spec.width(dimension)), np.float32)
        for name, column in self.spec.columns(dimension).items():
            self.parts[name].forward(lists[name], vectors, column)
        return vectors

    def learn(self, lists: Lists, loss: Loss, rate: float, step: int) -> None:
        """One update of every part from the loss's gradient by the vectors of the lists; steps count from 1."""
        for name, column in self.spec.columns(self.dimension).items():
            self.parts[name].learn(lists[name], loss.gradient, loss.moved, column, rate, step)
