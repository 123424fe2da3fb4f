"""Features of a word for a span parser: its number, its affixes and shape, and its given vector."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Ints

UNKNOWN = 0  # Row of words that were not seen in training, and of words without a given vector
BUCKETS = 8192  # Rows of the table of affixes and shapes, which are found by a hash
NUM_AFFIXES = 8  # Prefixes of one to three letters, suffixes of one to four, and the shape


class WordFeatures(NamedTuple):
    words: Ints
    affixes: Ints
    vectors: Ints


@dataclass(frozen=True)
class GivenVectors:
    """Word vectors that are not trained: what a parser knows of words that its treebank does not have."""

    words: Sequence[str]  # V lower-cased words
    table: npt.NDArray[np.int8]  # int8 `(V, d)`, d may be 0

    @classmethod
    def none(cls) -> GivenVectors:
        return cls([], np.zeros((0, 0), np.int8))

    @classmethod
    def reduced(cls, words: Sequence[str], vectors: Float32s, dimension: int) -> GivenVectors:
        """Reduce vectors to their first principal components, one byte per number."""
        directions = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        directions = directions - directions.mean(axis=0)
        _, components = np.linalg.eigh(directions.T @ directions)
        reduced = directions @ components[:, ::-1][:, : min(dimension, vectors.shape[1])]
        # All components share a scale: their variances tell how much they matter.
        scale = 127 / max(float(np.quantile(np.abs(reduced), 0.999)), 1e-9)
        return cls([word.lower() for word in words], np.rint(reduced * scale).clip(-127, 127).astype(np.int8))


class WordFeaturizer:
    def __init__(self, words: Sequence[str], vectors: GivenVectors) -> None:
        self._row = {word: row for row, word in enumerate(words, 1)}
        self._vector_row: dict[str, int] = {}
        for row, word in enumerate(vectors.words, 1):
            self._vector_row.setdefault(word, row)

    def features(self, words: Sequence[str]) -> WordFeatures:
        return WordFeatures(
            np.array([self._row.get(word, UNKNOWN) for word in words], np.int64),
            np.array([affixes(word, index == 0) for index, word in enumerate(words)], np.int64).reshape(
                -1, NUM_AFFIXES
            ),
            np.array([self._vector_row.get(word.lower(), UNKNOWN) for word in words], np.int64),
        )


@lru_cache(maxsize=100_000)
def affixes(word: str, first: bool) -> tuple[int, ...]:
    """Rows of the prefixes, suffixes and the shape of a word, `NUM_AFFIXES` of them."""
    lower = word.lower()
    shape = "".join(dict.fromkeys(_kind(character) for character in word)) + ("^" if first else "")
    names = [f"p{lower[:length]}" for length in (1, 2, 3)] + [f"s{lower[-length:]}" for length in (1, 2, 3, 4)]
    return tuple(zlib.crc32(name.encode()) % BUCKETS for name in [*names, f"c{shape}"])


def _kind(character: str) -> str:
    if character.isdigit():
        return "0"
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return character
