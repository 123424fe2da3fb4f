"""Word alignment against a plain version of the model, and the numbers of its pairs of words."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

from paraloom.text import word_alignment_kernels as kernels
from paraloom.text.tokens import tokenize
from paraloom.text.word_alignment import WordAlignmentConfig, word_links

Sentences = list[list[str]]


def sentences(count: int, seed: int) -> Sentences:
    rng = np.random.default_rng(seed)
    return [[f"w{chr(97 + k)}" for k in rng.integers(0, 12, rng.integers(0, 7))] for _ in range(count)]


def plain_values(a: Sentences, b: Sentences, config: WordAlignmentConfig) -> list[list[float]]:
    """By word of `b`, the joint probabilities with each word of `a` and with NULL, None in the table.

    Dyer, Chahuneau and Smith 2013, §2, without numbers of pairs.
    """
    words = {word for side in (a, b) for sentence in side for word in sentence}
    table = {(left, right): 1 / len(words) for left in {None, *words} for right in words}

    def joint(row: int, j: int) -> list[tuple[str | None, float]]:
        n, m = len(a[row]), len(b[row])
        prior = [math.exp(-config.tension * abs((i + 1) / n - (j + 1) / m)) for i in range(n)]
        cells: list[tuple[str | None, float]] = [
            (word, (1 - config.null) * prior[i] / sum(prior) * table[word, b[row][j]]) for i, word in enumerate(a[row])
        ]
        return [*cells, (None, config.null * table[None, b[row][j]])]

    for _ in range(config.iterations):
        counts: dict[tuple[str | None, str], float] = defaultdict(float)
        sums: dict[str | None, float] = defaultdict(float)
        for row in range(len(a)):
            for j, word in enumerate(b[row]):
                cells = joint(row, j)
                total = sum(value for _, value in cells)
                for left, value in cells:
                    counts[left, word] += value / total
                    sums[left] += value / total
        table = defaultdict(float, {pair: count / sums[pair[0]] for pair, count in counts.items()})
    return [[value for _, value in joint(row, j)] for row in range(len(a)) for j in range(len(b[row]))]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_links_are_those_of_the_plain_model(seed: int) -> None:
    a, b = sentences(40, seed), sentences(40, seed + 10)
    config = WordAlignmentConfig(iterations=3)
    ours = word_links(tokenize([" ".join(s) for s in a]), tokenize([" ".join(s) for s in b]), config).tolist()
    values = plain_values(a, b, config)
    # Of equal values either may be the best: ours are of 32 bits.
    assert [row[link] for row, link in zip(values, ours, strict=True)] == pytest.approx([max(row) for row in values])
    assert len(set(ours)) > 3


def test_cells_of_the_same_words_have_the_same_number() -> None:
    # Sentences 0: a = 0 1, b = 2 2; 1: a is empty, b = 2; 2: a = 1, b = 3 2. Word 4 is NULL.
    a_words, a_offsets = np.array([0, 1, 1], np.int32), np.array([0, 2, 2, 3])
    b_words, b_rows = np.array([2, 2, 2, 3, 2], np.int32), np.array([0, 0, 1, 2, 2])
    starts = np.array([0, 3, 6, 7, 9, 11])
    pairs, owners = kernels.number_pairs(
        a_words, a_offsets, b_words, b_rows, starts, np.argsort(b_words, kind="stable"), 4
    )
    assert pairs.tolist() == [0, 1, 2, 0, 1, 2, 2, 3, 4, 1, 2]
    assert owners.tolist() == [0, 1, 4, 1, 4]


def test_nothing_to_align() -> None:
    empty = tokenize([])
    assert word_links(empty, empty).tolist() == []
    assert word_links(tokenize([""]), tokenize(["one two"])).tolist() == [-1, -1]
