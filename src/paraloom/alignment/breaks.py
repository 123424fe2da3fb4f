"""Breaks inside sentences: where a text was split at an abbreviation, inside brackets or before a lower-case word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Floats

_OPENING, _CLOSING = "([{", ")]}"
# A bracket that is not closed in as many sentences was not opened in earnest.
_MAX_OPEN = 3
# Sentences with a capital for each one without, at least, for a lower-case letter to say anything.
_MIN_CAPITALS = 3


def inner_breaks(source: Sequence[str], target: Sequence[str]) -> tuple[Floats, Floats]:
    """Boundaries probably inside a sentence: within brackets, or before a lower-case letter where texts have case."""
    texts = source, target
    starts = [np.array([sentence.lstrip()[:1] for sentence in text], str) for text in texts]
    use_case = all(_has_case(side) for side in starts)
    sides = []
    for text, side in zip(texts, starts, strict=True):
        breaks = _open_brackets(text)
        if use_case:
            breaks[1:-1] = np.maximum(breaks[1:-1], np.char.islower(side[1:]))
        sides.append(breaks)
    return sides[0], sides[1]


def _has_case(starts: npt.NDArray[np.str_]) -> bool:
    """True if sentences begin with a capital, as a rule."""
    upper, lower = int(np.char.isupper(starts).sum()), int(np.char.islower(starts).sum())
    return upper >= _MIN_CAPITALS * lower and upper > 0


def _open_brackets(text: Sequence[str]) -> Floats:
    """1 for each boundary inside brackets, (n + 1,)."""
    breaks = np.zeros(len(text) + 1)
    opened: int | None = None
    for index, sentence in enumerate(text):
        if opened is not None:
            if _closes(sentence):
                breaks[opened + 1 : index + 1] = 1.0
                opened = None
            elif index - opened >= _MAX_OPEN:
                opened = None
        if _opens(sentence):
            opened = index
    return breaks


def _opens(sentence: str) -> bool:
    """True if the last bracket is an opening one."""
    last = max(sentence.rfind(bracket) for bracket in _OPENING)
    return last >= 0 and last > max(sentence.rfind(bracket) for bracket in _CLOSING)


def _closes(sentence: str) -> bool:
    """True if the first bracket is a closing one."""
    opening = [at for bracket in _OPENING if (at := sentence.find(bracket)) >= 0]
    closing = [at for bracket in _CLOSING if (at := sentence.find(bracket)) >= 0]
    return bool(closing) and min(closing) < min(opening, default=len(sentence))
