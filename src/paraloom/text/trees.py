"""Bracketed trees as text: their phrases, and the top of them."""

from __future__ import annotations

import re
from typing import NamedTuple

from paraloom.core.errors import DataError

_PIECE = re.compile(r"[()]|[^\s()]+")


class Phrase(NamedTuple):
    """A node of a tree over the words from `first` to `last`, the last one not in it; depth 0 is the root's."""

    label: str
    first: int
    last: int
    depth: int


def phrases(tree: str) -> list[Phrase]:
    """The nodes above the words, tags included, each before its children.

    Raises DataError where brackets do not close, a node has no label, or there is more than one tree.

    >>> phrases("(S (NP (DT The) (NN dog)) (VP (VBZ sleeps)))")[:2]
    [Phrase(label='S', first=0, last=3, depth=0), Phrase(label='NP', first=0, last=2, depth=1)]
    """
    found: list[Phrase] = []
    open_nodes: list[int] = []
    words, fresh = 0, False
    for piece in _PIECE.findall(tree):
        if piece == "(":
            if fresh or (found and not open_nodes):
                raise _broken(tree)
            fresh = True
        elif fresh:
            if piece == ")":
                raise _broken(tree)
            found.append(Phrase(piece, words, words, len(open_nodes)))
            open_nodes.append(len(found) - 1)
            fresh = False
        elif not open_nodes:
            raise _broken(tree)
        elif piece == ")":
            place = open_nodes.pop()
            found[place] = found[place]._replace(last=words)
        else:
            words += 1
    if open_nodes or fresh or not found:
        raise _broken(tree)
    return found


def skeleton(tree: str, levels: int = 2) -> str:
    """The labels of the upper levels, without words: what PNMT counts to say how much parses differ.

    >>> skeleton("(S (NP (DT The) (NN dog)) (VP (VBZ sleeps)) (. .))")
    '(S (NP) (VP) (.))'
    """
    pieces: list[str] = []
    depth = -1
    for phrase in phrases(tree):
        if phrase.depth < levels:
            pieces.append(f"{')' * (depth - phrase.depth + 1)}{' ' if pieces else ''}({phrase.label}")
            depth = phrase.depth
    return "".join(pieces) + ")" * (depth + 1)


def _broken(tree: str) -> DataError:
    shown = tree if len(tree) <= 60 else f"{tree[:57]}..."
    return DataError(
        f"not one bracketed tree: '{shown}'", remedy="A tree looks like (S (NP (NN Snow)) (VP (VBZ falls)))."
    )
