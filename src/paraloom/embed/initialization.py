"""What an encoder's training begins with: each part with random vectors, those of another encoder, or given ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from paraloom.core.errors import ConfigError
from paraloom.core.seeds import generator
from paraloom.embed.average import SentenceEncoder
from paraloom.embed.average_training import LearningAverage, LearningPart
from paraloom.embed.config import PartsConfig
from paraloom.embed.numbering import Numbered
from paraloom.embed.parts import PARTS
from paraloom.embed.recurrent import LearningOrdered, network_of
from paraloom.embed.spec import Spec
from paraloom.embed.threads import Team
from paraloom.embed.vectors import read_vectors


def new_parts(
    config: PartsConfig,
    seed: int,
    spec: Spec,
    units: Mapping[str, Numbered],
    origin: SentenceEncoder | None,
    vectors: str | Path | None,
    team: Team,
    devices: Sequence[str] = ("cpu",),
    precision: str = "float32",
) -> dict[str, LearningPart]:
    """The parts of an encoder as its training begins, by name: random, or those of `origin`, words from `vectors`.

    devices, precision: of the networks among them (embed.devices).

    Raises ConfigError where `vectors` are given and there is no use for them, DataError as read_vectors does.
    """
    parts: dict[str, LearningPart] = {}
    found = None
    if vectors is not None:
        if origin is not None:
            raise ConfigError("'start' brings vectors of its own", remedy="Give 'start' or 'vectors'.")
        if "word" not in units:
            raise ConfigError(f"no part of '{spec}' reads words", remedy="Leave 'vectors' out, or add the part 'word'.")
        found = read_vectors(vectors, units["word"].chosen.vocabulary, config.dimension)
    for position, name in enumerate(spec.parts):
        kind = PARTS[name]
        vocabulary, _, shares = units[kind.unit].chosen
        given = origin.parts[name] if origin else None
        if given is not None:
            table = given.vectors
        else:
            draw = generator(seed, position)
            table = draw.standard_normal((len(vocabulary), config.dimension), np.float32)
            damping = 0.0 if kind.ordered else config.damping
            table *= (config.scale(name) / (1 + damping * shares)).astype(np.float32)[:, None]
            if found is not None and kind.unit == "word":
                table[found.rows] = found.vectors
        if kind.ordered:
            network = network_of(name, given, config.dimension, seed)
            held = config.vector_pull, config.network_decay
            parts[name] = LearningOrdered(vocabulary, table, network, team, *held, devices, precision)
        else:
            parts[name] = LearningAverage(vocabulary, table, team, config.vector_pull)
    return parts
