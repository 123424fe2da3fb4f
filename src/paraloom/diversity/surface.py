"""What generated text looks like: length of sentences and words, and vocabulary, by wc's words (BBH22 §2.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from paraloom.core.stats import Estimate, IdCounts, Ratio, merge_all
from paraloom.diversity.surface_kernels import spaced_words
from paraloom.text.buffers import Texts, code_points, text_buffers
from paraloom.text.characters import white_table

UNITS = {
    "sentence_length": "words a sentence",
    "word_length": "characters a word",
    "bytes_per_word": "bytes a word, blanks and line ends among them",
    "vocabulary": "different words",
    "folded_vocabulary": "different words, ASCII capitals and punctuation aside",
}
"""What each of SurfaceStatistics.figures counts."""


@dataclass(frozen=True)
class SurfaceStatistics:
    """Sums over sentences; two of them add up to those of both sets.

    A word is what white space cuts, punctuation stuck to it: wc's, but that wc overlooks words of nothing printable
    and does not split at U+0085, U+2028 and the like.  sentences: one a line.  empty: those without a word, which count
    as of length 0, as in wc.  length: words by sentences; characters: by words.  size: bytes of all, UTF-8, each
    sentence with a line end.  vocabulary: how often each word was seen, as it is written.  folded: the same of
    words without ASCII punctuation, ASCII capitals made small.

    For words cut as `core.text.tokens` cuts them, and for entropies, see diversity.corpus.
    """

    sentences: int = 0
    empty: int = 0
    size: int = 0
    length: Ratio = field(default_factory=Ratio)
    characters: Ratio = field(default_factory=Ratio)
    vocabulary: IdCounts = field(default_factory=IdCounts.empty)
    folded: IdCounts = field(default_factory=IdCounts.empty)

    @classmethod
    def of(cls, texts: Texts, groups: npt.NDArray[np.int64] | None = None) -> SurfaceStatistics:
        """Of a batch of sentences.

        groups: where groups of sentences that are alike begin, and the end, int64 (groups + 1,), each with one at
        least; such as variants of one source, of which intervals must not take each for news.  None: each is.

        >>> found = SurfaceStatistics.of(["Yes, yes!", "no"]) + SurfaceStatistics.of(["No"])
        >>> found.sentences, found.length.over, found.characters.over, len(found.vocabulary), len(found.folded)
        (3, 4.0, 12.0, 4, 2)
        """
        _, offsets = text_buffers(texts)
        ids, folded, characters, words = spaced_words(*code_points(texts), white_table())
        starts = np.arange(len(words)) if groups is None else groups[:-1]
        of_sentences = np.bincount(np.repeat(np.arange(len(words)), words), characters, len(words))
        said, written = (np.add.reduceat(each, starts) if len(words) else each for each in (words, of_sentences))
        return cls(
            sentences=len(words),
            empty=int((words == 0).sum()),
            size=int(offsets[-1] - offsets[0]) + len(words),
            length=Ratio.of(said, np.diff([*starts, len(words)])),
            characters=Ratio.of(written, said),
            vocabulary=IdCounts.of(ids),
            folded=IdCounts.of(folded[folded != 0]),
        )

    def __add__(self, other: SurfaceStatistics) -> SurfaceStatistics:
        return SurfaceStatistics(
            self.sentences + other.sentences,
            self.empty + other.empty,
            self.size + other.size,
            self.length + other.length,
            self.characters + other.characters,
            self.vocabulary + other.vocabulary,
            self.folded + other.folded,
        )

    def figures(self) -> dict[str, Estimate]:
        """The figures of UNITS, by name; the mean lengths with their intervals, groups taken for independent.

        BBH22's tables have sentence_length and, by the script published with it, bytes_per_word for the length of
        words and folded_vocabulary for the vocabulary.  bytes_per_word and the vocabularies have no interval;
        vocabularies grow with the sample, so compare samples of one size.
        """
        words = self.length.over
        return {
            "sentence_length": self.length.estimate(),
            "word_length": self.characters.estimate(),
            "bytes_per_word": _exact(self.size / words if words else np.nan),
            "vocabulary": _exact(len(self.vocabulary)),
            "folded_vocabulary": _exact(len(self.folded)),
        }


def surface_statistics(batches: Iterable[Texts]) -> SurfaceStatistics:
    """Of all batches; memory grows with the vocabulary, some 32 bytes a word."""
    return merge_all(map(SurfaceStatistics.of, batches), SurfaceStatistics())


def _exact(value: float) -> Estimate:
    return Estimate(value, value, value)
