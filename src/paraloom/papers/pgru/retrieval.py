"""Paraphrase retrieval: how often an encoder finds the right paraphrase among N sentences."""

from __future__ import annotations

from collections.abc import Sequence

from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.papers.pgru.phrase_tasks import Similarity, phrase_vectors

# Rounding can separate the cosines of two equal vectors by some 1e-7; closer ones are a tie.
_TIE = 1e-6


def retrieval_accuracy(
    encoder: EncoderLike,
    queries: Sequence[str],
    paraphrases: Sequence[str],
    *,
    num_candidates: int = 100,
    seed: int = 1,
    similarity: Similarity = "cosine",
) -> float:
    """Share of the queries, 0 to 1, whose paraphrase is nearer than random candidates; a tie counts as wrong."""
    if len(queries) != len(paraphrases):
        raise DataError(
            f"expected one paraphrase for each query, got {len(paraphrases)} for {len(queries)} queries",
            remedy="Give as many paraphrases as queries, in the same order.",
        )
    distinct = {text: index for index, text in enumerate(dict.fromkeys(paraphrases))}
    if num_candidates < 2 or len(distinct) < num_candidates:
        raise DataError(
            f"{num_candidates} candidates are out of range for {len(distinct)} distinct paraphrases",
            remedy=f"Give more pairs, or ask for 2 to {len(distinct)} candidates.",
        )
    anchors, candidates = (phrase_vectors(encoder, list(texts), similarity) for texts in (queries, distinct))
    rng = generator(seed)
    correct = 0
    for anchor, text in zip(anchors, paraphrases, strict=True):
        own = distinct[text]
        others = rng.choice(len(distinct) - 1, num_candidates - 1, replace=False)
        others += others >= own
        correct += bool(candidates[own] @ anchor > (candidates[others] @ anchor).max() + _TIE)
    return correct / len(queries)
