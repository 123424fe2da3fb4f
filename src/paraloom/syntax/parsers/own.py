"""Parsing with a grammar read off a treebank: sentences in, bracketed constituency trees out, with nothing to fetch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import signature
from paraloom.core.errors import MissingExtraError
from paraloom.syntax import cky as chart_kernels
from paraloom.syntax.grammar import Grammar
from paraloom.syntax.treebank import opened

LONGEST = 60
"""Words of a sentence that is parsed; the work grows with their third power."""
WIDTH = 14.0
"""Nats below the best symbol of the same words within which another one is kept."""

_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"})


class GrammarParser:
    """The likeliest tree of each sentence under a grammar; implements core.protocols.ParserLike.

    grammar: what `paraloom train parser` made.  Words are cut as the Penn Treebank cuts them (do n't).

    >>> GrammarParser(Grammar.load(folder)).parse(["The dog sleeps."])                  # doctest: +SKIP
    ['(S (NP (DT The) (NN dog)) (VP (VBZ sleeps)) (. .))']
    """

    def __init__(self, grammar: Grammar, width: float = WIDTH) -> None:
        self.grammar = grammar
        self.width = width
        self._opened = [opened(symbol) for symbol in grammar.symbols]
        self._pairs = _by_first(grammar.pairs, len(grammar.symbols), 4)
        self._singles = _by_first(grammar.singles, len(grammar.symbols), 3)
        self._lefts = [pair[0] for pair in grammar.pairs]

    @classmethod
    def load(cls, folder: str | Path) -> GrammarParser:
        """Of a folder that `paraloom train parser` wrote; ModelError where it is not whole."""
        return cls(Grammar.load(Path(folder)))

    @cached_property
    def signature(self) -> str:
        """`parser|grammar:DIGEST|…`."""
        return signature("parser", grammar=self.grammar.digest[:12], width=self.width, longest=LONGEST)

    def parse(self, sentences: Sequence[str]) -> list[str | None]:
        """A bracketed tree each; None for one without words, of more than 60, or that the grammar cannot make."""
        return [self.parse_words(self._words.tokenize(sentence)) for sentence in sentences]

    def parse_words(self, words: Sequence[str]) -> str | None:
        """The tree of a sentence that is already cut into words; see `parse`."""
        words = [word.translate(_BRACKETS) for word in words]
        if not words or len(words) > LONGEST:
            return None
        chart = self._filled(words)
        last = len(words) - 1
        whole = chart.scores[chart.cell(0, last)]
        best, root = max(((whole[symbol] + score, symbol) for symbol, score in self.grammar.roots))
        return None if best == -np.inf else " ".join(self._brackets(chart, words, root, 0, last))

    @cached_property
    def _words(self) -> Any:
        try:
            from nltk.tokenize import NLTKWordTokenizer
        except ImportError:
            raise MissingExtraError.for_verb("parsing", "syntax") from None
        return NLTKWordTokenizer()

    def _filled(self, words: Sequence[str]) -> _Chart:
        tags = [self.grammar.tags(word, place == 0) for place, word in enumerate(words)]
        flat = [each for some in tags for each in some]
        chart = _Chart(len(words), len(self.grammar.symbols))
        fill: Any = chart_kernels.fill  # a compiled function, whose unpacked arguments mypy cannot count
        fill(
            np.concatenate([[0], np.cumsum([len(some) for some in tags])]),
            np.array([tag for tag, _ in flat], np.int32),
            np.array([score for _, score in flat], np.float32),
            *self._singles,
            *self._pairs,
            self.width,
            chart.scores,
            chart.rules,
            chart.splits,
            chart.active,
            chart.active_count,
        )
        return chart

    def _brackets(self, chart: _Chart, words: Sequence[str], symbol: int, first: int, last: int) -> list[str]:
        """The pieces of a subtree's text; a piece of a phrase has none of its own, only its children's."""
        rule = int(chart.rules[chart.cell(first, last), symbol])
        labels = self._opened[symbol]
        if rule == -1:
            inner = [words[first]]
        elif rule < -1:
            inner = [f"({self.grammar.symbols[-2 - rule]} {words[first]})"]
        else:
            split = int(chart.splits[chart.cell(first, last), symbol])
            _, right, _, _ = self.grammar.pairs[rule]
            inner = [
                *self._brackets(chart, words, self._lefts[rule], first, split),
                *self._brackets(chart, words, right, split + 1, last),
            ]
        if not labels:
            return inner
        head = " ".join(f"({label}" for label in labels)
        return [f"{head} {' '.join(inner)}{')' * len(labels)}"]


class _Chart:
    """Room for one sentence: a row of symbols for each stretch of words."""

    def __init__(self, words: int, symbols: int) -> None:
        cells = words * (words + 1) // 2
        self.words = words
        self.scores = np.empty((cells, symbols), np.float32)
        self.rules = np.empty((cells, symbols), np.int32)
        self.splits = np.empty((cells, symbols), np.int16)
        self.active = np.empty((cells, symbols), np.int32)
        self.active_count = np.empty(cells, np.int32)

    def cell(self, first: int, last: int) -> int:
        return first * self.words - first * (first - 1) // 2 + last - first


def _by_first(rows: Sequence[tuple[Any, ...]], symbols: int, width: int) -> list[npt.NDArray[Any]]:
    """Rules of so many columns, sorted by their first symbol: where each one's begin, and the other columns."""
    firsts = np.searchsorted(np.array([row[0] for row in rows], np.int64), np.arange(symbols + 1))
    others = [np.array([row[place] for row in rows], np.int32) for place in range(1, width - 1)]
    return [firsts, *others, np.array([row[-1] for row in rows], np.float32)]
