"""A bilingual lexicon that the aligner makes out of its own beads, for the next round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.align.lexical import Bags
from paraloom.text.tokens import TokenLists
from paraloom.text.word_alignment import AlignmentConfig, links

Ints = npt.NDArray[np.int64]

# Passes of expectation: what matters is which words go together, not how often to the last digit.
_ITERATIONS = 3


class Lexicon(NamedTuple):
    """p(other word | word): words uint64 (kinds,), rising; entries of word k from starts[k] to starts[k + 1]."""

    words: npt.NDArray[np.uint64]
    starts: Ints
    others: npt.NDArray[np.uint64]
    shares: npt.NDArray[np.float32]

    def bags(self, lists: TokenLists) -> Bags:
        """What the words of some sentences lead to expect on the other side."""
        places = np.searchsorted(self.words, lists.ids)
        there = places < len(self.words)
        there[there] = self.words[places[there]] == lists.ids[there]
        counts = np.zeros(len(lists.ids), np.int64)
        counts[there] = np.diff(self.starts)[places[there]]
        ends = np.cumsum(counts)
        taken = np.repeat(np.where(there, self.starts[np.minimum(places, len(self.words) - 1)], 0), counts)
        taken = taken + np.arange(len(taken)) - np.repeat(ends - counts, counts)
        offsets = np.concatenate([[0], ends])[lists.offsets]
        return Bags(self.others[taken], self.shares[taken], offsets, lists.lengths.astype(np.float64))

    def likeliest(self, lists: TokenLists) -> TokenLists:
        """Each word as the word that it most often goes with; as it is where the lexicon has none."""
        owners = np.repeat(np.arange(len(self.words)), np.diff(self.starts))
        order = np.lexsort((-self.shares, owners))
        first = order[np.searchsorted(owners[order], np.arange(len(self.words))).clip(max=max(0, len(order) - 1))]
        held = np.diff(self.starts) > 0
        places = np.minimum(np.searchsorted(self.words, lists.ids), len(self.words) - 1)
        there = (self.words[places] == lists.ids) & held[places]
        return TokenLists(np.where(there, self.others[first[places]], lists.ids), lists.offsets)


def lexicon_of(source: TokenLists, target: TokenLists, config: AlignmentConfig | None = None) -> Lexicon | None:
    """p(target word | source word) by word alignment of n pairs of texts; None where nothing is seen twice.

    One count is taken off each entry: what a bead alone says must not hold that bead together.
    """
    linked = links(source, target, config or AlignmentConfig(iterations=_ITERATIONS))
    owners = np.repeat(np.arange(len(target)), target.lengths)
    found = linked >= 0
    words = source.ids[source.offsets[owners[found]] + linked[found]]
    pairs, counts = np.unique(np.stack([words, target.ids[found]], axis=1), axis=0, return_counts=True)
    pairs, counts = pairs[counts > 1], counts[counts > 1]
    if not len(pairs):
        return None
    kinds, seen = np.unique(source.ids, return_counts=True)
    places = np.searchsorted(kinds, pairs[:, 0])
    shares = ((counts - 1) / seen[places]).astype(np.float32)
    starts = np.searchsorted(places, np.arange(len(kinds) + 1)).astype(np.int64)
    return Lexicon(kinds, starts, np.ascontiguousarray(pairs[:, 1]), shares)


def beside(lists: TokenLists, beads: Ints) -> TokenLists:
    """The words of some beads' sides; beads: int64 (n, 2), first sentence and how many."""
    begins, ends = lists.offsets[beads[:, 0]], lists.offsets[beads[:, 0] + beads[:, 1]]
    offsets = np.concatenate([[0], np.cumsum(ends - begins)])
    taken = np.repeat(begins - offsets[:-1], ends - begins) + np.arange(offsets[-1])
    return TokenLists(lists.ids[taken], offsets)


def evenly(lengths: Sequence[int], most: int) -> list[Ints]:
    """The places of `most` entries at most of several lists together, spread evenly over them all: int64, by list.

    >>> [places.tolist() for places in evenly([3, 0, 5], 4)]
    [[0, 2], [], [1, 3]]
    """
    starts = np.cumsum([0, *lengths])
    count = min(int(starts[-1]), most)
    chosen = np.arange(count) * int(starts[-1]) // max(count, 1)
    bounds = np.searchsorted(chosen, starts)
    return [chosen[a:b] - start for a, b, start in zip(bounds, bounds[1:], starts, strict=False)]


def together(lists: Sequence[TokenLists]) -> TokenLists:
    """Lists of lists, one after the other."""
    sizes = np.concatenate([[0], np.cumsum([len(each.ids) for each in lists])])
    offsets = [each.offsets[:-1] + start for each, start in zip(lists, sizes[:-1], strict=True)]
    return TokenLists(np.concatenate([each.ids for each in lists]), np.concatenate([*offsets, sizes[-1:]]))
