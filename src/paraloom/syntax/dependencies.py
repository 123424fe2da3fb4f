"""Dependency parses as bracketed trees, so that whatever reads a tree reads them, too."""

from __future__ import annotations

from collections.abc import Sequence

from paraloom.core.errors import DataError
from paraloom.syntax.brackets import leaf

TOP = "TOP"
"""The label above several sentences in one text."""


def bracketed(words: Sequence[str], heads: Sequence[int], relations: Sequence[str]) -> str | None:
    """A node for each word, labelled with its relation; in it the word, between the nodes of its dependents.

    words, heads, relations: of equal count n; a head is the place of a word, from 1, or 0 for a root.  Dependents stand
    in the order of the sentence, those before their head on its left; where a parse crosses itself (is not projective)
    the words of the tree are in another order than those of the sentence.  Several roots, as of a text of several
    sentences, come under one node TOP.  None without words.
    Raises DataError where a head is no word of the sentence, or where words hang in a circle.

    >>> bracketed(["The", "dog", "sleeps", "."], [2, 3, 0, 3], ["det", "nsubj", "root", "punct"])
    '(root (nsubj (det The) dog) sleeps (punct .))'
    """
    below: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for place, (head, word) in enumerate(zip(heads, words, strict=True), start=1):
        if not 0 <= head <= len(words) or head == place:
            raise DataError(f"word {place}, '{word}', hangs on word {head}, which is none of the other {len(words)}")
        below[head].append(place)
    if not words:
        return None
    labels = [leaf(relation) for relation in relations]
    pieces: list[str] = []
    placed = 0
    # What is still to be written, the next thing last: no recursion, for a chain of words may be long.
    waiting: list[int | str] = list(reversed(below[0]))
    while waiting:
        item = waiting.pop()
        if item == ")":
            pieces[-1] += ")"
        elif isinstance(item, str):
            pieces.append(item)
        else:
            placed += 1
            pieces.append(f"({labels[item - 1]}")
            before = [each for each in below[item] if each < item]
            after = below[item][len(before) :]
            waiting += reversed([*before, leaf(words[item - 1]), *after, ")"])
    if placed < len(words):
        raise DataError(f"{len(words) - placed} of the {len(words)} words hang in a circle, on no root")
    tree = " ".join(pieces)
    return tree if len(below[0]) == 1 else f"({TOP} {tree})"
