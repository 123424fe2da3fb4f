"""Accuracy of parsers against a treebank: labeled brackets (PARSEVAL), plain and by evalb's rules, and tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from paraloom.text.trees import Constituent, constituents

Bracket = tuple[str, int, int]  # Label, index of the first word, index after the last word
PUNCTUATION = frozenset({",", ":", "``", "''", "."})  # Tags of the words that evalb leaves out (COLLINS.prm)


def bracket_f1(pairs: Iterable[tuple[str | None, str]]) -> float:
    """F1 of labeled constituents (Black et al. 1991), 0 to 100; part-of-speech tags do not count."""
    matches = total = 0
    for predicted, gold in pairs:
        ours, theirs = _brackets(predicted), _brackets(gold)
        matches += (ours & theirs).total()
        total += ours.total() + theirs.total()
    return 200 * matches / total if total else 0.0


def evalb_f1(pairs: Iterable[tuple[str | None, str]]) -> float:
    """F1 of labeled constituents by evalb's COLLINS.prm, 0 to 100: without punctuation and TOP, PRT as ADVP."""
    matches = total = 0
    for predicted, gold in pairs:
        # The number of words before each boundary that are not punctuation.
        kept = [0]
        for tag in tags(gold):
            kept.append(kept[-1] + (tag not in PUNCTUATION))
        ours, theirs = (_without_punctuation(_brackets(tree), kept) for tree in (predicted, gold))
        matches += (ours & theirs).total()
        total += ours.total() + theirs.total()
    return 200 * matches / total if total else 0.0


def tag_accuracy(pairs: Iterable[tuple[str | None, str]]) -> float:
    """Share of the words, 0 to 100, that have the tag of the gold tree; none of a tree that is None."""
    right = words = 0
    for predicted, gold in pairs:
        theirs = tags(gold)
        words += len(theirs)
        if predicted is not None:
            right += sum(ours == tag for ours, tag in zip(tags(predicted), theirs, strict=True))
    return 100 * right / words if words else 0.0


def tags(tree: str) -> list[str]:
    """The part-of-speech tag of each word of a bracketed tree."""
    return [node.label for node, is_tag in _nodes(tree) if is_tag]


def _nodes(tree: str) -> list[tuple[Constituent, bool]]:
    """The nodes of a tree, and whether each is a tag: a node without a node below it."""
    nodes = constituents(tree)
    following: list[Constituent | None] = [*nodes[1:], None]
    return [(node, after is None or after.depth <= node.depth) for node, after in zip(nodes, following, strict=True)]


def _brackets(tree: str | None) -> Counter[Bracket]:
    if tree is None:
        return Counter()
    return Counter((node.label, node.start, node.end) for node, is_tag in _nodes(tree) if not is_tag)


def _without_punctuation(brackets: Counter[Bracket], kept: list[int]) -> Counter[Bracket]:
    left: Counter[Bracket] = Counter()
    for (label, start, end), count in brackets.items():
        if label != "TOP" and kept[start] < kept[end]:
            left["ADVP" if label == "PRT" else label, kept[start], kept[end]] += count
    return left
