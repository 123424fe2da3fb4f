"""What words say about a bead: how much likelier each side is beside the other than alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.align import lexical_kernels as match_kernels
from paraloom.align.band import Band
from paraloom.text.tokens import TokenLists

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float32]

# Words that were not met but might have been: of a text of ten words each would else be a tenth of its language.
_UNSEEN = 500


class Bags(NamedTuple):
    """What each of n sentences leads to expect in the other text, by one kind of evidence (a translation, say).

    ids: uint64 (entries,), words as core.text has them.  masses: float32 (entries,), how many of each.
    offsets: int64 (n + 1,).  sizes: float64 (n,), what the masses of each sentence are shares of.
    """

    ids: npt.NDArray[np.uint64]
    masses: Scores
    offsets: Ints
    sizes: Floats


def bags_of(lists: TokenLists) -> Bags:
    """A translation's words, or a text's own: names, numbers and loans are the same in both languages."""
    return Bags(lists.ids, np.ones(len(lists.ids), np.float32), lists.offsets, lists.lengths.astype(np.float64))


class Background(NamedTuple):
    """How common words are: ids uint64 (kinds,), rising, and shares float64 (kinds,)."""

    ids: npt.NDArray[np.uint64]
    shares: Floats

    def of(self, ids: npt.NDArray[np.uint64]) -> Floats:
        """Their shares; what was never met is as rare as the rarest."""
        if not len(self.ids):
            return np.ones(len(ids))
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, self.shares[places], self.shares.min())


def background_of(lists: Sequence[TokenLists]) -> Background:
    """The shares of all words of some texts, as if `_UNSEEN` others had been met: a short text's words are rarer."""
    ids, counts = np.unique(np.concatenate([each.ids for each in lists]), return_counts=True)
    return Background(ids, counts / (counts.sum() + _UNSEEN))


