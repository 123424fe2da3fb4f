"""A sentence in another order: the source of a training example for which there is no paraphrase."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paraloom.text.trees import constituents

WORDS_SHARE = 0.3
"""Share of the sentences whose words are put in any order; in the others, constituents of clauses are."""
MOVED_SHARE = 0.7
"""Share of the clauses whose constituents are put in another order."""

_CLAUSES = frozenset({"S", "SQ", "SBARQ", "SINV", "SBAR", "VP", "FRAG"})
_PUNCTUATION = frozenset({",", ":", ".", "NFP"})
_NAMES = frozenset({"NNP", "NNPS"})
_WRITTEN = {
    "-LRB-": ("(",), "-RRB-": (")",), "-LSB-": ("[",), "-RSB-": ("]",), "-LCB-": ("{",), "-RCB-": ("}",),
    "``": ("``", '"', "“", "''"), "''": ("''", '"', "”"),
}  # fmt: skip
"""How a text may write the words that trees spell in another way."""
_LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+)\)")

Order = list[int]
"""Numbers of words, from 0, in the order in which they are written."""


class Leaf(NamedTuple):
    """A word of a tree in its text.

    Args:
        tag: Its tag.
        start: Where it begins, in characters.
        end: Where it ends.
    """

    tag: str
    start: int
    end: int


def reordered(text: str, tree: str, random: np.random.Generator) -> str | None:
    """The words of a sentence in another order: a source whose order tells little of that of the target.

    A model that learns to write sentences from such sources, with a template, learns from text alone to follow
    templates. In most sentences whole constituents move within their clauses, in the others single words; the
    punctuation at the end stays.

    Args:
        text: A sentence.
        tree: Its tree.
        random: Draws the order.

    Returns:
        The sentence in another order; None if the tree is not of this text, or if no other order was drawn.

    Reference:
        Huang and Chang 2021, "Generating syntactically controlled paraphrases without using annotated parallel pairs"
        (SynPG), whose sources are words without any order.

    Example:
        >>> tree = "(S (NP (PRP They)) (VP (VBD left) (PP (IN at) (NP (NN noon)))) (. .))"
        >>> reordered("They left at noon.", tree, np.random.default_rng(3))
        'At noon left they.'
    """
    leaves = locate_leaves(text, tree)
    if leaves is None:
        return None
    last = len(leaves)
    while last and leaves[last - 1].tag in _PUNCTUATION:
        last -= 1
    if random.random() < WORDS_SHARE:
        order = _glued(_shuffled([[number] for number in range(last)], random), leaves)
    else:
        order = [number for number in _glued(_constituent_order(tree, random), leaves) if number < last]
    if order == list(range(last)):
        return None
    while order and leaves[order[-1]].tag in _PUNCTUATION:
        order.pop()
    return _written(text, leaves, [*order, *range(last, len(leaves))])


def locate_leaves(text: str, tree: str) -> list[Leaf] | None:
    """Where the words of a tree are in its text; None if they are not the words of the text.

    Example:
        >>> locate_leaves("Don't!", "(S (VP (VB Do) (RB n't)) (. !))")
        [Leaf(tag='VB', start=0, end=2), Leaf(tag='RB', start=2, end=5), Leaf(tag='.', start=5, end=6)]
    """
    leaves, position = list[Leaf](), 0
    for tag, word in _LEAF.findall(tree):
        while position < len(text) and text[position].isspace():
            position += 1
        for written in _WRITTEN.get(word, (word,)):
            if text.startswith(written, position):
                leaves.append(Leaf(tag, position, position + len(written)))
                position += len(written)
                break
        else:
            return None
    return leaves if not text[position:].strip() else None


def _constituent_order(tree: str, random: np.random.Generator) -> Order:
    nodes = constituents(tree)
    children: list[list[int]] = [[] for _ in nodes]
    path = list[int]()
    for index, node in enumerate(nodes):
        del path[node.depth :]
        if path:
            children[path[-1]].append(index)
        path.append(index)
    orders: list[Order] = [[] for _ in nodes]
    # Children have greater numbers than their parents.
    for index in reversed(range(len(nodes))):
        node = nodes[index]
        if not children[index]:
            orders[index] = list(range(node.start, node.end))
            continue
        blocks = [orders[child] for child in children[index]]
        moves = node.label in _CLAUSES and random.random() < MOVED_SHARE
        orders[index] = _shuffled(blocks, random) if moves else [number for block in blocks for number in block]
    return orders[0]


def _glued(order: Order, leaves: Sequence[Leaf]) -> Order:
    """The order with all parts of a word behind the first one: "n't" behind "do"."""
    parts: list[Order] = []
    word_of = list[int]()
    for number, leaf in enumerate(leaves):
        before = leaves[number - 1]
        if number and leaf.start == before.end and not {leaf.tag, before.tag} & _PUNCTUATION:
            parts[-1].append(number)
        else:
            parts.append([number])
        word_of.append(len(parts) - 1)
    return [part for number in order if number == parts[word_of[number]][0] for part in parts[word_of[number]]]


def _shuffled(blocks: Sequence[Order], random: np.random.Generator) -> Order:
    return [number for index in random.permutation(len(blocks)) for number in blocks[index]]


def _written(text: str, leaves: Sequence[Leaf], order: Order) -> str:
    """The words in an order; between words that were not neighbors is a space, or none before punctuation."""
    pieces = list[str]()
    for position, number in enumerate(order):
        leaf = leaves[number]
        word = text[leaf.start : leaf.end]
        if number == 0 and leaf.tag not in _NAMES and word != "I":
            word = word[:1].lower() + word[1:]
        if position and number == order[position - 1] + 1:
            pieces.append(text[leaves[number - 1].end : leaf.start])
        elif position and leaf.tag not in _PUNCTUATION:
            pieces.append(" ")
        if position or leaf.tag not in _PUNCTUATION:
            pieces.append(word)
    result = "".join(pieces).strip()
    return result[:1].upper() + result[1:] if text[:1].isupper() else result
