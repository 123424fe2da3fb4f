"""Breaks inside sentences: where a text was split at an abbreviation, inside brackets or before a lower-case word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_OPENING, _CLOSING = "([{", ")]}"
# A bracket that is not closed in as many sentences was not opened in earnest.
_MAX_OPEN = 3


def inner_breaks(text: Sequence[str]) -> Floats:
    """Which boundaries between the sentences of a text are probably inside a sentence.

    That is where a bracket is open, or where the next sentence begins with a lower-case letter.

    Args:
        text: n sentences.

    Returns:
        float64 (n + 1,), 1 for a boundary inside a sentence, else 0; the ends of the text are none.

    Example:
        >>> inner_breaks(["It is on the map (Basel,", "1935).", "The summit", "is high."]).tolist()
        [0.0, 1.0, 0.0, 1.0, 0.0]
    """
    breaks = np.zeros(len(text) + 1)
    for index in range(1, len(text)):
        breaks[index] = text[index].lstrip()[:1].islower()
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
    """Whether the last bracket is an opening one."""
    last = max(sentence.rfind(bracket) for bracket in _OPENING)
    return last >= 0 and last > max(sentence.rfind(bracket) for bracket in _CLOSING)


def _closes(sentence: str) -> bool:
    """Whether the first bracket is a closing one."""
    opening = [at for bracket in _OPENING if (at := sentence.find(bracket)) >= 0]
    closing = [at for bracket in _CLOSING if (at := sentence.find(bracket)) >= 0]
    return bool(closing) and min(closing) < min(opening, default=len(sentence))
