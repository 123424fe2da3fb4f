"""Bracketed constituency trees as text: their constituents and their skeletons."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    """Cut a tree to the labels of its upper levels, without words, as Wieting and Gimpel 2018 (PNMT) do."""
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


def tree_edit_distance(one: str, other: str) -> int:
    """The minimum number of labels to insert, delete and relabel between two trees (Zhang and Shasha 1989)."""
    if one == other:
        return 0
    first, second = _PostOrder(one), _PostOrder(other)
    distances = [[0] * len(second.labels) for _ in first.labels]
    for root in first.key_roots:
        for other_root in second.key_roots:
            _fill(first, second, root, other_root, distances)
    return distances[-1][-1]


class _PostOrder:
    """A tree in post-order: labels, the leftmost leaf of each node, and the nodes that have a left sibling."""

    def __init__(self, tree: str) -> None:
        nodes = constituents(tree)
        self.labels: list[str] = []
        self.leftmost: list[int] = []
        open_nodes: list[tuple[str, int]] = []
        for node in nodes:
            self._close(open_nodes, node.depth)
            open_nodes.append((node.label, len(self.labels)))
        self._close(open_nodes, 0)
        last = {leaf: index for index, leaf in enumerate(self.leftmost)}
        self.key_roots: Sequence[int] = sorted(last.values())

    def _close(self, open_nodes: list[tuple[str, int]], depth: int) -> None:
        while len(open_nodes) > depth:
            label, leaf = open_nodes.pop()
            self.labels.append(label)
            self.leftmost.append(leaf)


def _fill(first: _PostOrder, second: _PostOrder, root: int, other_root: int, distances: list[list[int]]) -> None:
    """The distances of all pairs of subtrees on the left paths below two key roots."""
    start, other_start = first.leftmost[root], second.leftmost[other_root]
    rows, columns = root - start + 2, other_root - other_start + 2
    forest = [[0] * columns for _ in range(rows)]
    for row in range(1, rows):
        forest[row][0] = row
    forest[0] = list(range(columns))
    for row in range(1, rows):
        node = start + row - 1
        for column in range(1, columns):
            other = other_start + column - 1
            best = min(forest[row - 1][column], forest[row][column - 1]) + 1
            if first.leftmost[node] == start and second.leftmost[other] == other_start:
                relabeled = forest[row - 1][column - 1] + (first.labels[node] != second.labels[other])
                forest[row][column] = distances[node][other] = min(best, relabeled)
            else:
                whole = forest[first.leftmost[node] - start][second.leftmost[other] - other_start]
                forest[row][column] = min(best, whole + distances[node][other])