@dataclass(frozen=True, eq=False)
class Direction:
    """One text's sentences as givers, the other's as receivers.

    bags: kinds of evidence, each of all the givers' sentences.  givers: words of each giver's sentence, int64 (m,).
    receivers: the sentences whose words are to be explained.  shares: float64 (1 + kinds,), of the words that nothing
    explains, then of each kind; they add up to 1.
    """

    bags: Sequence[Bags]
    givers: Ints
    receivers: TokenLists
    background: Background
    shares: Floats

    @cached_property
    def words(self) -> tuple[Numbers, Scores, Ints, Floats]:
        """The receivers' words, each once a sentence; how often; offsets; and p(word) by number."""
        ids, numbers = np.unique(self.receivers.ids, return_inverse=True)
        owners = np.repeat(np.arange(len(self.receivers)), self.receivers.lengths)
        cells, counts = np.unique(owners * max(1, len(ids)) + numbers, return_counts=True)
        offsets = np.searchsorted(cells, np.arange(len(self.receivers) + 1) * max(1, len(ids)))
        return (
            (cells % max(1, len(ids))).astype(np.int32),
            counts.astype(np.float32),
            offsets.astype(np.int64),
            self.background.of(ids),
        )

    @cached_property
    def lengths(self) -> Floats:
        """Words before each giver, at least one each: float64 (m + 1,)."""
        return np.concatenate([[0.0], np.cumsum(np.maximum(self.givers, 1))])

    @cached_property
    def bag(self) -> tuple[Numbers, Scores, Scores, Ints]:
        """All that the givers lead to expect: words by number, rising; masses (entries, kinds); how many of it can be
        explained at most (entries,); offsets (m + 1,)."""
        known = np.unique(self.receivers.ids)
        size = max(1, len(known))
        cells, masses, kinds = [], [], []
        for kind, bags in enumerate(self.bags):
            owners = np.repeat(np.arange(len(self.givers)), np.diff(bags.offsets))
            places = np.searchsorted(known, bags.ids)
            there = places < len(known)
            there[there] = known[places[there]] == bags.ids[there]
            # Each kind speaks of its own number of words; they weigh as many as the giver has.
            scale = np.maximum(self.givers, 1) / np.maximum(bags.sizes, 1e-9)
            cells.append(owners[there] * size + places[there])
            masses.append(bags.masses[there] * scale[owners[there]])
            kinds.append(np.full(int(there.sum()), kind))
        cell = np.concatenate(cells) if cells else np.empty(0, np.int64)
        entries, inverse = np.unique(cell, return_inverse=True)
        table = np.zeros((len(entries), len(self.bags)), np.float32)
        supplies = np.zeros_like(table)
        if len(entries):
            np.add.at(table, (inverse, np.concatenate(kinds)), np.concatenate(masses))
            np.add.at(supplies, (inverse, np.concatenate(kinds)), 1.0)
        offsets = np.searchsorted(entries, np.arange(len(self.givers) + 1) * size)
        most = supplies.max(axis=1) if len(entries) else np.empty(0, np.float32)
        return (entries % size).astype(np.int32), table, most, offsets.astype(np.int64)

    @cached_property
    def masses(self) -> Scores:
        """The masses of all kinds together, as far as a word comes from any: float32 (entries,)."""
        explained = max(1e-9, 1 - self.shares[0])
        return (self.bag[1] @ (self.shares[1:] / explained)).astype(np.float32)

    @property
    def reach(self) -> float:
        """Share of the words that the evidence explains: how far it is to be trusted."""
        return float(1 - self.shares[0])

    @property
    def arguments(self) -> tuple[Numbers, Scores, Ints, Numbers, Scores, Scores, Ints, Floats, Floats, float]:
        """What the kernels of gains take."""
        words, counts, offsets, background = self.words
        expected, _, supplies, bags = self.bag
        return (
            *(words, counts, offsets),
            *(expected, self.masses, supplies, bags),
            *(self.lengths, background, float(self.shares[0])),
        )

    def expected(self, beads: Ints, backward: bool) -> Floats:
        """How many of the receivers' words in the beads come from nothing and from each kind of evidence."""
        words, counts, offsets, background = self.words
        bag = (self.bag[0], self.bag[1], self.bag[3])
        found: Floats = match_kernels.mixture(
            beads, backward, words, counts, offsets, *bag, self.lengths, background, self.shares
        )
        return found

    def anchors(self, rare: int = 3) -> tuple[Ints, Ints, Floats]:
        """Pairs (giver, receiver, weight) that share a word which few sentences of either side have."""
        words, _, offsets, background = self.words
        expected, _, _, bags = self.bag
        by_word = np.argsort(expected, kind="stable")
        holders = np.repeat(np.arange(len(self.givers)), np.diff(bags))[by_word]
        starts = np.searchsorted(expected[by_word], np.arange(len(background) + 1))
        owners = np.repeat(np.arange(len(self.receivers)), np.diff(offsets))
        order = np.argsort(words, kind="stable")
        of_word = np.searchsorted(words[order], np.arange(len(background) + 1))
        givers, receivers = np.diff(starts), np.diff(of_word)
        chosen = np.flatnonzero((givers > 0) & (givers <= rare) & (receivers > 0) & (receivers <= rare))
        rows, columns, weights = [], [], []
        for shift in range(rare):
            for other in range(rare):
                fits = chosen[(givers[chosen] > shift) & (receivers[chosen] > other)]
                rows.append(holders[starts[fits] + shift].astype(np.int64))
                columns.append(owners[order[of_word[fits] + other]])
                weights.append(1.0 / (givers[fits] * receivers[fits]))
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(weights)


class WordMatch:
    """weight × (log p(target | source) − log p(target) + log p(source | target) − log p(source)) of each bead.

    A word of a bead's one side comes from the other side, with a chance that grows with how many of the words expected
    there it is, or from nowhere, as common as it is in the whole text; after Moore 2002, with any evidence in place of
    his lexicon.  Blocks that are too long expect too much, those too short explain too little, and no word is explained
    more often than the other side has what leads to it.  Either direction counts as far as it explains the texts.
    """

    def __init__(self, forward: Direction, backward: Direction, weight: float) -> None:
        self.forward, self.backward, self.weight = forward, backward, weight

    def add(self, first: int, rows: int, band: Band, out: Scores) -> None:
        ahead, back = self.weight * self.forward.reach, self.weight * self.backward.reach
        match_kernels.add_forward(first, ahead, band.lows, *self.forward.arguments, out)
        match_kernels.add_backward(first, back, band.lows, *self.backward.arguments, out)
