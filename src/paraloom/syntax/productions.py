"""Root productions: into what the top of a tree splits, and how often each split occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from paraloom.core.errors import DataError
from paraloom.syntax.brackets import without_empty_top
from paraloom.syntax.treebank import TRACE, bare
from paraloom.text.trees import constituents

TOPS = ("ROOT", "TOP", "S1")
"""Labels that a treebank or a parser puts above a whole tree, and that say nothing of it."""


def root_production(tree: str | None) -> str | None:
    """The label of the root and those of its children, as BBH22 §2.1 sorts sentences by; None without a tree or words.

    A node ROOT, TOP or without a label is passed through where it has one child, function tags are cut off (NP-SBJ is
    NP), traces and the phrases that hold nothing else are left out.  Of a dependency tree (dependencies.bracketed) it
    is the relations of the root's dependents, in order.  A root right above its word has no children: its label alone.
    Raises DataError for what is not one tree.

    >>> root_production("( (S (NP-SBJ (PRP He)) (VP (VBD left)) (. .)) )")
    'S -> NP VP .'
    >>> root_production("(root (nsubj He) left (punct .))")
    'root -> nsubj punct'
    """
    if tree is None:
        return None
    nodes = constituents(without_empty_top(tree))
    traces = {node.start for node in nodes if node.label == TRACE}
    sizes = [sum(word not in traces for word in range(node.start, node.end)) for node in nodes]
    spoken = [(node, size) for node, size in zip(nodes, sizes, strict=True) if size]
    if not spoken:
        return None
    (root, size), *below = spoken
    while root.label in TOPS:
        children = [each for each in below if each[0].depth == root.depth + 1]
        if len(children) != 1 or children[0][1] != size:
            break
        (root, size), *below = below
    labels = [bare(node.label) for node, _ in below if node.depth == root.depth + 1]
    return " -> ".join([bare(root.label), " ".join(labels)]) if labels else bare(root.label)


@dataclass(frozen=True)
class ProductionCounts:
    """How often each root production was seen; two of them add up to those of all their trees.

    counts: by production.  unparsed: rows without a tree, or whose tree has no words.

    >>> ProductionCounts.of(["(S (NP x) (VP y))", None]) + ProductionCounts.of(["(S (NP z) (VP y))"])
    ProductionCounts(counts=Counter({'S -> NP VP': 2}), unparsed=1)
    """

    counts: Counter[str] = field(default_factory=Counter)
    unparsed: int = 0

    @classmethod
    def of(cls, trees: Iterable[str | None]) -> ProductionCounts:
        """Of bracketed trees, None where there is none.  Raises DataError with the row, from 1, of what is no tree."""
        return cls.of_productions(productions(trees))

    @classmethod
    def of_productions(cls, each: Iterable[str | None]) -> ProductionCounts:
        """Of what `productions` found."""
        found = Counter(each)
        unparsed = found.pop(None, 0)
        return cls(Counter({production: n for production, n in found.items() if production}), unparsed)

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

    def commonest(self, n: int) -> list[str]:
        """The n commonest productions, fewer where there are fewer; equally common ones by the alphabet."""
        return ranked(self.counts)[:n]


def productions(trees: Iterable[str | None]) -> list[str | None]:
    """The root production of each tree; DataError with the row, from 1, of what is no tree."""
    found = []
    for row, tree in enumerate(trees, start=1):
        try:
            found.append(root_production(tree))
        except DataError as error:
            error.at(row=row)
            raise
    return found


def ranked(counts: Counter[str]) -> list[str]:
    """What was counted, commonest first; equally common ones by the alphabet, so that the order is always the same."""
    return sorted(counts, key=lambda each: (-counts[each], each))
