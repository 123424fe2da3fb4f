"""A constituency parser with a grammar learned from a treebank, which needs no download."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import signature
from paraloom.papers import cky
from paraloom.papers.grammar import Grammar, original_labels
from paraloom.syntax.tokenization import penn_tokens, without_brackets

if TYPE_CHECKING:
    from nltk.tree import Tree

MAX_WORDS = 60
"""Words of a sentence that is parsed; the time grows with their third power."""
BEAM = 14.0
"""Default width of the beam, in nats."""


class GrammarParser:
    """Finds the most likely tree of each sentence, tokenized as in the Penn Treebank (do n't), under a grammar."""

    def __init__(self, grammar: Grammar, beam: float = BEAM) -> None:
        self.grammar = grammar
        self.beam = beam
        self._labels = [original_labels(symbol) for symbol in grammar.symbols]
        self._pairs = _by_first(grammar.pairs, len(grammar.symbols), 4)
        self._singles = _by_first(grammar.singles, len(grammar.symbols), 3)
        self._lefts = [pair[0] for pair in grammar.pairs]

    @classmethod
    def load(cls, folder: str | Path) -> GrammarParser:
        """Load a folder that `paraloom train parser` wrote."""
        return cls(Grammar.load(Path(folder)))

    def save(self, folder: Path) -> None:
        """Write grammar.json."""
        self.grammar.save(folder)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of symbols and rules."""
        return {"symbols": len(self.grammar.symbols), "rules": len(self.grammar.pairs) + len(self.grammar.singles)}

    @cached_property
    def signature(self) -> str:
        """`parser|grammar:DIGEST|…`, for the metadata of the trees."""
        return signature("parser", grammar=self.grammar.digest[:12], width=self.beam, longest=MAX_WORDS)

    def parse(self, sentences: Sequence[str]) -> list[str | None]:
        """Parse sentences."""
        return self.parse_tokens([penn_tokens(sentence) for sentence in sentences])

    def parse_tokens(self, sentences: Sequence[Sequence[str]]) -> list[str | None]:
        """Parse tokenized sentences; None as in `parse`."""
        return [self.parse_words(words) for words in sentences]

    def parse_words(self, words: Sequence[str]) -> str | None:
        """Parse a tokenized sentence; None as in `parse`."""
        words = [without_brackets(word) for word in words]
        if not words or len(words) > MAX_WORDS:
            return None
        chart = self._fill_chart(words)
        last = len(words) - 1
        scores = chart.scores[chart.cell(0, last)]
        best, root = max(((scores[symbol] + score, symbol) for symbol, score in self.grammar.roots))
        return None if best == -np.inf else " ".join(self._brackets(chart, words, root, 0, last))

    def _fill_chart(self, words: Sequence[str]) -> _Chart:
        tags = [self.grammar.tags(word, index == 0) for index, word in enumerate(words)]
        flat = [entry for entries in tags for entry in entries]
        chart = _Chart(len(words), len(self.grammar.symbols))
        fill: Any = cky.fill  # compiled: mypy cannot count its unpacked arguments
        fill(
            np.concatenate([[0], np.cumsum([len(entries) for entries in tags])]),
            np.array([tag for tag, _ in flat], np.int32),
            np.array([score for _, score in flat], np.float32),
            *self._singles,
            *self._pairs,
            self.beam,
            chart.scores,
            chart.rules,
            chart.splits,
            chart.active,
            chart.active_count,
        )
        return chart

    def _brackets(self, chart: _Chart, words: Sequence[str], symbol: int, first: int, last: int) -> list[str]:
        """The text of a subtree in pieces; a part of a phrase has no label of its own, only its children's."""
        rule = int(chart.rules[chart.cell(first, last), symbol])
        labels = self._labels[symbol]
        if rule == -1:
            pieces = [words[first]]
        elif rule < -1:
            pieces = [f"({self.grammar.symbols[-2 - rule]} {words[first]})"]
        else:
            split = int(chart.splits[chart.cell(first, last), symbol])
            _, right, _, _ = self.grammar.pairs[rule]
            pieces = [
                *self._brackets(chart, words, self._lefts[rule], first, split),
                *self._brackets(chart, words, right, split + 1, last),
            ]
        if not labels:
            return pieces
        head = " ".join(f"({label}" for label in labels)
        return [f"{head} {' '.join(pieces)}{')' * len(labels)}"]


def train_grammar(trees: Sequence[Tree]) -> GrammarParser:
    """A parser with the grammar of a treebank, for the stage `train-parser`."""
    return GrammarParser(Grammar.from_trees(trees))


class _Chart:
    """Arrays of one sentence: a row of symbols for each span of words."""

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


def _by_first(rows: Sequence[tuple[Any, ...]], symbols: int, columns: int) -> list[npt.NDArray[Any]]:
    """Rules sorted by their first symbol: where those of each symbol begin, and the other columns."""
    firsts = np.searchsorted(np.array([row[0] for row in rows], np.int64), np.arange(symbols + 1))
    others = [np.array([row[column] for row in rows], np.int32) for column in range(1, columns - 1)]
    return [firsts, *others, np.array([row[-1] for row in rows], np.float32)]
