"""Tree edit distance: values by hand, the published example, and a plain recursion over forests."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest

from paraloom.text.trees import constituents, tree_edit_distance


def forest_of(tree: str) -> tuple[Any, ...]:
    """A tree as nested tuples (label, children)."""
    stack: list[tuple[str, list[Any]]] = [("", [])]
    for node in constituents(tree):
        while len(stack) > node.depth + 1:
            label, children = stack.pop()
            stack[-1][1].append((label, tuple(children)))
        stack.append((node.label, []))
    while len(stack) > 1:
        label, children = stack.pop()
        stack[-1][1].append((label, tuple(children)))
    return tuple(stack[0][1])


@cache
def plain_distance(one: tuple[Any, ...], other: tuple[Any, ...]) -> int:
    """The recursion over the last trees of two forests, without any order of computation."""
    if not one and not other:
        return 0
    if not one:
        return plain_distance(one, (*other[:-1], *other[-1][1])) + 1
    if not other:
        return plain_distance((*one[:-1], *one[-1][1]), other) + 1
    return min(
        plain_distance((*one[:-1], *one[-1][1]), other) + 1,
        plain_distance(one, (*other[:-1], *other[-1][1])) + 1,
        plain_distance(one[:-1], other[:-1]) + plain_distance(one[-1][1], other[-1][1]) + (one[-1][0] != other[-1][0]),
    )


def random_tree(rng: random.Random, nodes: int) -> str:
    """A tree with this many nodes of three labels."""
    label = rng.choice("ABC")
    left = nodes - 1
    children = []
    while left:
        size = rng.randint(1, left)
        children.append(random_tree(rng, size))
        left -= size
    return f"({' '.join([label, *children])})"


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("(S)", "(S)", 0),
        ("(S)", "(SQ)", 1),
        ("(S (NP) (VP) (.))", "(S (PP) (,) (NP) (VP) (.))", 2),  # two nodes are inserted
        ("(S (NP) (VP) (.))", "(SINV (VP) (NP) (.))", 3),  # S and both others get another label
        ("(S (NP (DT) (NN)) (VP))", "(S (DT) (NN) (VP))", 1),  # a deleted node leaves its children
        ("(f (d (a) (c (b))) (e))", "(f (c (d (a) (b))) (e))", 2),  # Zhang and Shasha 1989, figure 4
    ],
)
def test_by_hand(one: str, other: str, distance: int) -> None:
    assert tree_edit_distance(one, other) == distance
    assert tree_edit_distance(other, one) == distance
    assert plain_distance(forest_of(one), forest_of(other)) == distance


def test_as_the_plain_recursion() -> None:
    rng = random.Random(1)
    for _ in range(150):
        one, other = (random_tree(rng, rng.randint(1, 9)) for _ in range(2))
        assert tree_edit_distance(one, other) == plain_distance(forest_of(one), forest_of(other)), (one, other)


def test_words_do_not_count() -> None:
    assert tree_edit_distance("(S (NP snow) (VP falls))", "(S (NP rain) (VP stops))") == 0
