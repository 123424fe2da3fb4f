"""Evidence of words for beads: how much likelier the words of each side are given the other side than alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.alignment import word_kernels as kernels
from paraloom.alignment.anchors import rare_words, shared_words, word_places
from paraloom.alignment.numbered_words import NumberedWords, ObservedWords
from paraloom.alignment.search import Band
from paraloom.core.array_types import Float32s, Floats, Ids, Ints
from paraloom.core.sorted_ids import find_ids
from paraloom.text.buffers import Texts, text_buffers
from paraloom.text.token_kernels import hash_spans
from paraloom.text.tokens import TokenLists, token_strings

# Tokens added to a text's counts for words that it does not have: in a text of ten words each of them would otherwise
# have a probability of a tenth.
_UNSEEN_TOKENS = 500

# Characters of a prefix; a syllable or an ideogram says as much as two letters.
_PREFIX_LETTERS, _PREFIX_SYLLABLES = 4, 2
_SYLLABIC = r"^[\p{Hangul}\p{Han}\p{Hiragana}\p{Katakana}]"


def word_prefixes(texts: Texts) -> TokenLists:
    """First four characters of each word (two of syllabic scripts), which inflected names share, as ids."""
    lists = token_strings(texts)
    words = lists.values
    prefixes = pc.if_else(
        pc.match_substring_regex(words, _SYLLABIC),
        pc.utf8_slice_codeunits(words, 0, _PREFIX_SYLLABLES),
        pc.utf8_slice_codeunits(words, 0, _PREFIX_LETTERS),
    )
    data, bounds = text_buffers(prefixes.cast(pa.large_string()))
    return TokenLists(hash_spans(data, bounds[:-1], bounds[1:]), np.frombuffer(lists.buffers()[1], np.int64))


class Background(NamedTuple):
    ids: Ids
    probabilities: Floats

    def probabilities_of(self, ids: Ids) -> Floats:
        """The probability of each id; an unseen one has that of the rarest."""
        if not len(self.ids):
            return np.ones(len(ids))
        known, indices = find_ids(self.ids, ids)
        return np.where(known, self.probabilities[indices], self.probabilities.min())


def estimate_background(lists: Iterable[TokenLists]) -> Background:
    """Unigram probabilities of all words of some texts, discounted for unseen words."""
    ids, counts = np.empty(0, np.uint64), np.empty(0, np.float64)
    for texts in lists:
        new, times = np.unique(texts.ids, return_counts=True)
        ids, places = np.unique(np.append(ids, new), return_inverse=True)
        counts = np.bincount(places, np.append(counts, times), len(ids)).astype(np.float64, copy=False)
    return Background(ids, counts / (counts.sum() + _UNSEEN_TOKENS))


@dataclass(frozen=True, eq=False)
class LexicalDirection:
    """A mixture model of the words of one text (the observed) given aligned sentences of the other (the predictors)."""

    # Sources of evidence, each with the expected words of all predictors, by number of `observed`.
    expected: Sequence[NumberedWords]
    lengths: Ints  # Words of each predictor, int64 (m,)
    observed: ObservedWords  # Words of the sentences that are to be explained
    background: Background  # Unigram probabilities of the observed words
    weights: Floats  # Mixture weights, float64 (1 + sources,): of the background, then of each source; they sum to 1

    @property
    def explained_share(self) -> float:
        """Share of the words that the evidence explains, 0 to 1: how far it can be trusted."""
        return float(1 - self.weights[0])

    @cached_property
    def model(self) -> kernels.WordModel:
        """Input of the kernels, all sources of evidence as one mixture."""
        table = self._expected_table
        mixed = table.counts @ (self.weights[1:] / max(1e-9, self.explained_share))
        return self._model(table._replace(counts=mixed.astype(np.float32)))

    def mixture_counts(self, beads: Ints, backward: bool) -> Floats:
        """Expected number of observed words in the beads from the background and from each source of evidence."""
        totals: Floats = kernels.mixture_counts(beads, backward, self._model(self._expected_table), self.weights)
        return totals

    def anchors(self) -> tuple[Ints, Ints, Floats]:
        """Pairs of sentences that share an expected word which few sentences of either side have."""
        types, table = self.observed.types, self._expected_table
        expected = TokenLists(types[table.words], table.offsets)
        observed = TokenLists(types[self.observed.words], self.observed.offsets)
        return shared_words(*(rare_words([word_places(lists)]) for lists in (expected, observed)))

    def _model(self, expected: kernels.ExpectedTable) -> kernels.WordModel:
        _, words, counts, offsets = self.observed
        background, weight = self._background, float(self.weights[0])
        return kernels.WordModel(words, counts, offsets, expected, self._cumulative_lengths, background, weight)

    @cached_property
    def _background(self) -> Floats:
        return self.background.probabilities_of(self.observed.types)

    @cached_property
    def _cumulative_lengths(self) -> Floats:
        """Words before each predictor, at least one each: float64 (m + 1,)."""
        return np.concatenate([[0.0], np.cumsum(np.maximum(self.lengths, 1))])

    @cached_property
    def _expected_table(self) -> kernels.ExpectedTable:
        """All expected words of the predictors, with the counts of each source."""
        ends = np.cumsum([0, *(len(source.words) for source in self.expected)])
        table: kernels.ExpectedTable = kernels.tabulate_expected(
            np.concatenate([source.words for source in self.expected]),
            np.concatenate([source.causes for source in self.expected]),
            np.concatenate([source.counts for source in self.expected]),
            np.stack([source.offsets + end for source, end in zip(self.expected, ends[:-1], strict=True)]),
            np.stack([source.scales for source in self.expected]),
        )
        return table


class LexicalEvidence:
    """Scores a bead by weight × (log p(target | source) / p(target) + log p(source | target) / p(source)).

    Each word comes from the other side, as often as that supports it, or from the background (cf. Moore 2002, §3).
    """

    def __init__(self, forward: LexicalDirection, backward: LexicalDirection, weight: float) -> None:
        self.forward, self.backward, self.weight = forward, backward, weight

    def add(self, first: int, rows: int, band: Band, out: Float32s) -> None:
        forward = self.weight * self.forward.explained_share
        backward = self.weight * self.backward.explained_share
        kernels.add_forward(first, forward, band.lows, self.forward.model, out)
        kernels.add_backward(first, backward, band.lows, self.backward.model, out)
