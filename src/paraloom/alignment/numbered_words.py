"""Words of two texts by number: those that are observed, and those that the other side leads to expect."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paraloom.core.array_types import Float32s, Floats, Ids, Int32s, Ints
from paraloom.core.sorted_ids import find_ids
from paraloom.text.tokens import TokenLists

CAUSES = 1 << 16
"""Words that lead to expect others are distinguished by so many values."""


class ExpectedWords(NamedTuple):
    """The words that each of n sentences leads to expect in the other text, by one source of evidence."""

    ids: Ids
    causes: Ids
    counts: Float32s
    offsets: Ints
    sizes: Floats


def expected_copies(lists: TokenLists) -> ExpectedWords:
    """Expect the words themselves: those of a translation, or a text's own names, numbers and loan words."""
    sizes = lists.lengths.astype(float)
    return ExpectedWords(lists.ids, lists.ids, np.ones(len(lists.ids), np.float32), lists.offsets, sizes)


def expected_nothing(count: int) -> ExpectedWords:
    """Expect no words: a source of evidence that says nothing of some sentences."""
    no_ids = np.empty(0, np.uint64)
    return ExpectedWords(no_ids, no_ids, np.empty(0, np.float32), np.zeros(count + 1, np.int64), np.ones(count))


class ObservedWords(NamedTuple):
    """The words of n sentences by number, each once a sentence."""

    types: Ids
    words: Int32s
    counts: Float32s
    offsets: Ints

    def select(self, rows: Ints) -> ObservedWords:
        """Some of the sentences; words keep their numbers."""
        entries, offsets = entries_between(self.offsets[rows], self.offsets[rows + 1])
        return ObservedWords(self.types, self.words[entries], self.counts[entries], offsets)


class NumberedWords(NamedTuple):
    """Expected words by number, without those that the other text does not have."""

    words: Int32s
    causes: Int32s
    counts: Float32s
    offsets: Ints
    scales: Floats

    def select(self, rows: Ints) -> NumberedWords:
        entries, offsets = entries_between(self.offsets[rows], self.offsets[rows + 1])
        words, causes, counts = self.words[entries], self.causes[entries], self.counts[entries]
        return NumberedWords(words, causes, counts, offsets, self.scales[rows])


def number_observed(lists: TokenLists) -> ObservedWords:
    types, numbers = np.unique(lists.ids, return_inverse=True)
    owners = np.repeat(np.arange(len(lists)), lists.lengths)
    size = max(1, len(types))
    cells, counts = np.unique(owners * size + numbers, return_counts=True)
    offsets = np.searchsorted(cells, np.arange(len(lists) + 1) * size)
    return ObservedWords(types, (cells % size).astype(np.int32), counts.astype(np.float32), offsets.astype(np.int64))


def number_expected(expected: ExpectedWords, lengths: Ints, types: Ids) -> NumberedWords:
    present, numbers = find_ids(types, expected.ids)
    return NumberedWords(
        numbers[present].astype(np.int32),
        (expected.causes[present] % np.uint64(CAUSES)).astype(np.int32),
        expected.counts[present],
        np.concatenate([[0], np.cumsum(present)])[expected.offsets],
        np.maximum(lengths, 1) / np.maximum(expected.sizes, 1e-9),
    )


def entries_between(begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Join ranges of entries of flat lists."""
    offsets = np.concatenate([[0], np.cumsum(ends - begins)])
    return np.repeat(begins - offsets[:-1], ends - begins) + np.arange(offsets[-1]), offsets
