"""Accuracy of parsers: labeled bracket F1 against a treebank (PARSEVAL)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from paraloom.text.trees import Constituent, constituents


def bracket_f1(pairs: Iterable[tuple[str | None, str]]) -> float:
    """F1 of labeled constituents, 0 to 100; part-of-speech tags do not count.

    2 · matches / (constituents of the predicted trees + constituents of the gold trees), summed over all sentences.

    Args:
        pairs: (predicted, gold) trees of the same words. None as a prediction counts as a tree without constituents.

    Returns:
        The F1; 0 if there is nothing to compare.

    Reference:
        Black et al. 1991, "A procedure for quantitatively comparing the syntactic coverage of English grammars".

    Example:
        >>> bracket_f1([("(S (NP (NN snow)) (VP (VBZ falls)))", "(S (NP (NN snow)) (VBZ falls))")])
        80.0
    """
    matches = total = 0
    for predicted, gold in pairs:
        ours, theirs = _brackets(predicted), _brackets(gold)
        matches += (ours & theirs).total()
        total += ours.total() + theirs.total()
    return 200 * matches / total if total else 0.0


def _brackets(tree: str | None) -> Counter[tuple[str, int, int]]:
    if tree is None:
        return Counter()
    nodes = constituents(tree)
    following: list[Constituent | None] = [*nodes[1:], None]
    # A node without a node below it is a part-of-speech tag.
    return Counter(
        (node.label, node.start, node.end)
        for node, after in zip(nodes, following, strict=True)
        if after is not None and after.depth > node.depth
    )
