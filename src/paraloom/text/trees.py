"""Bracketed constituency trees as text: their constituents and their skeletons."""

from __future__ import annotations

import re
from typing import NamedTuple

from paraloom.core.errors import DataError

_TOKEN = re.compile(r"[()]|[^\s()]+")


class Constituent(NamedTuple):
    """A node of a tree above the words.

    Args:
        label: Its label: NP, VP, or a part-of-speech tag.
        start: Index of its first word, from 0.
        end: Index after its last word.
        depth: Distance from the root, whose depth is 0.
    """

    label: str
    start: int
    end: int
    depth: int


def constituents(tree: str) -> list[Constituent]:
    """Parse a bracketed tree to its nodes.

    Args:
        tree: One tree: `(S (NP (NN Snow)) (VP (VBZ falls)))`.

    Returns:
        The nodes above the words, part-of-speech tags included, each before its children.

    Raises:
        DataError: Brackets are not balanced, a node has no label, or there is more than one tree.

    Example:
        >>> constituents("(S (NP (DT The) (NN dog)) (VP (VBZ sleeps)))")[:2]
        [Constituent(label='S', start=0, end=3, depth=0), Constituent(label='NP', start=0, end=2, depth=1)]
    """
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

    Args:
        tree: A bracketed tree.
        levels: How many levels to keep, 1 or more.

    Raises:
        DataError: The tree is not valid.

    Reference:
        Wieting and Gimpel 2018 (ParaNMT), which measures syntactic diversity by the entropy of skeletons.

    Example:
        >>> skeleton("(S (NP (DT The) (NN dog)) (VP (VBZ sleeps)) (. .))")
        '(S (NP) (VP) (.))'
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
