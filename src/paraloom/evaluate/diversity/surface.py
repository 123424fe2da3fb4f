"""Surface statistics of generated text: length of sentences and words, and vocabulary (BBH22 §2.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from paraloom.core.kernels import kernel
from paraloom.core.stats import Estimate, IdCounts, Ratio
from paraloom.text.buffers import Texts, code_points, text_buffers
from paraloom.text.characters import white_table
from paraloom.text.token_kernels import PRIME, START, Ids, Ints, Points, mix

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]


@kernel
def spaced_words(points: Points, offsets: Ints, white: Flags) -> tuple[Ids, Ids, Numbers, Ints]:
    """List the words of all texts."""
    capacity = (offsets[-1] - offsets[0]) // 2 + len(offsets)  # a word has a character, and white space after it
    ids, folded = np.empty(capacity, np.uint64), np.empty(capacity, np.uint64)
    characters = np.empty(capacity, np.int32)
    counts = np.zeros(len(offsets) - 1, np.int64)
    count = 0
    for text in range(len(counts)):
        word, plain, size, left = START, START, 0, False
        for i in range(offsets[text], offsets[text + 1] + 1):
            if i == offsets[text + 1] or white[points[i]]:
                if size:
                    ids[count], folded[count], characters[count] = mix(word), mix(plain) if left else np.uint64(0), size
                    count += 1
                    counts[text] += 1
                    word, plain, size, left = START, START, 0, False
                continue
            point = np.int64(points[i])
            word = (word ^ np.uint64(point)) * PRIME
            size += 1
            lower = point + 32 if 65 <= point <= 90 else point
            if not (33 <= lower <= 126) or 48 <= lower <= 57 or 97 <= lower <= 122:
                plain = (plain ^ np.uint64(lower)) * PRIME
                left = True
    return ids[:count].copy(), folded[:count].copy(), characters[:count].copy(), counts


UNITS = {
    "sentence_length": "words per sentence",
    "word_length": "characters per word",
    "bytes_per_word": "bytes per word, including spaces and line ends",
    "vocabulary": "distinct words",
    "folded_vocabulary": "distinct words, ignoring ASCII case and punctuation",
}
"""Unit of each of `SurfaceStatistics.figures`."""


@dataclass(frozen=True)
class SurfaceStatistics:
    """Sums over sentences; two of them can be added.

    A word is what stands between white space, punctuation included, as for `wc` (which ignores words without a
    printable character and does not split at U+0085, U+2028 and the like). For tokens and entropies see
    `corpus_statistics`.
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
        """Sum up a batch of sentences."""
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
        """The figures of `UNITS`, by name, the mean lengths with 95 % intervals.

        bytes_per_word and the vocabularies have no interval; vocabularies grow with the sample, so compare samples of
        equal size.

        Reference:
            The tables of BBH22 have sentence_length and, according to the script published with the paper,
            bytes_per_word as the length of words and folded_vocabulary as the vocabulary.
        """
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
