"""Whether English words may stand for others in their place: how often they have these neighbors and translations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.bundled import WORD_COUNTS
from paraloom.text.tokens import token_hash

START, END = "<s>", "</s>"
"""Neighbors of the first and the last word."""

_LEVELS = 3.0
"""Levels of a count that is e times as large."""
_BELOW, _USUAL, _PHRASES = 0.3, 30, 10
"""What is added to counts of neighbors, of words, and of phrases."""
FACTOR, SHIFT = 0x9E3779B97F4A7C15, 39
"""A key of n words is of 25 bits: the hash of a word is added to the key before, times this factor; bits left out."""


def key_of(*words: str) -> int:
    """The key of a word, or of words beside each other."""
    key = 0
    for word in words:
        key = (key * FACTOR + _hash(word)) & (2**64 - 1)
    return key >> SHIFT


@lru_cache(maxsize=16384)
def _hash(word: str) -> int:
    return token_hash(word)


def keys_of_substitution(first: str, second: str) -> tuple[int, int, int]:
    """The keys of two phrases of which one stands for the other, and of the first and second for anything."""
    mark = "|"
    return key_of(mark, *sorted((first, second))), key_of(mark, first), key_of(mark, second)


class WordCounts:
    """Counts by key, ascending, in levels; a file has steps of up to 255 between keys, with a level of 0 for more."""

    def __init__(self, keys: npt.NDArray[np.uint32], levels: npt.NDArray[np.uint8]) -> None:
        self._keys, self._levels = keys, levels

    @classmethod
    def of(cls, counts: Mapping[int, float]) -> WordCounts:
        """The table of these counts, each 1 or more."""
        keys = np.array(sorted(counts), np.uint32)
        levels = 1 + np.rint(_LEVELS * np.log([counts[key] for key in keys.tolist()]))
        return cls(keys, levels.clip(1, 255).astype(np.uint8))

    @classmethod
    def load(cls, path: Path) -> WordCounts:
        """Read a table."""
        with np.load(path, allow_pickle=False) as arrays:
            keys, levels = np.cumsum(arrays["steps"], dtype=np.uint32), arrays["levels"]
        return cls(keys[levels > 0], levels[levels > 0])

    def save(self, path: Path) -> None:
        """Write the table."""
        gaps = np.diff(self._keys, prepend=np.uint32(0)).astype(np.int64)
        between = np.maximum(gaps - 1, 0) // 255
        ends = np.cumsum(between + 1)
        steps, levels = np.full(ends[-1], 255, np.uint8), np.zeros(ends[-1], np.uint8)
        steps[ends - 1], levels[ends - 1] = gaps - 255 * between, self._levels
        np.savez_compressed(path, steps=steps, levels=levels)

    def log(self, key: int, add: float = _BELOW) -> float:
        """Logarithm of a count, with something added."""
        at = int(self._keys.searchsorted(np.uint32(key)))
        known = at < len(self._keys) and self._keys[at] == key
        return math.log((math.exp((int(self._levels[at]) - 1) / _LEVELS) if known else 0.0) + add)


@lru_cache(maxsize=1)
def bundled_counts() -> WordCounts:
    """The table that comes with the package."""
    return WordCounts.load(WORD_COUNTS)


def replaced(source: Sequence[str], candidate: Sequence[str]) -> list[tuple[slice, slice]]:
    """Where words were replaced, left out or added; marks alone do not count."""
    codes = SequenceMatcher(None, source, candidate, autojunk=False).get_opcodes()
    return [
        (slice(start, end), slice(new_start, new_end))
        for tag, start, end, new_start, new_end in codes
        if tag != "equal" and any(word[0].isalnum() for word in (*source[start:end], *candidate[new_start:new_end]))
    ]


def word_evidence(
    source: Sequence[str], candidate: Sequence[str], counts: WordCounts | None = None
) -> tuple[float, float, float]:
    """Least logarithms of all replaced words: beside neighbors, over the old words, as translations of the same."""
    log = (counts or bundled_counts()).log

    def beside(*words: str) -> float:
        return log(key_of(*words))

    def usual(word: str) -> float:
        return log(key_of(word), _USUAL)

    fits, gains, likenesses = list[float](), list[float](), list[float]()
    first, second = ((START, *words, END) for words in (source, candidate))
    for old, new in replaced(first, second):
        before, after = first[old.start - 1], first[old.stop]
        was, now = first[old], second[new]
        fits.append(min(beside(before, now[0]), beside(now[-1], after)) if now else beside(before, after))
        if was and now:
            gains.append(beside(before, now[0]) - usual(now[0]) - beside(before, was[0]) + usual(was[0]))
            gains.append(beside(now[-1], after) - usual(now[-1]) - beside(was[-1], after) + usual(was[-1]))
        both, *single = keys_of_substitution(" ".join(was), " ".join(now))
        likenesses.append(log(both) - sum(log(key, _PHRASES) for key in single) / 2)
    fit, gain, likeness = (min(values, default=math.nan) for values in (fits, gains, likenesses))
    return fit, gain, likeness
