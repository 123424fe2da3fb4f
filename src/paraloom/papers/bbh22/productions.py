"""Root productions: how the root of a tree splits, and how often each split occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from paraloom.core.errors import DataError
from paraloom.syntax.brackets import strip_empty_top
from paraloom.syntax.treebank import TRACE, strip_function
from paraloom.text.trees import constituents

TOPS = ("ROOT", "TOP", "S1")
"""Labels that a treebank or parser puts above a whole tree."""


def root_production(tree: str | None) -> str | None:
    """The labels of the root and of its children.

    A root labeled ROOT, TOP or S1, or without a label, is skipped if it has a single child. Function tags are removed
    (NP-SBJ is NP), and so are traces and phrases that hold nothing else. For a dependency tree
    (`brackets.dependency_tree`) the production consists of the relations of the root's dependents, in order. A root
    directly above its word has no children: its label alone. See BBH22 §2.1, which sorts sentences by it.
    """
    if tree is None:
        return None
    nodes = constituents(strip_empty_top(tree))
    traces = {node.start for node in nodes if node.label == TRACE}
    sizes = [sum(word not in traces for word in range(node.start, node.end)) for node in nodes]
    with_words = [(node, size) for node, size in zip(nodes, sizes, strict=True) if size]
    if not with_words:
        return None
    (root, size), *below = with_words
    while root.label in TOPS:
        children = [child for child in below if child[0].depth == root.depth + 1]
        if len(children) != 1 or children[0][1] != size:
            break
        (root, size), *below = below
    labels = [strip_function(node.label) for node, _ in below if node.depth == root.depth + 1]
    root_label = strip_function(root.label)
    return f"{root_label} -> {' '.join(labels)}" if labels else root_label


def root_productions(trees: Iterable[str | None]) -> list[str | None]:
    """The root production of each tree, None for a missing tree."""
    result = []
    for row, tree in enumerate(trees, start=1):
        try:
            result.append(root_production(tree))
        except DataError as error:
            error.at(row=row)
            raise
    return result


@dataclass(frozen=True)
class ProductionCounts:
    """Rows by root production, and those without a tree or words. Two add up to the counts of all their trees."""

    counts: Counter[str] = field(default_factory=Counter)
    unparsed: int = 0

    @classmethod
    def from_trees(cls, trees: Iterable[str | None]) -> ProductionCounts:
        """Count the root productions of bracketed trees."""
        return cls.from_productions(root_productions(trees))

    @classmethod
    def from_productions(cls, productions: Iterable[str | None]) -> ProductionCounts:
        """Count root productions."""
        counts = Counter(productions)
        unparsed = counts.pop(None, 0)
        return cls(Counter({production: n for production, n in counts.items() if production}), unparsed)

    def __add__(self, other: ProductionCounts) -> ProductionCounts:
        return ProductionCounts(self.counts + other.counts, self.unparsed + other.unparsed)

    @property
    def parsed(self) -> int:
        """Rows with a tree."""
        return self.counts.total()

    @property
    def rows(self) -> int:
        """All rows."""
        return self.parsed + self.unparsed

    def most_common(self, n: int) -> list[str]:
        """The n most frequent productions; equally frequent ones in alphabetical order."""
        return by_frequency(self.counts)[:n]


def by_frequency(counts: Counter[str]) -> list[str]:
    """The keys of a counter, most frequent first; equally frequent ones in alphabetical order."""
    return sorted(counts, key=lambda key: (-counts[key], key))
