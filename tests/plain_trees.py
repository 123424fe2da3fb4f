"""Tree kernels as they are defined, over nested tuples: slow, recursive, and written without the library's code."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from typing import Any

Node = Any
"""A word is a str, a node is (label, *children); a node without children is a leaf with a label."""


def parse(text: str, dummy: bool = True) -> Node:
    """Nested tuples of brackets that are known to be right; an empty outermost label is taken off."""
    pieces = re.findall(r"[()]|[^\s()]+", text)

    def node(at: int) -> tuple[Node, int]:
        label, at = ("", at + 1) if pieces[at + 1] == "(" else (pieces[at + 1], at + 2)
        children: list[Node] = []
        while pieces[at] != ")":
            if pieces[at] == "(":
                child, at = node(at)
            else:
                child, at = "*" if dummy else pieces[at], at + 1
            children.append(child)
        return (label, *children), at + 1

    tree, _ = node(0)
    return tree if tree[0] else tree[1]


def is_leaf(node: Node) -> bool:
    return isinstance(node, str) or len(node) == 1


def nodes(tree: Node) -> list[Node]:
    """All nodes, words among them."""
    return [tree, *(below for child in ([] if isinstance(tree, str) else tree[1:]) for below in nodes(child))]


def name(node: Node) -> Any:
    """What a node is to its parent's production: words, childless nodes and others are never alike."""
    return ("word", node) if isinstance(node, str) else ("childless" if len(node) == 1 else "node", node[0])


def production(node: Node) -> Any:
    return (name(node), *(name(child) for child in ([] if isinstance(node, str) else node[1:])))


class Prepared:
    """A tree's nodes, their productions and the places of their children, looked up once: the recursions stay plain."""

    def __init__(self, tree: Node) -> None:
        self.nodes = nodes(tree)
        self.names = [name(node) for node in self.nodes]
        self.productions = [hash(production(node)) for node in self.nodes]
        self.children: list[list[int]] = []
        self.alike: dict[Any, list[int]] = defaultdict(list)
        self.named: dict[Any, list[int]] = defaultdict(list)
        for i, node in enumerate(self.nodes):
            at, constituents = i + 1, []
            for child in [] if is_leaf(node) else node[1:]:
                constituents.append(at)
                at += len(nodes(child))
            self.children.append(constituents)
            self.alike[self.productions[i]].append(i)
            self.named[self.names[i]].append(i)


def subset_kernel(a: Prepared, b: Prepared, decay: float, sigma: int = 1, bare_words: bool = False) -> float:
    """Subset trees with sigma 1, subtrees with sigma 0 (Moschitti 2006, section 3)."""
    known: dict[tuple[int, int], float] = {}

    def delta(x: int, y: int) -> float:
        if a.productions[x] != b.productions[y]:
            return 0.0
        if not a.children[x]:
            return decay if bare_words else 0.0
        if (x, y) not in known:
            value = decay
            for c, d in zip(a.children[x], b.children[y], strict=True):
                # A word that is not a fragment itself is still a part of larger ones.
                value *= 1.0 if not a.children[c] and not bare_words else sigma + delta(c, d)
            known[x, y] = value
        return known[x, y]

    # Only nodes of one production have anything in common.
    places = [x for x in range(len(a.nodes)) if bare_words or a.children[x]]
    return sum(delta(x, y) for x in places for y in b.alike.get(a.productions[x], ()))


def partial_kernel(a: Node, b: Node, decay: float, height_decay: float) -> float:
    """Partial trees, by all subsequences of children: exponential, for small trees."""

    def delta(x: Node, y: Node) -> float:
        if name(x) != name(y):
            return 0.0
        if is_leaf(x):
            return height_decay * decay**2
        total = decay**2
        for length in range(1, min(len(x), len(y))):
            for first in itertools.combinations(range(1, len(x)), length):
                for second in itertools.combinations(range(1, len(y)), length):
                    weight = decay ** (first[-1] - first[0] + second[-1] - second[0] - 2 * (length - 1))
                    for i, j in zip(first, second, strict=True):
                        weight *= delta(x[i], y[j])
                        if not weight:
                            break
                    total += weight
        return height_decay * total

    return sum(delta(x, y) for x in nodes(a) for y in nodes(b))


def partial_kernel_by_length(a: Prepared, b: Prepared, decay: float, height_decay: float) -> float:
    """Partial trees, by the recursion of Moschitti 2006 over the length of the subsequences: for real trees."""
    known: dict[tuple[int, int], float] = {}

    def delta(x: int, y: int) -> float:
        if a.names[x] != b.names[y]:
            return 0.0
        if not a.children[x]:
            return height_decay * decay**2
        if (x, y) not in known:
            m, o = len(a.children[x]), len(b.children[y])
            single = [[delta(c, d) for d in b.children[y]] for c in a.children[x]]
            ends = [row[:] for row in single]
            total = decay**2 + sum(map(sum, ends))
            for _ in range(2, min(m, o) + 1):
                up_to = [[0.0] * (o + 1) for _ in range(m + 1)]
                for k in range(1, m + 1):
                    for r in range(1, o + 1):
                        up_to[k][r] = ends[k - 1][r - 1] + decay * (up_to[k][r - 1] + up_to[k - 1][r])
                        up_to[k][r] -= decay**2 * up_to[k - 1][r - 1]
                ends = [[single[k][r] * up_to[k][r] for r in range(o)] for k in range(m)]
                total += sum(map(sum, ends))
            known[x, y] = height_decay * total
        return known[x, y]

    return sum(delta(x, y) for x in range(len(a.nodes)) for y in b.named.get(a.names[x], ()))
