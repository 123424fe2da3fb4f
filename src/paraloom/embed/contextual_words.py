"""Word vectors out of the contexts of a transformer: the mean state of a word in sampled sentences, reduced by PCA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from paraloom.core.array_types import Ints
from paraloom.core.errors import ConfigError
from paraloom.core.progress import progress
from paraloom.embed.average import Vectors, normalize_vectors, principal_directions
from paraloom.embed.transformer import TransformerEncoder
from paraloom.embed.vocabulary import Vocabulary
from paraloom.text.tokens import token_strings

_CHUNK = 512


class ContextVectors(NamedTuple):
    """Mean contextual vectors of n words."""

    vectors: Vectors
    counts: Ints


def contextual_word_vectors(
    encoder: TransformerEncoder, texts: Iterable[pa.Array], words: Sequence[str], max_contexts: int
) -> ContextVectors:
    """Average the last states of each word in up to `max_contexts` of its sentences (Wada et al. 2025, §3.1)."""
    if max_contexts < 1:
        raise ConfigError(f"'max_contexts' is {max_contexts}; expected 1 or more")
    row_of = {word: row for row, word in enumerate(words)}
    sums = np.zeros((len(words) + 1, encoder.state_dimension), np.float32)
    counts = np.append(np.zeros(len(words), np.int64), max_contexts)
    with progress("encoding words in context", unit="sentences") as advance:
        for array in chain.from_iterable(map(_chunks, texts)):
            lists = token_strings(array).to_pylist()
            # Words that are not asked for have enough contexts from the start: their row is the last one.
            rows = [[row_of.get(word, -1) for word in sentence] for sentence in lists]
            wanted = [k for k, of in enumerate(rows) if any(counts[row] < max_contexts for row in of)]
            encoded = encoder.word_states([lists[k] for k in wanted])
            for k, (positions, states) in zip(wanted, encoded, strict=True):
                for position, state in zip(positions.tolist(), states, strict=True):
                    row = rows[k][position]
                    if counts[row] < max_contexts:
                        sums[row] += state
                        counts[row] += 1
            advance(len(lists))
    sums, counts = sums[:-1], counts[:-1]
    sums /= np.maximum(counts, 1)[:, None].astype(np.float32)
    return ContextVectors(sums, counts)


def _chunks(array: pa.Array) -> Iterator[pa.Array]:
    return (array[start : start + _CHUNK] for start in range(0, len(array), _CHUNK))


def reduce_by_sentences(vectors: Vectors, means: Vectors, dimension: int, num_removed: int) -> Vectors:
    """Project words on the principal components of sentences, without the first, common ones (Wada et al. 2025)."""
    width = vectors.shape[1]
    if num_removed + dimension > width:
        raise ConfigError(
            f"the encoder has {width} dimensions; {dimension} cannot be kept after {num_removed} were removed",
            remedy=f"Ask for {max(1, width - num_removed)} or fewer.",
        )
    center = means.mean(axis=0)
    centered = means - center
    kept = principal_directions(centered.T @ centered, dimension, skipped=num_removed)
    reduced: Vectors = (vectors - center) @ kept
    return reduced


def sentence_means(texts: Iterable[pa.Array], words: Sequence[str], vectors: Vectors) -> Vectors:
    """Mean vectors of sentences, of norm 1, float32 `(m, d)`; sentences without a known word are left out."""
    vocabulary, means = Vocabulary("word", words), []
    for array in texts:
        rows, offsets = vocabulary.row_lists(array)
        filled = offsets[:-1][np.diff(offsets) > 0]
        if len(filled):
            means.append(normalize_vectors(np.add.reduceat(vectors[rows], filled, axis=0)))
    return np.concatenate(means)
