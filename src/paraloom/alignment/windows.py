"""Texts that are prepared and aligned window by window, so that the memory they take does not grow with their length.

A window begins where the one before ends, and sees some sentences more than it keeps: it ends between two beads that
look right, in the middle of what it sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.anchors import WordPlaces, rare_words, shared_words, word_places
from paraloom.alignment.local_order import LocalSearch
from paraloom.alignment.local_parts import AnyAlignment
from paraloom.alignment.prepared_pairs import LearnedState, LexiconPair, PreparedPair, character_counts, tokenize_unit
from paraloom.alignment.search import Alignment, path_from_anchors, path_from_beads, path_from_lengths
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.array_types import Floats, Ints
from paraloom.text.tokens import TokenLists

# Source sentences of a window, and those that it sees behind them.
_WINDOW, _BEHIND = 4000, 200

MixtureCounts = dict[tuple[str, int], Floats]
"""Expected numbers of words that each source of evidence explains in some beads, by unit and direction."""


class TextWindows:
    """A pair of texts, of which one window at a time is prepared."""

    def __init__(self, pair: TextPair, config: AlignerConfig, lexicons: Sequence[LexiconPair]) -> None:
        self.pair, self.config, self.lexicons = pair, config, lexicons
        self.sizes = len(pair.source), len(pair.target)

    def align(
        self,
        state: LearnedState,
        previous: AnyAlignment | None = None,
        order: str = "strict",
        counts: MixtureCounts | None = None,
    ) -> AnyAlignment:
        """The best alignment by what was learned so far; `counts` gets what its beads are explained by."""
        windows = self.sizes[0] // _WINDOW
        if order == "strict" and windows > 1:
            assert previous is None or isinstance(previous, Alignment)
            return self._align_windows(windows, state, previous, counts)
        whole = self._prepare(slice(None), slice(None))
        alignment = (LocalSearch(whole) if order == "local" else whole).align(state, previous)
        if counts is not None:
            _count(counts, whole, state, alignment.beads)
        return alignment

    def characters(self) -> tuple[Floats, Floats]:
        return character_counts(self.pair.source), character_counts(self.pair.target)

    def tokens(self, unit: str, side: int) -> Iterator[TokenLists]:
        """The words or prefixes of a side, some sentences at a time."""
        text = (self.pair.source, self.pair.target)[side]
        return (tokenize_unit(unit, text[start : start + _WINDOW]) for start in range(0, len(text), _WINDOW))

    def bead_tokens(self, unit: str, side: int, spans: Ints) -> TokenLists:
        """The words or prefixes of one side of some beads, given as first sentences and numbers of them."""
        text = (self.pair.source, self.pair.target)[side]
        return tokenize_unit(unit, [" ".join(text[first : first + count]) for first, count in spans.tolist()])

    def _prepare(self, source: slice, target: slice) -> PreparedPair:
        return PreparedPair(self.pair.part(source, target), self.config, self.lexicons)

    def _align_windows(
        self, windows: int, state: LearnedState, previous: Alignment | None, counts: MixtureCounts | None
    ) -> Alignment:
        sources, targets = self.sizes
        path = self._first_path() if previous is None else path_from_beads(previous.beads, sources)
        beads, gains = [], []
        i = j = 0
        for number in range(1, windows + 1):
            end = sources * number // windows
            is_last = number == windows
            last_row = sources if is_last else min(sources, end + _BEHIND)
            rows = slice(i, last_row)
            columns = slice(j, targets if is_last else max(j, int(path[last_row])))
            window = self._prepare(rows, columns)
            near = None if previous is None else _near(previous, rows, columns)
            inside = np.clip(path[i : last_row + 1] - j, 0, window.sizes[1])
            alignment = window.align(state, near, inside)
            kept = len(alignment.beads) if is_last else _cut(alignment, end - i)
            if counts is not None:
                _count(counts, window, state, alignment.beads[:kept])
            beads.append(alignment.beads[:kept] + np.array([i, 0, j, 0]))
            gains.append(alignment.gains[:kept])
            i, j = i + int(alignment.beads[:kept, 1].sum()), j + int(alignment.beads[:kept, 3].sum())
        return Alignment(np.concatenate(beads), np.concatenate(gains))

    def _first_path(self) -> Floats:
        """The path through rare words of both texts, or else by lengths."""
        path = None
        if "word" in self.config.units:
            source, target = (rare_words(self._places(side, False)) for side in (0, 1))
            from_source, from_target = (rare_words(self._places(side, True)) for side in (0, 1))
            columns, rows, weights = shared_words(from_target, source)
            path = path_from_anchors([shared_words(from_source, target), (rows, columns, weights)], *self.sizes)
        return path_from_lengths(*self.characters()) if path is None else path

    def _places(self, side: int, expected: bool) -> Iterator[WordPlaces]:
        """The words of a side, or those that it leads to expect: with its translations and by lexicons."""
        translations = (self.pair.source_translations, self.pair.target_translations)[side] if expected else ()
        for number, text in enumerate(((self.pair.source, self.pair.target)[side], *translations)):
            for start in range(0, len(text), _WINDOW):
                lists = tokenize_unit("word", text[start : start + _WINDOW])
                yield word_places(lists, start)
                for lexicon in self.lexicons if expected and not number else ():
                    words = lexicon[side].expected_words(lists)
                    yield word_places(TokenLists(words.ids, words.offsets), start)


def _count(counts: MixtureCounts, pair: PreparedPair, state: LearnedState, beads: Ints) -> None:
    """Add the words in some beads of a pair."""
    for unit in state.config.units if min(pair.sizes) else ():
        for side, direction in enumerate(pair.directions(unit, state)):
            counts[unit, side] = counts.get((unit, side), 0.0) + direction.mixture_counts(beads, bool(side))


def _near(previous: Alignment, rows: slice, columns: slice) -> Alignment:
    """The beads of the previous round that are in a window, by position in it, and its end."""
    starts = previous.beads[:, 0]
    some = slice(*np.searchsorted(starts, [rows.start, rows.stop]))
    beads = previous.beads[some] - (rows.start, 0, columns.start, 0)
    size = rows.stop - rows.start, columns.stop - columns.start
    ends = beads[:, ::2] + beads[:, 1::2]
    kept = (beads[:, ::2] >= 0).all(axis=1) & (ends <= size).all(axis=1) & (beads[:, 1::2] > 0).all(axis=1)
    end = [[size[0], 0, size[1], 0]]
    return Alignment(np.concatenate([beads[kept], end]), np.append(previous.gains[some][kept], np.float32(0)))


def _cut(alignment: Alignment, end: int) -> int:
    """How many beads of a window are kept: up to the first two behind `end` that look right, or to `end`."""
    beads, gains = alignment
    solid = (beads[:, 1] > 0) & (beads[:, 3] > 0) & (gains > 0)
    first = int(np.searchsorted(beads[:, 0] + beads[:, 1], end)) + 1
    last = min(int(np.searchsorted(beads[:, 0] + beads[:, 1], end + _BEHIND // 2)) + 1, len(beads))
    good = np.flatnonzero(solid[first - 1 : last - 1] & solid[first:last])
    return first + int(good[0]) if len(good) else first
