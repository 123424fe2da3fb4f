"""How well trees are found: labelled brackets in common with the treebank's (PARSEVAL)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from paraloom.text.trees import Constituent, constituents


def bracket_f1(pairs: Iterable[tuple[str | None, str]]) -> float:
    """F1 × 100 of labelled phrases, tags left out, over (found, wanted) trees of the same words.

    A tree that was not found counts as one without phrases.  0 when there is nothing to compare.

    >>> bracket_f1([("(S (NP (NN snow)) (VP (VBZ falls)))", "(S (NP (NN snow)) (VBZ falls))")])
    80.0
    """
    shared = found_count = wanted_count = 0
    for found, wanted in pairs:
        ours, theirs = _brackets(found), _brackets(wanted)
        shared += (ours & theirs).total()
        found_count += ours.total()
        wanted_count += theirs.total()
    total = found_count + wanted_count
    return 200 * shared / total if total else 0.0


def _brackets(tree: str | None) -> Counter[tuple[str, int, int]]:
    if tree is None:
        return Counter()
    nodes = constituents(tree)
    followers: list[Constituent | None] = [*nodes[1:], None]
    # A tag is a node without a node below it.
    return Counter(
        (node.label, node.start, node.end)
        for node, after in zip(nodes, followers, strict=True)
        if after is not None and after.depth > node.depth
    )
