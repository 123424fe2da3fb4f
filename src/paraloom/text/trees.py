"""Bracketed constituency trees as text: their constituents and their skeletons."""

from __future__ import annotations

import re
from typing import NamedTuple

from paraloom.core.errors import DataError

_TOKEN = re.compile(r"[()]|[^\s()]+")


class Constituent(NamedTuple):
    """A node of a tree above the words."""

    label: str
    start: int
    end: int
    depth: int


def constituents(tree: str) -> list[Constituent]:
    """Parse a bracketed tree to its nodes."""
    nodes: list[Constituent] = []
    stack: list[int] = []
    words, expects_label = 0, False
    for token in _TOKEN.findall(tree):
        if token == "(":
            if expects_label or (nodes and not stack):
                raise _invalid(tree)
            expects_label = True
        elif expects_label:
            if token == ")":
                raise _invalid(tree)
            nodes.append(Constituent(token, words, words, len(stack)))
            stack.append(len(nodes) - 1)
            expects_label = False
        elif not stack:
            raise _invalid(tree)
        elif token == ")":
            index = stack.pop()
            nodes[index] = nodes[index]._replace(end=words)
        else:
            words += 1
    if stack or expects_label or not nodes:
        raise _invalid(tree)
    return nodes


def skeleton(tree: str, levels: int = 2) -> str:
    """Cut a tree to the labels of its upper levels, without words.

    Reference:
        Wieting and Gimpel 2018 (ParaNMT), which measures syntactic diversity by the entropy of skeletons.
    """
    pieces: list[str] = []
    depth = -1
    for node in constituents(tree):
        if node.depth < levels:
            pieces.append(f"{')' * (depth - node.depth + 1)}{' ' if pieces else ''}({node.label}")
            depth = node.depth
    return "".join(pieces) + ")" * (depth + 1)


def _invalid(tree: str) -> DataError:
    shown = tree if len(tree) <= 60 else f"{tree[:57]}..."
    return DataError(
        f"not one bracketed tree: '{shown}'", remedy="A tree looks like (S (NP (NN Snow)) (VP (VBZ falls)))."
    )
