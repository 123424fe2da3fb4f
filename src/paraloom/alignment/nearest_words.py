"""Evidence of an encoder of both languages: vectors of sentences, and near words as a lexicon."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow.compute as pc

from paraloom.alignment.embeddings import unit_rows
from paraloom.alignment.lexicon import BilingualLexicon
from paraloom.alignment.text_pairs import AnyVectors, Vectors
from paraloom.core.array_types import Ids, Ints
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike
from paraloom.io.arrays import StoredVectors
from paraloom.text.buffers import Texts
from paraloom.text.tokens import token_strings, tokenize

# The commonest words of a side that get translations; rows of cosines in memory at a time.
_MAX_WORDS, _ROWS = 20_000, 256
# Sentences that are encoded at a time; the vectors of more are in a file.
_SENTENCES = 20_000
# Translations of a word, and neighbors whose mean cosine is the level that they have to exceed.
_TRANSLATIONS, _NEIGHBORS = 3, 10
# Margins count in units of this; pairs with a lower cosine or probability do not count.
_TEMPERATURE, _MIN_COSINE, _MIN_PROBABILITY = 0.1, 0.2, 0.01


def encoder_lexicon(
    encoder: EncoderLike, source: Sequence[Texts], target: Sequence[Texts]
) -> list[tuple[BilingualLexicon, BilingualLexicon]]:
    """The lexicon of the words of some texts, by the vectors of an encoder of both languages."""
    sides = []
    for texts in (source, target):
        words = _common_words(texts)
        vectors = unit_rows(_encode(encoder, words))
        known = np.flatnonzero(vectors.any(axis=1))
        sides.append((tokenize([words[row] for row in known]).ids, vectors[known]))
    (source_ids, source_vectors), (target_ids, target_vectors) = sides
    if not len(source_ids) or not len(target_ids):
        return []
    levels = _levels(source_vectors, target_vectors), _levels(target_vectors, source_vectors)
    forward = _nearest(source_vectors, target_vectors, levels)
    backward = _nearest(target_vectors, source_vectors, levels[::-1])
    return [(_lexicon(source_ids, target_ids, *forward), _lexicon(target_ids, source_ids, *backward))]


def encode_texts(encoder: EncoderLike, source: Sequence[str], target: Sequence[str]) -> tuple[AnyVectors, AnyVectors]:
    """Vectors of the sentences of two texts; those of a language that the encoder does not know may be zero."""
    with progress("encoding", len(source) + len(target), unit="sentences") as advance:
        return _encode_text(encoder, source, advance), _encode_text(encoder, target, advance)


def _encode_text(encoder: EncoderLike, text: Sequence[str], advance: Callable[[int], None]) -> AnyVectors:
    """Vectors of a text, in a file if it is long."""
    parts = (text[start : start + _SENTENCES] for start in range(0, len(text), _SENTENCES))

    def encoded() -> Iterator[Vectors]:
        for part in parts:
            yield _encode(encoder, part)
            advance(len(part))

    return StoredVectors(encoded()) if len(text) > _SENTENCES else np.concatenate([_encode(encoder, []), *encoded()])


def _encode(encoder: EncoderLike, texts: Sequence[str]) -> Vectors:
    """Vectors of texts, without the warning about unknown ones: they say nothing, and do no harm."""
    if not texts:
        return np.zeros((0, encoder.dimension), np.float32)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*unknown tokens only")
        return encoder.encode(texts)


def _common_words(texts: Sequence[Texts]) -> list[str]:
    """Distinct words with a letter, the commonest first."""
    counts: dict[str, int] = {}
    parts = (text[start : start + _SENTENCES] for text in texts for start in range(0, len(text), _SENTENCES))
    for part in parts:
        for entry in pc.value_counts(token_strings(part).values).to_pylist():
            counts[entry["values"]] = counts.get(entry["values"], 0) + entry["counts"]
    words = [word for word in counts if any(map(str.isalpha, word))]
    return sorted(words, key=lambda word: (-counts[word], word))[:_MAX_WORDS]


def _cosines(words: Vectors, others: Vectors) -> Iterator[tuple[int, Vectors]]:
    """Cosines of some words with all others, and the first of these words."""
    for first in range(0, len(words), _ROWS):
        yield first, words[first : first + _ROWS] @ others.T


def _levels(words: Vectors, others: Vectors) -> Vectors:
    """Mean cosine of each word with its nearest others."""
    count = min(_NEIGHBORS, len(others))
    return np.concatenate(
        [np.partition(cosines, -count, axis=1)[:, -count:].mean(axis=1) for _, cosines in _cosines(words, others)]
    )


def _nearest(words: Vectors, others: Vectors, levels: tuple[Vectors, Vectors]) -> tuple[Ints, Ints, Vectors]:
    """Words, their translations, and probabilities: e^(CSLS margin / temperature), beside 1 for no translation."""
    count = min(_TRANSLATIONS, len(others))
    rows, columns, probabilities = [], [], []
    for first, cosines in _cosines(words, others):
        margins = 2 * cosines - levels[0][first : first + len(cosines), None] - levels[1]
        best = np.argpartition(margins, -count, axis=1)[:, -count:]
        likely = np.exp(np.take_along_axis(margins, best, axis=1) / _TEMPERATURE)
        likely /= 1 + likely.sum(axis=1, keepdims=True)
        kept = (np.take_along_axis(cosines, best, axis=1) >= _MIN_COSINE) & (likely >= _MIN_PROBABILITY)
        rows.append(first + np.nonzero(kept)[0])
        columns.append(best[kept])
        probabilities.append(likely[kept])
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(probabilities)


def _lexicon(words: Ids, others: Ids, rows: Ints, columns: Ints, probabilities: Vectors) -> BilingualLexicon:
    order = np.lexsort((others[columns], words[rows]))
    entries = words[rows[order]]
    types = np.unique(entries)
    starts = np.append(np.searchsorted(entries, types), len(entries)).astype(np.int64)
    return BilingualLexicon(types, starts, others[columns[order]], probabilities[order].astype(np.float32))
