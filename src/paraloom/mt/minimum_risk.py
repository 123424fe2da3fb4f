"""Minimum Bayes risk, and other sums of scores: the translations with the highest utility among samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paraloom.core.protocols import ScoringTranslatorLike, Variant
from paraloom.mt.decoding import Beam, Mbr
from paraloom.mt.utility import candidate_scores, sum_of_scores


def minimum_risk(
    samples: Sequence[Sequence[Variant]],
    further: Sequence[Sequence[Variant]],
    decoding: Mbr | Beam,
    sources: Sequence[str] = (),
    reverse: ScoringTranslatorLike | None = None,
) -> list[list[Variant]]:
    """Choose the translations with the highest utility."""
    groups = [[*drawn, *added] for drawn, added in zip(samples, further, strict=True)]
    candidates = [[group[number] for number in distinct_texts(group)] for group in groups]
    scores = candidate_scores(decoding.utility, candidates, samples, sources, reverse)
    chosen: list[list[Variant]] = []
    for group, of_group in zip(candidates, scores, strict=True):
        if not group[0].tokens:
            chosen.append(group[:1])
            continue
        values = sum_of_scores(of_group)
        best = np.argsort(-values, kind="stable")[: decoding.nbest].tolist()
        chosen.append([group[index]._replace(utility=float(values[index])) for index in best])
    return chosen


def distinct_texts(variants: Sequence[Variant]) -> list[int]:
    """Numbers of the variants of distinct texts, likeliest first."""
    first: dict[str, int] = {}
    costs = [-np.nan_to_num(variant.logprob, nan=-np.inf) for variant in variants]
    for number in sorted(range(len(variants)), key=costs.__getitem__):
        # The same text may have been generated in other subwords: the likeliest represent it.
        first.setdefault(variants[number].text, number)
    return list(first.values())
