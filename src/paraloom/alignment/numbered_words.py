"""Words of two texts by number: those that are observed, and those that the other side leads to expect."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.text.tokens import TokenLists

Ids = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
WordNumbers = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float32]


CAUSES = 1 << 16
"""Words that lead to expect others are distinguished by so many values."""


class ExpectedWords(NamedTuple):
    """The words that each of n sentences leads to expect in the other text, by one source of evidence.

    Args:
        ids: uint64 (entries,), token ids.
        causes: uint64 (entries,), the word of the sentence, or of its translation, that leads to expect each.
        counts: float32 (entries,), expected number of occurrences.
        offsets: int64 (n + 1,), first entry of each sentence.
        sizes: float64 (n,), number of words that the counts of a sentence are normalized by.
    """

    ids: Ids
    causes: Ids
    counts: Scores
    offsets: Ints
    sizes: Floats


def expected_copies(lists: TokenLists) -> ExpectedWords:
    """Expect the words themselves: those of a translation, or a text's own names, numbers and loan words.

    Args:
        lists: Words of n sentences.
    """
    sizes = lists.lengths.astype(float)
    return ExpectedWords(lists.ids, lists.ids, np.ones(len(lists.ids), np.float32), lists.offsets, sizes)


def expected_nothing(count: int) -> ExpectedWords:
    """Expect no words: a source of evidence that says nothing of some sentences.

    Args:
        count: Number of sentences.
    """
    no_ids = np.empty(0, np.uint64)
    return ExpectedWords(no_ids, no_ids, np.empty(0, np.float32), np.zeros(count + 1, np.int64), np.ones(count))


class ObservedWords(NamedTuple):
    """The words of n sentences by number, each once a sentence.

    Args:
        types: uint64 (types,), token ids in ascending order; a word's number is its place here.
        words: int32 (entries,), rising within a sentence.
        counts: float32 (entries,), how often the sentence has the word.
        offsets: int64 (n + 1,), first entry of each sentence.
    """

    types: Ids
    words: WordNumbers
    counts: Scores
    offsets: Ints

    def select(self, rows: Ints) -> ObservedWords:
        """Some of the sentences; words keep their numbers.

        Args:
            rows: int64 (k,), of the sentences.
        """
        entries, offsets = entries_between(self.offsets[rows], self.offsets[rows + 1])
        return ObservedWords(self.types, self.words[entries], self.counts[entries], offsets)


class NumberedWords(NamedTuple):
    """Expected words by number, without those that the other text does not have.

    Args:
        words: int32 (entries,).
        causes: int32 (entries,), the words that lead to expect them, less than `CAUSES`: two may share a value.
        counts: float32 (entries,), expected number of occurrences.
        offsets: int64 (n + 1,), first entry of each sentence.
        scales: float64 (n,), factors of the counts: each source of evidence expects a number of words of its own;
            scaled, they weigh as much as the sentence's own words.
    """

    words: WordNumbers
    causes: WordNumbers
    counts: Scores
    offsets: Ints
    scales: Floats

    def select(self, rows: Ints) -> NumberedWords:
        """What some of the sentences lead to expect.

        Args:
            rows: int64 (k,), of the sentences.
        """
        entries, offsets = entries_between(self.offsets[rows], self.offsets[rows + 1])
        words, causes, counts = self.words[entries], self.causes[entries], self.counts[entries]
        return NumberedWords(words, causes, counts, offsets, self.scales[rows])


def number_observed(lists: TokenLists) -> ObservedWords:
    """Number the words of a text.

    Args:
        lists: Words of n sentences.

    Example:
        >>> from paraloom.text.tokens import tokenize
        >>> observed = number_observed(tokenize(["b a b", "a"]))
        >>> len(observed.types), sorted(observed.counts.tolist()), observed.offsets.tolist()
        (2, [1.0, 1.0, 2.0], [0, 2, 3])
    """
    types, numbers = np.unique(lists.ids, return_inverse=True)
    owners = np.repeat(np.arange(len(lists)), lists.lengths)
    size = max(1, len(types))
    cells, counts = np.unique(owners * size + numbers, return_counts=True)
    offsets = np.searchsorted(cells, np.arange(len(lists) + 1) * size)
    return ObservedWords(types, (cells % size).astype(np.int32), counts.astype(np.float32), offsets.astype(np.int64))


def number_expected(expected: ExpectedWords, lengths: Ints, types: Ids) -> NumberedWords:
    """Number expected words as the other text has them.

    Args:
        expected: Of m sentences.
        lengths: Words of each of these, int64 (m,).
        types: Token ids of the other text, in ascending order.
    """
    numbers = np.searchsorted(types, expected.ids)
    present = numbers < len(types)
    present[present] = types[numbers[present]] == expected.ids[present]
    return NumberedWords(
        numbers[present].astype(np.int32),
        (expected.causes[present] % np.uint64(CAUSES)).astype(np.int32),
        expected.counts[present],
        np.concatenate([[0], np.cumsum(present)])[expected.offsets],
        np.maximum(lengths, 1) / np.maximum(expected.sizes, 1e-9),
    )


def entries_between(begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Join ranges of entries of flat lists.

    Args:
        begins: int64 (k,), the first entry of each range.
        ends: int64 (k,), the entry after the last of each.

    Returns:
        The entries, int64 (total,), and where those of each range begin among them, int64 (k + 1,).

    Example:
        >>> [values.tolist() for values in entries_between(np.array([2, 0]), np.array([5, 1]))]
        [[2, 3, 4, 0], [0, 3, 4]]
    """
    offsets = np.concatenate([[0], np.cumsum(ends - begins)])
    return np.repeat(begins - offsets[:-1], ends - begins) + np.arange(offsets[-1]), offsets
