"""Noise in the pairs that a translator learns from, another in each epoch: case, typing errors, final punctuation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from paraloom.core.errors import ConfigError, nearest
from paraloom.core.seeds import generator
from paraloom.mt.data import SentencePairs

KINDS = ("typos", "unpunctuated", "titlecase", "uppercase")
"""In the order in which they are applied to a pair that several are drawn for."""

_FINAL = re.compile(r"[.!?…。！？।؟۔]+$")
_WORDS_PER_TYPO = 10


def parse_noise(noise: Sequence[str]) -> dict[str, float]:
    """Kinds of noise and the share of the pairs that each changes: `typos:0.1` is a tenth; ConfigError otherwise."""
    shares: dict[str, float] = {}
    for text in noise:
        kind, _, number = text.partition(":")
        if kind not in KINDS:
            raise ConfigError(
                f"'noise' has the unknown kind '{kind}'{nearest(kind, KINDS)}", remedy=f"Kinds are {', '.join(KINDS)}."
            )
        try:
            share = float(number)
        except ValueError:
            share = 0.0
        if not 0 < share <= 1 or kind in shares:
            raise ConfigError(
                f"'noise' must have each kind once, with a share above 0 and at most 1, not '{text}'",
                remedy=f"Write {kind}:0.1 for a tenth of the pairs.",
            )
        shares[kind] = share
    return shares


def add_noise(
    pairs: Iterable[SentencePairs], noise: Sequence[str], seed: int, epoch: int, special_tokens: Sequence[str] = ()
) -> Iterator[SentencePairs]:
    """The pairs of an epoch with noise, by seed, epoch and number of a pair; typing errors in the source alone."""
    shares = parse_noise(noise)
    chances = [shares.get(kind, 0.0) for kind in KINDS]
    # Two generators, so that what is drawn for a pair does not depend on where batches begin.
    choosing, editing = (generator(seed, epoch, part) for part in (0, 1))
    special = frozenset(special_tokens)
    for sources, targets in pairs:
        chosen = choosing.random((len(sources), len(KINDS))) < chances
        rows = list(zip(sources, targets, strict=True))
        for row in np.flatnonzero(chosen.any(axis=1)).tolist():
            rows[row] = _noisy(rows[row], chosen[row].tolist(), special, editing)
        yield [source for source, _ in rows], [target for _, target in rows]


def _noisy(
    pair: tuple[str, str], chosen: Sequence[bool], special: frozenset[str], random: np.random.Generator
) -> tuple[str, str]:
    typos, unpunctuated, titlecase, uppercase = chosen
    source, target = pair
    if typos:
        source = _mistyped(source, special, random)
    # Only where both sides end with a mark: a question that loses it in one language alone is a wrong pair.
    if unpunctuated and _FINAL.search(source) and _FINAL.search(target):
        source, target = (_FINAL.sub("", side).rstrip() or side for side in (source, target))
    if titlecase:
        source, target = (
            _recased(side, special, lambda word: word[:1].title() + word[1:]) for side in (source, target)
        )
    if uppercase:
        source, target = (_recased(side, special, str.upper) for side in (source, target))
    return source, target


def _recased(text: str, special: frozenset[str], recase: Callable[[str], str]) -> str:
    return " ".join(word if word in special else recase(word) for word in text.split(" "))


def _mistyped(text: str, special: frozenset[str], random: np.random.Generator) -> str:
    """A text with typing errors (Damerau 1964): two letters swapped, one missing, one too many, a wrong one."""
    words = text.split(" ")
    letters = [letter for word in words if word not in special for letter in word if letter.isalpha()]
    for _ in range(1 + len(words) // _WORDS_PER_TYPO):
        places = [
            (number, at)
            for number, word in enumerate(words)
            if word not in special
            for at in range(len(word) - 1)
            if word[at].isalpha() and word[at + 1].isalpha()
        ]
        if not places:
            return text
        number, at = places[int(random.integers(len(places)))]
        letter = letters[int(random.integers(len(letters)))]
        before, two, after = words[number][:at], words[number][at : at + 2], words[number][at + 2 :]
        two = (two[::-1], two[1], letter + two, letter + two[1])[int(random.integers(4))]
        words[number] = before + two + after
    return " ".join(words)
