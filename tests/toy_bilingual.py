"""A toy encoder of German and English: words and their translations have the same random vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import save_encoder
from paraloom.embed.vocabulary import Vocabulary

WORDS = (("hund", "dog"), ("katze", "cat"), ("läuft", "runs"), ("schläft", "sleeps"))


def save_bilingual_encoder(
    folder: Path, words: Sequence[tuple[str, str]] = WORDS, training: Mapping[str, str] | None = None
) -> Path:
    """Save an encoder of some words and their translations; other words have no vector."""
    table = np.repeat(np.random.default_rng(4).normal(size=(len(words), 16)), 2, axis=0).astype(np.float32)
    part = Average(Vocabulary("word", [word for pair in words for word in pair]), table)
    return save_encoder(SentenceEncoder(parse_spec("word"), {"word": part}), folder, training)
