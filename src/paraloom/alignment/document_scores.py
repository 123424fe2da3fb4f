"""Scores of candidate pairs of documents: each kind of evidence finds its own candidates, and all are scored."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from paraloom.alignment.assignment import assign, margins
from paraloom.alignment.candidates import (
    CandidatePairs,
    dot_products,
    nearest_dense_pairs,
    nearest_of_all,
    nearest_pairs,
    union,
)
from paraloom.alignment.document_evidence import (
    DenseVectors,
    DocumentVectors,
    Lexicons,
    address_vectors,
    dense_cosines,
    encoder_vectors,
    image_vectors,
    link_vectors,
    multinews_scores,
    topic_unit_vectors,
    word_vectors,
)
from paraloom.alignment.document_features import Documents
from paraloom.core.array_types import Floats

if TYPE_CHECKING:
    from scipy import sparse

Vectors = TypeVar("Vectors")

CONTENT = ("words", "pictures")
"""Evidence by sparse vectors of the content of documents; candidates are the nearest by its weighted sum."""

SITE = ("addresses", "links")
"""Evidence that depends on how a site is built; how much it counts is measured on the pairs that the content shows."""

RATIOS = ("sentences", "size", "length", "entities")
"""Scores of MultiNews, which find no candidates, but compare all pairs where there is nothing else."""

KINDS = (*CONTENT, "topics", "encoder", *RATIOS, *SITE)
"""All kinds of evidence."""


def score_candidates(
    source: Documents,
    target: Documents,
    lexicons: Lexicons,
    weights: Mapping[str, float],
    max_candidates: int,
    seed: int,
) -> tuple[CandidatePairs, Floats]:
    """The candidates of each document by the evidence that has a weight, and their scores, all above 0."""
    weights = {name: weight for name, weight in weights.items() if weight}
    makers: dict[str, Callable[[], DocumentVectors | None]] = {
        "words": partial(word_vectors, source, target, lexicons),
        "pictures": partial(image_vectors, source, target),
        "addresses": partial(address_vectors, source, target),
        "links": partial(link_vectors, source, target),
    }
    dense_makers: dict[str, Callable[[], DenseVectors | None]] = {
        "encoder": partial(encoder_vectors, source, target),
        "topics": partial(topic_unit_vectors, source, target, lexicons, seed),
    }
    sparse_vectors = _computed(makers, weights)
    dense_vectors = _computed(dense_makers, weights)
    sets = _nearest(sparse_vectors, dense_vectors, weights, max_candidates)
    ratios = [name for name in RATIOS if name in weights]
    if ratios and not sets:
        sets.append(_nearest_by_ratios(source, target, weights, max_candidates))
    pairs = union(sets, len(target))
    evidence = {name: dot_products(*vectors, pairs) for name, vectors in sparse_vectors.items()}
    evidence |= {name: dense_cosines(vectors, pairs) for name, vectors in dense_vectors.items()}
    compared = multinews_scores(source, target, pairs) if ratios else {}
    evidence |= {name: compared[name] for name in ratios}
    total = sum_evidence(evidence, weights, pairs, (len(source), len(target)))
    positive = total > 0
    return CandidatePairs(pairs.sources[positive], pairs.targets[positive]), total[positive]


def sum_evidence(
    evidence: Mapping[str, Floats], weights: Mapping[str, float], pairs: CandidatePairs, sizes: tuple[int, int]
) -> Floats:
    """The weighted sum of the evidence; the site's counts by its `reliability`, unless it is all there is."""
    total = np.zeros(len(pairs.sources))
    for name, values in evidence.items():
        if name not in SITE:
            total += weights[name] * values
    content = total.copy()
    alone = all(name in SITE for name in weights)
    for name, values in evidence.items():
        if name in SITE:
            trust = 1.0 if alone else reliability(pairs, content, values, sizes)
            total += weights[name] * trust * values
    return total


def reliability(pairs: CandidatePairs, content: Floats, values: Floats, sizes: tuple[int, int]) -> float:
    """Excess similarity of addresses (or links) of the surer mutual best matches over any other document's, 0 to 1."""
    chosen = assign(pairs, content, sizes, "mutual")
    lead = margins(pairs, content, chosen, sizes)
    sure = chosen[lead >= np.median(lead)] if len(chosen) else chosen
    if not len(sure):
        return 0.0
    rivals = np.zeros(len(sure))
    for side, size in zip(pairs, sizes, strict=True):
        partner = np.full(size, -1)
        partner[side[sure]] = sure
        greatest = np.zeros(size)
        others = partner[side] != np.arange(len(side))
        np.maximum.at(greatest, side[others], values[others])
        rivals = np.maximum(rivals, greatest[side[sure]])
    return float(np.clip((values[sure] - rivals).mean(), 0, 1))


def _nearest(
    sparse_vectors: Mapping[str, DocumentVectors],
    dense_vectors: Mapping[str, DenseVectors],
    weights: Mapping[str, float],
    max_candidates: int,
) -> list[CandidatePairs]:
    """The candidates by each kind of vectors; those of the content by its weighted sum."""
    sets = [nearest_dense_pairs(*vectors, max_candidates) for vectors in dense_vectors.values()]
    content = [name for name in CONTENT if name in sparse_vectors]
    if content:
        sets.append(nearest_pairs(*_stack(sparse_vectors, weights, content), max_candidates))
    return sets + [nearest_pairs(*sparse_vectors[name], max_candidates) for name in SITE if name in sparse_vectors]


def _computed(makers: Mapping[str, Callable[[], Vectors | None]], names: Container[str]) -> dict[str, Vectors]:
    """The vectors of the kinds of evidence with a weight, without those that the documents do not have."""
    vectors = {name: make() for name, make in makers.items() if name in names}
    return {name: sides for name, sides in vectors.items() if sides is not None}


def _stack(
    vectors: Mapping[str, DocumentVectors], weights: Mapping[str, float], names: list[str]
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Vectors whose product is the weighted sum of several kinds of evidence."""
    from scipy import sparse

    scales = [np.float32(weights[name] ** 0.5) for name in names]
    sides = zip(*(vectors[name] for name in names), strict=True)
    stacked = [
        sparse.hstack([side * scale for side, scale in zip(parts, scales, strict=True)], "csr") for parts in sides
    ]
    return stacked[0], stacked[1]


def _nearest_by_ratios(
    source: Documents, target: Documents, weights: Mapping[str, float], max_candidates: int
) -> CandidatePairs:
    """The best targets of each source by the scores of MultiNews, and the other way round, among all pairs."""

    def score(pairs: CandidatePairs) -> Floats:
        scores = multinews_scores(source, target, pairs)
        return sum((weights.get(name, 0.0) * values for name, values in scores.items()), np.zeros(len(pairs.sources)))

    return nearest_of_all(score, (len(source), len(target)), max_candidates)
