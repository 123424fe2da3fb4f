"""Tree kernels as they are defined, over nested tuples: slow, recursive, and written without the library's code."""

from __future__ import annotations

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
