"""What a corpus is like: length, vocabulary, n-gram entropy (W17 Table 9, PNMT Table 1), as statistics that merge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from paraloom.core.stats import Estimate, IdCounts, Moments, entropy, merge_all
from paraloom.text.buffers import Texts
from paraloom.text.ngrams import ngrams
from paraloom.text.tokens import token_hash, tokenize


@dataclass(frozen=True)
class TextStatistics:
    """Sums over sentences; two of them add up to those of both corpora.

    sentences: with a word at least.  length: of their words.  unigrams, trigrams: how often
    each was seen (lower-cased words; see core.text.tokens).  trees: how often each parse skeleton was seen, where
    there is a parser.
    """

    sentences: int = 0
    length: Moments = field(default_factory=Moments)
    unigrams: IdCounts = field(default_factory=IdCounts.empty)
    trigrams: IdCounts = field(default_factory=IdCounts.empty)
    trees: IdCounts = field(default_factory=IdCounts.empty)

    @classmethod
    def of(cls, texts: Texts, skeletons: Texts | None = None) -> TextStatistics:
        """Of a batch of sentences.

        skeletons: the top of each sentence's parse, as text, '' where there is none.

        >>> statistics = TextStatistics.of(["a b a", "b"]) + TextStatistics.of(["c"])
        >>> statistics.sentences, len(statistics.unigrams), round(statistics.length.mean, 2)
        (3, 3, 1.67)
        """
        lists = tokenize(texts)
        lengths = lists.lengths
        return cls(
            sentences=int((lengths > 0).sum()),
            length=Moments.of(lengths[lengths > 0]),
            unigrams=IdCounts.of(lists.ids),
            trigrams=IdCounts.of(ngrams(lists, 3).ids),
            trees=_whole(skeletons) if skeletons is not None else IdCounts.empty(),
        )

    def __add__(self, other: TextStatistics) -> TextStatistics:
        return TextStatistics(
            self.sentences + other.sentences,
            self.length + other.length,
            self.unigrams + other.unigrams,
            self.trigrams + other.trigrams,
            self.trees + other.trees,
        )

    def figures(self) -> dict[str, Estimate]:
        """Length (words a sentence), vocabulary (different words), entropies (nats): each with its interval.

        Vocabulary has no interval: it grows with the sample, so compare samples of one size.
        """
        found = {
            "length": self.length.estimate(),
            "vocabulary": Estimate(len(self.unigrams), len(self.unigrams), len(self.unigrams)),
            "unigram_entropy": entropy(self.unigrams.counts),
            "trigram_entropy": entropy(self.trigrams.counts),
        }
        return found | ({"parse_entropy": entropy(self.trees.counts)} if len(self.trees) else {})


def text_statistics(batches: Iterable[Texts]) -> TextStatistics:
    """Of all batches; memory grows with the number of different trigrams."""
    return merge_all(map(TextStatistics.of, batches), TextStatistics())


def _whole(texts: Texts) -> IdCounts:
    """Each non-empty text as one thing."""
    import numpy as np

    values = texts if isinstance(texts, list) else texts.to_pylist()  # type: ignore[union-attr]
    return IdCounts.of(np.array([token_hash(value) for value in values if value], np.uint64))
