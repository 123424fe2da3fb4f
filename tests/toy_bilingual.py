"""A toy encoder of German and English: words and their translations have the same vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import save_encoder
from paraloom.embed.vocabulary import Vocabulary

WORDS = (("hund", "dog"), ("katze", "cat"), ("läuft", "runs"), ("schläft", "sleeps"))


def word_vectors(count: int) -> npt.NDArray[np.float32]:
    """Vectors of four words or more, as far apart as it takes for a sentence to be nearest to its translation alone.

    Words of one sentence have a negative cosine, so that a sentence and one of its words are not too near; the others
    have small positive ones, so that no mean cosine is 0.
    """
    vectors = np.eye(count, max(16, count), dtype=np.float32)
    if count > 4:
        # A graph of vectors that are all equally far from each other leads nowhere.
        vectors += 0.1 * np.cos(np.arange(count)[:, None] * np.arange(1, vectors.shape[1] + 1)).astype(np.float32)
    vectors[1:4, :3] = [[0.10, 1, 0], [-0.25, 0.08, 1], [0.06, -0.25, 0.12]]
    return vectors


def save_bilingual_encoder(
    folder: Path, words: Sequence[tuple[str, str]] = WORDS, training: Mapping[str, str] | None = None
) -> Path:
    """Save an encoder of some words and their translations; other words have no vector."""
    table = np.repeat(word_vectors(len(words)), 2, axis=0)
    part = Average(Vocabulary("word", [word for pair in words for word in pair]), table)
    return save_encoder(SentenceEncoder(parse_spec("word"), {"word": part}), folder, training)
