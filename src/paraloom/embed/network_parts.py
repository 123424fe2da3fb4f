"""Parts of an encoder whose token types a network reads in order: opened and trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from paraloom.core.lazy import load_object
from paraloom.embed.average import Average, Part, Vectors
from paraloom.embed.spec import PARTS
from paraloom.embed.vocabulary import Vocabulary

if TYPE_CHECKING:
    from paraloom.embed.average_training import TrainablePart
    from paraloom.embed.config import PartsConfig
    from paraloom.embed.threads import ThreadTeam


class PartTraining(NamedTuple):
    """Settings of a training that every part shares."""

    config: PartsConfig
    team: ThreadTeam
    seed: int
    devices: Sequence[str] = ("cpu",)
    precision: str = "float32"
    relative_learning_rate: float = 0.0


class NetworkParts(Protocol):
    """A kind of part that is registered in `PARTS` by 'module:object'."""

    def open(self, name: str, part: Average, dimension: int, tensors: Mapping[str, object], file: Path) -> Part:
        """The part with the network whose weights are stored with its table."""

    def trainable(
        self, name: str, vocabulary: Vocabulary, table: Vectors, source: Part | None, training: PartTraining
    ) -> TrainablePart:
        """The part for training, with the network of `source`, or else a new one."""


def network_parts(name: str) -> NetworkParts:
    """The object that opens and trains the parts of a name, such as 'lstm'."""
    parts: NetworkParts = load_object(PARTS[name].network)
    return parts
