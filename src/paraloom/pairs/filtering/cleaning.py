"""Lines that are not fit to train on, and why: parallel and monolingual text cleaned as BBH22 do, by plain rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError
from paraloom.pairs.scoring.characters import Points, white_words
from paraloom.text.characters import LETTER, class_table, white_table
from paraloom.text.tokens import Texts, code_points, lowered, normalise

DAMAGED = 0xFFFD
"""What a decoder puts where it could not read (U+FFFD)."""


@dataclass(frozen=True, kw_only=True)
class CleaningRules:
    """What a line must be like.  The defaults are BBH22's, from the cleaning of the Bergamot project; 0: no bound.

    fewest, most: words of a side, cut at white space (BBH22: from 1 in pairs, 2 in monolingual text, to 150).
    ratio: words of the longer side for each of the shorter (2.5).  wordlike: share of the words that begin with a
    letter (0.4).  letters: share of letters among the characters that are no white space (0.5).  Any script's letters
    count here, where Bergamot counts those of the language's alphabet.
    identical: whether both sides may be the same, but for case.  damaged: whether U+FFFD may stand in a line.
    """

    fewest: int = 1
    most: int = 150
    ratio: float = 2.5
    wordlike: float = 0.4
    letters: float = 0.5
    identical: bool = False
    damaged: bool = False

    def __post_init__(self) -> None:
        if self.fewest < 0 or self.most < 0 or (self.most and self.most < self.fewest):
            raise ConfigError(f"a line has 'fewest' to 'most' words, not {self.fewest} to {self.most}")
        if self.ratio and self.ratio < 1:
            raise ConfigError(f"'ratio' is 1 or more, or 0 for no bound, not {self.ratio}")
        for name in ("wordlike", "letters"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"'{name}' is a share, 0 to 1, not {getattr(self, name)}")


def line_faults(sides: Mapping[str, Texts], rules: CleaningRules) -> npt.NDArray[np.object_]:
    """The first rule that each of n lines breaks, in words, None where it breaks none: object (n,).

    sides: one text column or two, by name; the name stands in the reason.

    >>> pairs = {"src": ["ein Hund", "1 2 3 +", ""], "tgt": ["a dog", "one two three", "x"]}
    >>> line_faults(pairs, CleaningRules()).tolist()
    [None, 'src: fewer than 0.4 of the words begin with a letter', 'src: empty']
    """
    tests: list[tuple[npt.NDArray[np.bool_], str]] = []
    counts: list[npt.NDArray[np.int64]] = []
    plain = {name: normalise(texts) for name, texts in sides.items()}
    for name, texts in plain.items():
        points = code_points(texts)
        words = white_words(points).astype(np.int64)
        counts.append(words)
        tests.append((words == 0, f"{name}: empty"))
        if rules.fewest:
            tests.append((words < rules.fewest, f"{name}: fewer than {rules.fewest} words"))
        if rules.most:
            tests.append((words > rules.most, f"{name}: more than {rules.most} words"))
        if not rules.damaged:
            tests.append((_count(points, points[0] == DAMAGED) > 0, f"{name}: damaged characters"))
        tests += _letter_tests(name, points, words, rules)
    if len(plain) == 2:
        shorter, longer = np.minimum(*counts), np.maximum(*counts)
        if rules.ratio:
            tests.append((longer > rules.ratio * shorter, f"more than {rules.ratio:g} words for one of the other side"))
        if not rules.identical:
            same = pc.equal(*(lowered(texts) for texts in plain.values()))
            tests.append((same.to_numpy(zero_copy_only=False), "both sides are the same"))
    found = np.full(len(counts[0]), None, object)
    for fails, reason in reversed(tests):
        found[fails] = reason
    return found


def comparable(texts: Texts) -> pa.Array:
    """Texts as they are compared with held-out ones: case, punctuation and runs of blanks do not count.

    >>> comparable(["“Yes”,  he said.", "Yes he  SAID"]).to_pylist()
    ['yes he said', 'yes he said']
    """
    words = pc.replace_substring_regex(normalise(texts), pattern=r"[\pP\pS\s]+", replacement=" ")
    return lowered(pc.utf8_trim(words, characters=" "))


def _letter_tests(
    name: str, points: Points, words: npt.NDArray[np.int64], rules: CleaningRules
) -> list[tuple[npt.NDArray[np.bool_], str]]:
    white, letter = white_table()[points[0]], class_table()[points[0]] == LETTER
    tests = []
    if rules.wordlike:
        begins = ~white
        begins[1:] &= white[:-1]
        inner = points[1][(points[1] > 0) & (points[1] < len(white))]
        begins[inner] = ~white[inner]  # A text's first character has nothing before it.
        share = _count(points, begins & letter) < rules.wordlike * words
        tests.append((share, f"{name}: fewer than {rules.wordlike:g} of the words begin with a letter"))
    if rules.letters:
        few = _count(points, letter) < rules.letters * _count(points, ~white)
        tests.append((few, f"{name}: fewer than {rules.letters:g} of the characters are letters"))
    return tests


def _count(points: Points, holds: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """How many characters of each text hold: int64 (n,)."""
    sums = np.concatenate([[0], np.cumsum(holds, dtype=np.int64)])
    return sums[points[1][1:]] - sums[points[1][:-1]]
