"""A sentence in another order: the source of a training example, or a candidate for a template."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paraloom.text.trees import constituents

MOVED_SHARE = 0.7
"""Share of the movable constituents of a clause that get another place."""
FRONT, END = 0.4, 0.4
"""Shares of these that are put at the beginning and at the end of the clause; the others are put anywhere."""

_CLAUSES = frozenset({"S", "SQ", "SBARQ", "SINV", "FRAG"})
_PARTS_OF_CLAUSES = frozenset({"VP", "SQ"})
"""Constituents whose own constituents may move out of them, within the clause."""
_MOVABLE = frozenset({"PP", "ADVP", "SBAR", "S", "INTJ"})
_PUNCTUATION = frozenset({",", ":", ".", "NFP"})
_MARKS = frozenset([*'()[]{}"“”„«»‘', "``", "''"])
"""Brackets and quotation marks, however a parser tags them."""
_BREAKS = frozenset([*";:–—…-", "--", "..."])
"""Punctuation between parts that stay where they are, however a parser tags it."""
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
    """A word of a tree in its text."""

    tag: str
    start: int
    end: int


def reordered(text: str, tree: str, random: np.random.Generator) -> str | None:
    """A sentence with adverbials and subordinate clauses in other places: "At noon they left" for "They left at noon".

    Who does what to whom stays: subject, verbs and objects keep their order (cf. Huang and Chang 2021, SynPG).
    """
    leaves = locate_leaves(text, tree)
    if leaves is None:
        return None
    last = len(leaves)
    while last and leaves[last - 1].tag in _PUNCTUATION:
        last -= 1
    order = [number for number in _glued(_Clauses(tree, leaves).order(random), leaves) if number < last]
    if order == sorted(order):
        return None
    while leaves[order[-1]].tag in _PUNCTUATION:
        order.pop()
    return _capitalized_like(text, _written(text, leaves, [*order, *range(last, len(leaves))]))


def moved(text: str, tree: str) -> list[str]:
    """A sentence with an adverbial or a clause at its front, before a comma, or with the first one at its end."""
    leaves = locate_leaves(text, tree)
    if not leaves or any(leaf.tag == ":" or text[leaf.start : leaf.end] in _BREAKS for leaf in leaves):
        return []
    clauses, last = _Clauses(tree, leaves), len(leaves)
    while last and leaves[last - 1].tag in _PUNCTUATION:
        last -= 1
    parts = clauses.top_parts()
    results = []
    for position, part in enumerate(parts):
        start, end = clauses.nodes[part].start, clauses.nodes[part].end
        glued = _within_word(leaves, start) or _within_word(leaves, end)
        if clauses.nodes[part].label not in _MOVABLE - {"INTJ"} or _is_marked(text, leaves, start, end) or glued:
            continue
        before = [number for number in range(start) if number != start - 1 or leaves[number].tag != ","]
        behind = [number for number in range(end, last) if number != end or leaves[number].tag != ","]
        if before:
            front = _written(text, leaves, range(start, end))
            results.append(f"{front}, {_written(text, leaves, [*before, *behind, *range(last, len(leaves))])}")
        elif behind and position == 0:
            results.append(_written(text, leaves, [*behind, *range(start, end), *range(last, len(leaves))]))
    return [_capitalized_like(text, one) for one in results]


def locate_leaves(text: str, tree: str) -> list[Leaf] | None:
    """Where the words of a tree are in its text; None if they are not the words of the text."""
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


class _Clauses:
    """The clauses of a tree; draws the order of their words."""

    def __init__(self, tree: str, leaves: Sequence[Leaf]) -> None:
        self.nodes = constituents(tree)
        self.leaves = leaves
        self.children: list[list[int]] = [[] for _ in self.nodes]
        path = list[int]()
        for index, node in enumerate(self.nodes):
            del path[node.depth :]
            if path:
                self.children[path[-1]].append(index)
            path.append(index)

    def top_parts(self) -> list[int]:
        """Constituents of the main clause; none where clauses are coordinated."""
        top = 1 if self.nodes[0].label == "ROOT" else 0
        return self._parts(top) if self.nodes[top].label in _CLAUSES and not self._is_coordination(top) else []

    def order(self, random: np.random.Generator) -> Order:
        """Numbers of the words; some commas are missing."""
        orders: list[Order] = [[] for _ in self.nodes]
        # Children have greater numbers than their parents.
        for index in reversed(range(len(self.nodes))):
            node = self.nodes[index]
            if not self.children[index]:
                orders[index] = list(range(node.start, node.end))
            elif node.label in _CLAUSES and not self._is_coordination(index) and self.leaves[node.start].tag != "TO":
                orders[index] = self._moved(self._parts(index), orders, random)
            else:
                orders[index] = [number for child in self.children[index] for number in orders[child]]
        return orders[0]

    def _is_coordination(self, index: int) -> bool:
        return any(self.nodes[child].label in {"CC", "CONJP"} for child in self.children[index])

    def _parts(self, index: int) -> list[int]:
        """Constituents of a clause and of its verb phrases, in order."""
        parts = list[int]()
        for child in self.children[index]:
            if self.nodes[child].label in _PARTS_OF_CLAUSES and not self._is_coordination(child):
                parts += self._parts(child) or [child]
            else:
                parts.append(child)
        return parts

    def _moved(self, parts: list[int], orders: Sequence[Order], random: np.random.Generator) -> Order:
        """The words of a clause, some of whose parts have other places."""
        front, staying, end = self._drawn(parts, random)
        stop = len(staying)
        while stop and self._is_punctuation(staying[stop - 1]):
            stop -= 1
        written, before = (
            [part for part in some if self.children[part] or self.nodes[part].label != ","]
            for some in ([*front, *staying[:stop], *end, *staying[stop:]], parts)
        )
        return [number for part in (parts if written == before else written) for number in orders[part]]

    def _drawn(self, parts: list[int], random: np.random.Generator) -> tuple[list[int], list[int], list[int]]:
        """The parts that go to the front, those between, and those that go to the end."""
        staying, front, end, anywhere = list[int](), list[int](), list[int](), list[int]()
        for part in parts:
            draw = random.random(2)
            if self.nodes[part].label not in _MOVABLE or draw[0] >= MOVED_SHARE:
                staying.append(part)
            elif draw[1] < FRONT:
                front.insert(0, part)
            elif draw[1] < FRONT + END:
                end.append(part)
            else:
                anywhere.append(part)
        for part in anywhere:
            staying.insert(int(random.integers(len(staying) + 1)), part)
        return front, staying, end

    def _is_punctuation(self, part: int) -> bool:
        return not self.children[part] and self.nodes[part].label in _PUNCTUATION


def _glued(order: Order, leaves: Sequence[Leaf]) -> Order:
    """The order with all parts of a word behind the first one: "n't" behind "do"."""
    parts: list[Order] = []
    word_of = list[int]()
    for number in range(len(leaves)):
        if _within_word(leaves, number):
            parts[-1].append(number)
        else:
            parts.append([number])
        word_of.append(len(parts) - 1)
    return [part for number in order if number == parts[word_of[number]][0] for part in parts[word_of[number]]]


def _within_word(leaves: Sequence[Leaf], number: int) -> bool:
    """Whether a part of a word stands before this one."""
    if not 0 < number < len(leaves):
        return False
    before, leaf = leaves[number - 1], leaves[number]
    return leaf.start == before.end and not {leaf.tag, before.tag} & _PUNCTUATION


def _is_marked(text: str, leaves: Sequence[Leaf], start: int, end: int) -> bool:
    """Whether brackets or quotation marks are in some words, around them, or beside them but for punctuation."""
    marks = [leaf.tag in _WRITTEN or text[leaf.start : leaf.end] in _MARKS for leaf in leaves]
    others = [number for number, leaf in enumerate(leaves) if marks[number] or leaf.tag not in _PUNCTUATION]
    first = max((number for number in others if number < start), default=start)
    last = min((number for number in others if number >= end), default=end - 1)
    return any(marks[first : last + 1]) or sum(marks[:start]) % 2 == 1


def _capitalized_like(text: str, written: str) -> str:
    return written[:1].upper() + written[1:] if text[:1].isupper() else written


def _written(text: str, leaves: Sequence[Leaf], order: Sequence[int]) -> str:
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
    return "".join(pieces).strip()
