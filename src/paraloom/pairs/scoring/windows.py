"""Long pairs in windows: the sentences of both sides, matched in order."""

from __future__ import annotations

import re
from collections import Counter

_SENTENCE = re.compile(r"\S.*?(?:[.!?]+[\"'”’)\]]*(?=\s)|\n|$)", re.DOTALL)
_WORD = re.compile(r"\w+")
_MOST_SENTENCES = 4
_MOST_WORDS = 40
_MERGED = 0.1
_SHAPES = [(1, n) for n in range(1, _MOST_SENTENCES + 1)] + [(n, 1) for n in range(2, _MOST_SENTENCES + 1)]


def windows(first: str, second: str) -> list[tuple[str, str]]:
    """Split a pair at its sentences: one against up to four, in order, those that share most words.

    All of both texts is in one of the pairs. A pair of which one side has more than four times as many sentences as
    the other comes back whole.
    """
    sides = (_sentences(first), _sentences(second))
    words = [[Counter(_WORD.findall(text.lower())) for text in side] for side in sides]
    ends = (len(sides[0]), len(sides[1]))
    best = {(0, 0): (0.0, (0, 0))}
    for start in ((i, j) for i in range(ends[0]) for j in range(ends[1])):
        for shape in _SHAPES if start in best else ():
            end = (start[0] + shape[0], start[1] + shape[1])
            if end[0] > ends[0] or end[1] > ends[1]:
                continue
            a, b = (sum(words[side][start[side] : end[side]], Counter()) for side in (0, 1))
            value = best[start][0] + 2 * (a & b).total() - _MERGED * sum(shape) * (a.total() + b.total()) / 2
            if end not in best or value > best[end][0]:
                best[end] = (value, start)
    if ends not in best:
        return [(first, second)]
    pairs: list[tuple[str, str]] = []
    while ends != (0, 0):
        start = best[ends][1]
        pairs.append((" ".join(sides[0][start[0] : ends[0]]), " ".join(sides[1][start[1] : ends[1]])))
        ends = start
    return pairs[::-1]


def _sentences(text: str) -> list[str]:
    """Sentences of a text, those of more than 40 words in parts of equal length."""
    parts = []
    for match in _SENTENCE.finditer(text):
        words = match.group().split()
        count = -(-len(words) // _MOST_WORDS)
        parts += [" ".join(words[len(words) * i // count : len(words) * (i + 1) // count]) for i in range(count)]
    return parts
