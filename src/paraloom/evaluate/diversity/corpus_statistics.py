"""Statistics of a corpus: length, vocabulary and n-gram entropy (W17 Table 9, PNMT Table 1), as sums."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from paraloom.core.stats import Estimate, IdCounts, Moments, Sums, entropy
from paraloom.text.buffers import Texts
from paraloom.text.ngrams import ngrams
from paraloom.text.tokens import token_hash, tokenize


@dataclass(frozen=True)
class TextStatistics(Sums):
    """Sums over sentences; two of them can be added."""

    sentences: int = 0
    length: Moments = field(default_factory=Moments)
    unigrams: IdCounts = field(default_factory=IdCounts.empty)
    trigrams: IdCounts = field(default_factory=IdCounts.empty)
    trees: IdCounts = field(default_factory=IdCounts.empty)

    @classmethod
    def of(cls, texts: Texts, skeletons: Texts | None = None) -> TextStatistics:
        lists = tokenize(texts)
        lengths = lists.lengths
        return cls(
            sentences=int((lengths > 0).sum()),
            length=Moments.of(lengths[lengths > 0]),
            unigrams=IdCounts.of(lists.ids),
            trigrams=IdCounts.of(ngrams(lists, 3).ids),
            trees=_count_texts(skeletons) if skeletons is not None else IdCounts.empty(),
        )

    def figures(self) -> dict[str, Estimate]:
        """Length (words), entropies (nats; W17 Table 9, PNMT Table 1), vocabulary (grows with the sample)."""
        figures = {
            "length": self.length.estimate(),
            "vocabulary": Estimate(len(self.unigrams), len(self.unigrams), len(self.unigrams)),
            "unigram_entropy": entropy(self.unigrams.counts),
            "trigram_entropy": entropy(self.trigrams.counts),
        }
        return figures | ({"parse_entropy": entropy(self.trees.counts)} if len(self.trees) else {})


def _count_texts(texts: Texts) -> IdCounts:
    """Occurrences of each non-empty text."""
    values = texts if isinstance(texts, list) else texts.to_pylist()  # type: ignore[union-attr]
    return IdCounts.of(np.array([token_hash(value) for value in values if value], np.uint64))
