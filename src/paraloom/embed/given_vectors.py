"""Word vectors from a file as an encoder that was not trained: the mean of a sentence's words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.vocabulary import UNITS, Vocabulary, VocabularyCounter
from paraloom.embed.word_vectors import read_vectors
from paraloom.text.buffers import Texts

_UNIT = "word"
_MAX_WORDS = 10_000_000


def average_vectors(path: str | Path, batches: Iterable[Texts]) -> SentenceEncoder:
    """Average given word vectors, all with the same weight: what vectors are worth before any training.

    Only the vectors of words that occur in the sentences are kept, so that files of any size can be read.
    """
    counter = VocabularyCounter(_UNIT)
    for batch in batches:
        counter.count(batch, UNITS[_UNIT].split(batch))
    words = counter.most_common(_MAX_WORDS).vocabulary
    given = read_vectors(path, words)
    vocabulary = Vocabulary(_UNIT, [words.entries[row] for row in given.rows.tolist()])
    return SentenceEncoder(parse_spec(_UNIT), {_UNIT: Average(vocabulary, given.vectors)})
