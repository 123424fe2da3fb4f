"""Surface statistics of generated text: length of sentences and words, and vocabulary (BBH22 §2.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from paraloom.core.array_types import Ints
from paraloom.core.stats import Estimate, IdCounts, Ratio, Sums
from paraloom.evaluate.diversity.surface_kernels import spaced_words
from paraloom.text.buffers import Texts, code_points, text_buffers
from paraloom.text.characters import white_table

UNITS = {
    "sentence_length": "words per sentence",
    "word_length": "characters per word",
    "bytes_per_word": "bytes per word, including spaces and line ends",
    "vocabulary": "distinct words",
    "folded_vocabulary": "distinct words, ignoring ASCII case and punctuation",
}
"""Unit of each of `SurfaceStatistics.figures`."""


@dataclass(frozen=True)
class SurfaceStatistics(Sums):
    """Sums over sentences, of words as `wc` has them, between white space; two of them can be added."""

    sentences: int = 0
    empty: int = 0
    size: int = 0
    length: Ratio = field(default_factory=Ratio)
    characters: Ratio = field(default_factory=Ratio)
    vocabulary: IdCounts = field(default_factory=IdCounts.empty)
    folded: IdCounts = field(default_factory=IdCounts.empty)

    @classmethod
    def of(cls, texts: Texts, groups: Ints | None = None) -> SurfaceStatistics:
        _, offsets = text_buffers(texts)
        ids, folded, characters, words = spaced_words(*code_points(texts), white_table())
        starts = np.arange(len(words)) if groups is None else groups[:-1]
        by_sentence = np.bincount(np.repeat(np.arange(len(words)), words), characters, len(words))
        group_words, group_characters = (
            np.add.reduceat(counts, starts) if len(words) else counts for counts in (words, by_sentence)
        )
        return cls(
            sentences=len(words),
            empty=int((words == 0).sum()),
            size=int(offsets[-1] - offsets[0]) + len(words),
            length=Ratio.of(group_words, np.diff([*starts, len(words)])),
            characters=Ratio.of(group_characters, group_words),
            vocabulary=IdCounts.of(ids),
            folded=IdCounts.of(folded[folded != 0]),
        )

    def figures(self) -> dict[str, Estimate]:
        """The figures of `UNITS`; mean lengths have intervals, vocabularies, which grow with the sample, have none."""
        words = self.length.over
        return {
            "sentence_length": self.length.estimate(),
            "word_length": self.characters.estimate(),
            "bytes_per_word": _exact(self.size / words if words else np.nan),
            "vocabulary": _exact(len(self.vocabulary)),
            "folded_vocabulary": _exact(len(self.folded)),
        }


def _exact(value: float) -> Estimate:
    return Estimate(value, value, value)
