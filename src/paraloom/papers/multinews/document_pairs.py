"""Document pairs as MultiNews makes them: ratios of sentences and words and shared names, of all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.alignment.candidates import word_counts
from paraloom.alignment.document_evidence import image_vectors
from paraloom.alignment.document_features import Documents
from paraloom.alignment.document_pairs import DocumentPair
from paraloom.text.segments import count_sentences

Floats = npt.NDArray[np.float64]

# Source documents that are compared with all targets at a time.
_BLOCK = 512


class MultiNewsScores(NamedTuple):
    """The scores of some source documents with all m targets, 0 to 1 each, float64 (rows, m)."""

    first: int
    sentences: Floats
    words: Floats
    entities: Floats

    @property
    def total(self) -> Floats:
        """A = S + W + N."""
        return self.sentences + self.words + self.entities


def all_scores(source: Documents, target: Documents) -> Iterator[MultiNewsScores]:
    """The scores of all pairs, a block of source documents at a time.

    Numbers of words are compared as they are, although one language may need more of them.  Named entities are
    recognized by their spelling (`document_features.entities`), and match if they are spelled the same. See Afli, Lohar
    and Way 2017 (MultiNews), equations 1 to 4.
    """
    from scipy import sparse

    sentences = [_sentence_counts(side) for side in (source, target)]
    words = [side.words.lengths.astype(np.float64) for side in (source, target)]
    columns = np.unique(np.concatenate([source.entities.ids, target.entities.ids]))
    names = [word_counts(side.entities, columns).minimum(1) for side in (source, target)]
    counts = [np.asarray(side.sum(axis=1), np.float64).ravel() for side in names]
    transposed = sparse.csr_matrix(names[1].T)
    for first in range(0, len(source), _BLOCK):
        rows = slice(first, first + _BLOCK)
        matched = (names[0][rows] @ transposed).toarray().astype(np.float64)
        share = matched / np.maximum(counts[0][rows, None], 1)
        yield MultiNewsScores(
            first,
            _ratio(sentences[0][rows], sentences[1]),
            _ratio(words[0][rows], words[1]),
            share * _ratio(counts[0][rows], counts[1]),
        )


def pair_by_scores(source: Documents, target: Documents, pictures: float = 0.0) -> list[DocumentPair]:
    """The best target of each source document by MultiNews' score, the first of equals; sources may share one."""
    if not len(target):
        return []
    images = image_vectors(source, target) if pictures else None
    pairs = []
    for block in all_scores(source, target):
        total = block.total
        if images is not None:
            rows = images.source[block.first : block.first + len(total)]
            total = total + pictures * (rows @ images.target.T).toarray()
        pairs += best_pairs(source, target, block.first, total)
    return pairs


def best_pairs(source: Documents, target: Documents, first: int, scores: Floats) -> list[DocumentPair]:
    """The best target of each of some source documents."""
    best = scores.argmax(axis=1)
    rows = np.arange(len(scores))
    top = scores[rows, best]
    others = scores.copy()
    others[rows, best] = -np.inf
    second = others.max(axis=1) if scores.shape[1] > 1 else np.zeros(len(scores))
    names = [target.ids[index] for index in best.tolist()]
    figures = zip(top.tolist(), (top - second).tolist(), strict=True)
    return [
        DocumentPair(source.ids[first + row], names[row], score, margin) for row, (score, margin) in enumerate(figures)
    ]


def _sentence_counts(documents: Documents) -> Floats:
    paragraphs = documents.read_paragraphs(range(len(documents)))
    counts = [sum(map(count_sentences, paragraphs[index])) for index in range(len(documents))]
    return np.array(counts, np.float64)


def _ratio(a: Floats, b: Floats) -> Floats:
    """The smaller of each two numbers over the greater, (len(a), len(b)); 0 where one is 0."""
    ratio: Floats = np.minimum(a[:, None], b[None]) / np.maximum(np.maximum(a[:, None], b[None]), 1)
    return ratio


def pair_documents(
    source: Documents, target: Documents, *, threshold: float | None, topics: int, pictures: float, seed: int
) -> list[DocumentPair]:
    """The method 'multinews' of the stage `align-documents`; of its settings, it has a use for pictures only."""
    return pair_by_scores(source, target, pictures)
