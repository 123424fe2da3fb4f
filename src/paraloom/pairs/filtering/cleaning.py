"""Rules that say which lines are unfit for training, and why: text cleaned as in BBH22."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from paraloom.core.config import Config, check_range
from paraloom.core.errors import ConfigError
from paraloom.core.lazy import late
from paraloom.text.characters import LETTER, class_table, white_table

if TYPE_CHECKING:
    from paraloom.core.array_types import Bools, Ints
    from paraloom.text.buffers import Texts
    from paraloom.text.chrf import Points

lowercase, normalize = late("paraloom.text.normalize:lowercase"), late("paraloom.text.normalize:normalize")
code_points = late("paraloom.text.buffers:code_points")
whitespace_words = late("paraloom.pairs.scoring.repetition:whitespace_words")

REPLACEMENT_CHARACTER = 0xFFFD
"""U+FFFD, which decoders write in place of bytes that they cannot read."""


@dataclass(frozen=True, kw_only=True)
class CleaningRules(Config):
    """Rules for lines of parallel or monolingual text. A bound of 0 switches its rule off.

    The defaults are those of BBH22 §3, from the Bergamot project's cleaning script. Letters of any script count, where
    Bergamot counts those of the language's alphabet.

    Args:
        min_words: Minimum number of words of a line, split at white space (BBH22: 1 in pairs, 2 in monolingual text).
        max_words: Maximum number of words of a line.
        max_word_ratio: Maximum ratio of words of the longer side to words of the shorter side of a pair; 1 or more.
        min_alphabetic_words: Minimum share of words that begin with a letter, 0 to 1.
        min_alphabetic_characters: Minimum share of letters among the characters other than white space, 0 to 1.
    """

    min_words: int = 1
    max_words: int = 150
    max_word_ratio: float = 2.5
    min_alphabetic_words: float = 0.4
    min_alphabetic_characters: float = 0.5

    def validate(self) -> None:
        check_range(self, "min_words", "max_words", low=0)
        if self.max_words and self.max_words < self.min_words:
            raise ConfigError(f"'max_words' is {self.max_words}, less than 'min_words', {self.min_words}")
        if self.max_word_ratio and self.max_word_ratio < 1:
            raise ConfigError(f"'max_word_ratio' must be 1 or more, or 0 for no limit, not {self.max_word_ratio}")
        check_range(self, "min_alphabetic_words", "min_alphabetic_characters", low=0, high=1)


def line_faults(sides: Mapping[str, Texts], rules: CleaningRules) -> npt.NDArray[np.object_]:
    """Find the first rule that each line violates (Burchell, Birch and Heafield 2022 (BBH22), §3)."""
    tests: list[tuple[Bools, str]] = []
    counts: list[Ints] = []
    normalized = {name: normalize(texts) for name, texts in sides.items()}
    for name, texts in normalized.items():
        points = code_points(texts)
        words = whitespace_words(points).astype(np.int64)
        counts.append(words)
        tests.append((words == 0, f"{name}: empty"))
        if rules.min_words:
            tests.append((words < rules.min_words, f"{name}: fewer than {rules.min_words} words"))
        if rules.max_words:
            tests.append((words > rules.max_words, f"{name}: more than {rules.max_words} words"))
        damaged = _count(points, points[0] == REPLACEMENT_CHARACTER) > 0
        tests.append((damaged, f"{name}: damaged characters"))
        tests += _letter_tests(name, points, words, rules)
    if len(normalized) == 2:
        shorter, longer = np.minimum(*counts), np.maximum(*counts)
        if rules.max_word_ratio:
            reason = f"one side has more than {rules.max_word_ratio:g} times as many words as the other"
            tests.append((longer > rules.max_word_ratio * shorter, reason))
        identical = pc.equal(*(lowercase(texts) for texts in normalized.values()))
        tests.append((identical.to_numpy(zero_copy_only=False), "both sides are the same"))
    faults = np.full(len(counts[0]), None, object)
    for fails, reason in reversed(tests):
        faults[fails] = reason
    return faults


def _letter_tests(name: str, points: Points, words: Ints, rules: CleaningRules) -> list[tuple[Bools, str]]:
    white, letter = white_table()[points[0]], class_table()[points[0]] == LETTER
    tests = []
    if rules.min_alphabetic_words:
        begins = ~white
        begins[1:] &= white[:-1]
        starts = points[1][(points[1] > 0) & (points[1] < len(white))]
        begins[starts] = ~white[starts]  # The first character of a text begins a word whatever the text before ends in.
        few = _count(points, begins & letter) < rules.min_alphabetic_words * words
        tests.append((few, f"{name}: fewer than {rules.min_alphabetic_words:g} of the words begin with a letter"))
    if rules.min_alphabetic_characters:
        few = _count(points, letter) < rules.min_alphabetic_characters * _count(points, ~white)
        tests.append((few, f"{name}: fewer than {rules.min_alphabetic_characters:g} of the characters are letters"))
    return tests


def _count(points: Points, mask: Bools) -> Ints:
    """Number of characters of each text for which the mask is true: int64 (n,)."""
    sums = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
    counts: Ints = sums[points[1][1:]] - sums[points[1][:-1]]
    return counts
