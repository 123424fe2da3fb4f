"""A pair of texts, tokenized and numbered once, and its best alignment by what has been learned so far."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.breaks import inner_breaks
from paraloom.alignment.embeddings import EmbeddingEvidence
from paraloom.alignment.lengths import LengthEvidence, LengthModel
from paraloom.alignment.lexical import Background, LexicalDirection, LexicalEvidence, word_prefixes
from paraloom.alignment.lexicon import BilingualLexicon, bead_tokens
from paraloom.alignment.local_parts import AnyAlignment, OrderedPart, Walls, restrict
from paraloom.alignment.long_gaps import long_gaps, with_gaps
from paraloom.alignment.numbered_words import (
    NumberedWords,
    ObservedWords,
    expected_copies,
    expected_nothing,
    number_expected,
    number_observed,
)
from paraloom.alignment.search import (
    Alignment,
    Band,
    Evidence,
    LogPriors,
    band_along,
    best_alignment,
    path_from_anchors,
    path_from_beads,
    path_from_lengths,
)
from paraloom.alignment.shared_pieces import PieceEvidence, join_shared_pieces
from paraloom.alignment.text_pairs import TextPair
from paraloom.alignment.wordless import WordlessEvidence
from paraloom.core.array_types import Floats, Ints
from paraloom.text.tokens import TokenLists, tokenize

LexiconPair = tuple[BilingualLexicon, BilingualLexicon]
"""From source to target, and from target to source."""
LearnedPair = tuple[BilingualLexicon | None, BilingualLexicon | None]
"""The same, as far as the texts were enough to learn one."""
Directions = tuple[LexicalDirection, LexicalDirection]
"""The mixture models in which the source predicts, and in which the target predicts."""


@dataclass(frozen=True, eq=False)
class LearnedState:
    config: AlignerConfig  # Its settings
    priors: LogPriors  # Log-probabilities of beads by their numbers of sentences
    # By unit (`word`, `prefix`), the unigram probabilities of source and target.
    backgrounds: dict[str, tuple[Background, Background]]
    # By unit, the mixture weights of each direction, see `LexicalDirection`.
    weights: dict[str, tuple[Floats, Floats]] = field(default_factory=dict)
    # By unit, the lexicons of the last round, from source to target and back.
    learned: dict[str, LearnedPair] = field(default_factory=dict)
    lexicons: tuple[LexiconPair, ...] = ()  # Lexicons that were given, each from source to target and back
    lengths: LengthModel | None = None  # How the lengths of corresponding sentences relate; None before the first round


class PreparedPair:
    """A pair of texts, tokenized and numbered once for all rounds."""

    def __init__(self, pair: TextPair, config: AlignerConfig, lexicons: Sequence[LexiconPair]) -> None:
        self.sizes = (len(pair.source), len(pair.target))
        self.characters = (character_counts(pair.source), character_counts(pair.target))
        self.breaks = inner_breaks(pair.source, pair.target)
        self.texts = pair.source, pair.target
        self.embeddings: EmbeddingEvidence | None = None
        if pair.embeddings is not None and config.embedding_weight > 0 and min(self.sizes):
            words = tokenize(pair.source).lengths, tokenize(pair.target).lengths
            self.embeddings = EmbeddingEvidence(pair.embeddings[0][:], pair.embeddings[1][:], words)
        self.walls: Walls | None = None
        self._known: tuple[LearnedState, dict[str, Directions]] | None = None
        self.lists: dict[str, tuple[TokenLists, TokenLists]] = {}
        self.observed: dict[str, tuple[ObservedWords, ObservedWords]] = {}
        self.expected: dict[str, tuple[list[NumberedWords], list[NumberedWords]]] = {}
        for unit in config.units:
            lists = self.lists[unit] = tokenize_unit(unit, pair.source), tokenize_unit(unit, pair.target)
            self.observed[unit] = number_observed(lists[0]), number_observed(lists[1])
            self.expected[unit] = [], []
            for side, translations in enumerate((pair.source_translations, pair.target_translations)):
                copies = [lists[side], *(tokenize_unit(unit, translation) for translation in translations)]
                expected = [expected_copies(words) for words in copies]
                if unit == "word":
                    expected += [lexicon[side].expected_words(lists[side]) for lexicon in lexicons]
                types = self.observed[unit][1 - side].types
                self.expected[unit][side].extend(
                    number_expected(words, lists[side].lengths, types) for words in expected
                )

    def select(self, source: Ints, target: Ints) -> PreparedPair:
        """Some of the sentences, by rows; no bead joins sentences that were not next to each other."""
        selected = copy.copy(self)
        selected.sizes = (len(source), len(target))
        selected.walls, selected._known = Walls(source, target), None
        selected.characters = self.characters[0][source], self.characters[1][target]
        selected.breaks = _breaks_at(self.breaks[0], source), _breaks_at(self.breaks[1], target)
        selected.texts = [self.texts[0][row] for row in source], [self.texts[1][row] for row in target]
        if self.embeddings is not None:
            selected.embeddings = self.embeddings.select(source, target)
        selected.lists, selected.observed, selected.expected = {}, {}, {}
        for unit, lists in self.lists.items():
            selected.lists[unit] = _rows_of(lists[0], source), _rows_of(lists[1], target)
            observed, expected = self.observed[unit], self.expected[unit]
            selected.observed[unit] = observed[0].select(source), observed[1].select(target)
            selected.expected[unit] = (
                [words.select(source) for words in expected[0]],
                [words.select(target) for words in expected[1]],
            )
        return selected

    def anchors(self, state: LearnedState) -> tuple[Ints, Ints, Floats]:
        """Pairs of sentences that share rare expected words, or are each other's nearest; rows, columns, weights."""
        sets = [] if self.embeddings is None else [self.embeddings.anchors()]
        for unit in state.config.units:
            forward, backward = self.directions(unit, state)
            columns, rows, weights = backward.anchors()
            sets += [forward.anchors(), (rows, columns, weights)]
        rows, columns, weights = (np.concatenate([anchors[field] for anchors in sets]) for field in range(3))
        return rows, columns, weights

    def directions(self, unit: str, state: LearnedState) -> Directions:
        """The mixture models in which the source predicts, and in which the target predicts."""
        if self._known is None or self._known[0] is not state:
            self._known = state, {}
        known = self._known[1]
        if unit not in known:
            lists, expected = self.lists[unit], self.expected[unit]
            source, target = (self._direction(unit, side, state, lists[side], expected[side]) for side in (0, 1))
            known[unit] = source, target
        return known[unit]

    def _by_word(self, unit: str, state: LearnedState, side: int, words: TokenLists) -> LexicalDirection:
        """The mixture model in which words predict, each by itself; translations say nothing of single words."""
        lexicons = [pair[side] for pair in state.lexicons] if unit == "word" else []
        translations = len(self.expected[unit][side]) - 1 - len(lexicons)
        expected = [expected_copies(words), *[expected_nothing(len(words))] * translations]
        expected += [lexicon.expected_words(words) for lexicon in lexicons]
        types = self.observed[unit][1 - side].types
        numbered = [number_expected(source, words.lengths, types) for source in expected]
        return self._direction(unit, side, state, words, numbered)

    def _direction(
        self, unit: str, side: int, state: LearnedState, predictors: TokenLists, expected: Sequence[NumberedWords]
    ) -> LexicalDirection:
        """The mixture model in which words of a side predict, by these sources of evidence and what was learned."""
        observed = self.observed[unit][1 - side]
        learned = state.learned.get(unit, (None, None))[side]
        if learned is not None:
            known = number_expected(learned.expected_words(predictors), predictors.lengths, observed.types)
            expected = [*expected, known]
        weights = state.weights.get(unit, (None, None))[side]
        if weights is None or len(weights) != len(expected) + 1:
            weights = np.array([0.8, *[0.2 / len(expected)] * len(expected)])
        background = state.backgrounds[unit][1 - side]
        return LexicalDirection(expected, predictors.lengths, observed, background, weights)

    def align(self, state: LearnedState, previous: AnyAlignment | None = None, path: Floats | None = None) -> Alignment:
        """The best alignment, searched for near that of the previous round, or near a path."""
        sources, targets = self.sizes
        config = state.config
        if not sources or not targets:
            return _unaligned(sources, targets, state.priors)
        lengths = self._length_evidence(state)
        directions = {unit: self.directions(unit, state) for unit in config.units}
        evidence: list[Evidence] = [*lengths, *self._evidence(directions, config)]
        breaks = config.break_weight * self.breaks[0], config.break_weight * self.breaks[1]
        if previous is not None:
            path = path_from_beads(previous.beads, sources)
        elif path is None and "word" in directions and targets > 2 * config.band_radius:
            forward, backward = directions["word"]
            columns, rows, weights = backward.anchors()
            path = path_from_anchors([forward.anchors(), (rows, columns, weights)], sources, targets)
        gaps = long_gaps(path, 4 * config.band_radius) if path is not None else ()
        if len(gaps):
            return self._align_without(np.asarray(gaps), state, previous)
        if path is None:
            path = path_from_lengths(*self.characters)

        def make_band(radius: int) -> Band:
            narrow = previous is not None
            return band_along(path, targets, radius // 2 if narrow else radius, 2 if narrow else 8)

        best = best_alignment(evidence, state.priors, sources, targets, make_band, config.band_radius, breaks)
        if state.lengths is None or not directions:
            return best  # nothing has been learned yet, or words do not count
        pieces = [
            PieceEvidence(weight, self.lists[unit], directions[unit], partial(self._by_word, unit, state))
            for unit, weight in config.units.items()
        ]
        return join_shared_pieces(best, pieces, self._join_costs(state, best.beads, lengths), config.max_bead_size)

    def _evidence(self, directions: Mapping[str, Directions], config: AlignerConfig) -> Iterator[Evidence]:
        """All evidence but that of lengths; sentence embeddings count by what the words leave unexplained."""
        if self.walls is not None:
            yield self.walls
        if config.wordless_cost > 0:
            yield WordlessEvidence(*self.texts, config.wordless_cost)
        unexplained = 1.0
        for unit, (forward, backward) in directions.items():
            yield LexicalEvidence(forward, backward, config.units[unit])
            if unit == "word":
                unexplained -= (forward.explained_share + backward.explained_share) / 2
        if self.embeddings is not None:
            yield self.embeddings.weighted(config.embedding_weight * unexplained)

    def _length_evidence(self, state: LearnedState) -> list[LengthEvidence]:
        config = state.config
        if config.length_weight == 0:
            return []
        weights = config.length_weight, config.length_weight * config.length_contrast
        return [LengthEvidence(*self.characters, *weights, config.max_bead_size, state.lengths)]

    def _join_costs(self, state: LearnedState, beads: Ints, lengths: Sequence[LengthEvidence]) -> Floats:
        """Cost of joining each bead with the next one, words apart; infinite where they may not be joined."""
        config, kinds = state.config, state.priors.kinds
        whole = beads[:-1] + beads[1:] * (0, 1, 0, 1)
        allowed = (beads[:-1, 1::2] > 0).all(axis=1) & (beads[1:, 1::2] > 0).all(axis=1)
        allowed &= (whole[:, 1::2] <= config.max_bead_size).all(axis=1)
        if self.walls is not None:
            allowed &= ~self.walls.are_crossed(whole)
        costs = np.full(len(whole), np.inf)
        parts = (beads[:-1][allowed], 1), (beads[1:][allowed], 1), (whole[allowed], -1)
        costs[allowed] = config.piece_cost
        for part, sign in parts:
            scores = kinds[part[:, 1], part[:, 3]] + sum(item.scores(part) for item in lengths)
            costs[allowed] += sign * scores
        return costs

    def _align_without(self, gaps: Ints, state: LearnedState, previous: AnyAlignment | None) -> Alignment:
        """The best alignment in which some target sentences, far from the expected path, have no counterpart."""
        rows = np.arange(self.sizes[0]), np.setdiff1d(np.arange(self.sizes[1]), gaps)
        whole = np.arange(self.sizes[0]), np.arange(self.sizes[1])
        near = None
        if previous is not None:
            near = restrict(OrderedPart(whole, Alignment(previous.beads, previous.gains)), rows)
        return with_gaps(OrderedPart(rows, self.select(*rows).align(state, near)), gaps, state.priors)


def _breaks_at(breaks: Floats, rows: Ints) -> Floats:
    """True if the boundary before each of some sentences is inside a sentence; the end is not."""
    return np.append(breaks[rows], 0.0)


def _rows_of(lists: TokenLists, rows: Ints) -> TokenLists:
    return bead_tokens(lists, np.stack([rows, np.ones(len(rows), np.int64)], axis=1))


def _unaligned(sources: int, targets: int, priors: LogPriors) -> Alignment:
    beads = [(i, 1, 0, 0) for i in range(sources)] + [(0, 0, j, 1) for j in range(targets)]
    gains = [priors.kinds[1, 0]] * sources + [priors.kinds[0, 1]] * targets
    return Alignment(np.array(beads, np.int64).reshape(-1, 4), np.array(gains, np.float32))


def character_counts(texts: Sequence[str]) -> Floats:
    return np.array([len(text) for text in texts], np.float64)


def tokenize_unit(unit: str, texts: Sequence[str]) -> TokenLists:
    return tokenize(texts) if unit == "word" else word_prefixes(texts)
