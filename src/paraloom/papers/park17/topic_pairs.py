"""Document pairs as PARK17 makes them: the cosine of topics, over all pairs of documents, and a threshold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.alignment.document_evidence import words_in_other_language
from paraloom.alignment.document_features import Documents
from paraloom.alignment.document_pairs import DocumentPair
from paraloom.alignment.topics import topic_vectors
from paraloom.papers.multinews.document_pairs import best_pairs

THRESHOLD = 0.5
"""θ of Park et al. 2017, §4.2."""

# Source documents that are compared with all targets at a time.
_BLOCK = 2048


def pair_by_topics(
    source: Documents, target: Documents, threshold: float = THRESHOLD, topics: int = 100, seed: int = 1
) -> list[DocumentPair]:
    """The target with the most similar topics of each source document, of all targets, where the cosine reaches θ.

    Topics are those of latent Dirichlet allocation over both sides together, the source's by its translation.  Without
    one its own words are compared, and only names and numbers tell topics. See Park et al. 2017 (PARK17), §3.1 and
    §4.2.
    """
    if not len(source) or not len(target):
        return []
    vectors = topic_vectors([words_in_other_language(source, None), target.words], topics, seed=seed)
    sides = [_unit_rows(side.astype(np.float64)) for side in vectors]
    pairs: list[DocumentPair] = []
    for first in range(0, len(source), _BLOCK):
        pairs += best_pairs(source, target, first, sides[0][first : first + _BLOCK] @ sides[1].T)
    return [pair for pair in pairs if pair.score >= threshold]


def _unit_rows(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    unit: npt.NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def pair_documents(
    source: Documents, target: Documents, *, threshold: float | None, topics: int, pictures: float, seed: int
) -> list[DocumentPair]:
    """The method 'park17' of the stage `align-documents`; it has no use for pictures."""
    return pair_by_topics(source, target, THRESHOLD if threshold is None else threshold, topics, seed)
