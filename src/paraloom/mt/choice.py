"""Choices among samples: the likeliest, those with the lowest risk, or those that are good and unlike each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from paraloom.core.protocols import ScoringTranslatorLike, Variant
from paraloom.mt.decoding import Beam, Decoding, Diverse, Mbr
from paraloom.mt.utility import (
    REVERSE,
    candidate_scores,
    parse_utility,
    product_of_scores,
    reverse_translator,
    sum_of_scores,
)
from paraloom.text.utility import pairwise_similarity


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


Floats = npt.NDArray[np.float64]


def choose_diverse(quality: Floats, alike: Floats, k: int, *, weight: float = 0.5) -> list[int]:
    """Choose k of n, one by one, by quality ** weight × (1 − likeness to those chosen) ** (1 − weight)."""
    unlike = np.ones(len(quality))
    left = np.ones(len(quality), np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(k, len(quality)):
        values = np.where(left, quality**weight * unlike ** (1 - weight), -1.0)
        best = int(values.argmax())
        chosen.append(best)
        left[best] = False
        unlike = np.minimum(unlike, 1 - np.clip(alike[best], 0.0, 1.0))
    return chosen


def choose(
    decoding: Decoding,
    decoded: Callable[[Decoding], list[list[Variant]]],
    sources: Sequence[str],
    languages: tuple[str | None, str | None],
) -> list[list[Variant]]:
    """Draw the samples of a decoding that chooses among them, and choose."""
    assert decoding.proposal is not None
    samples = decoded(decoding.proposal)
    further = decoded(decoding.further) if isinstance(decoding, Mbr) and decoding.further is not None else ()
    return choose_samples(samples, decoding, sources, languages, further)


def choose_samples(
    samples: Sequence[Sequence[Variant]],
    decoding: Decoding,
    sources: Sequence[str] = (),
    languages: tuple[str | None, str | None] = (None, None),
    further: Sequence[Sequence[Variant]] = (),
) -> list[list[Variant]]:
    """The samples that a decoding chooses."""
    if isinstance(decoding, (Beam, Mbr, Diverse)):
        reverse = None
        if REVERSE in parse_utility(decoding.utility):
            reverse = reverse_translator(decoding.reverse, *languages)
        if not isinstance(decoding, Diverse):
            return minimum_risk(samples, further or [[] for _ in samples], decoding, sources, reverse)
        return diverse_variants(samples, decoding, sources, reverse)
    penalty = decoding.length_penalty
    return [
        sorted(group, key=lambda one: one.logprob / max(1, one.tokens) ** penalty, reverse=True)[: decoding.nbest]
        for group in samples
    ]


def diverse_variants(
    samples: Sequence[Sequence[Variant]],
    decoding: Diverse,
    sources: Sequence[str] = (),
    reverse: ScoringTranslatorLike | None = None,
) -> list[list[Variant]]:
    """Choose the variants that are good and unlike each other."""
    candidates = [[group[number] for number in distinct_texts(group)] for group in samples]
    scores = candidate_scores(decoding.utility, candidates, samples, sources, reverse)
    alike = pairwise_similarity([[one.text for one in group] for group in candidates], decoding.metric)
    chosen: list[list[Variant]] = []
    for group, drawn, of_scores, of_pairs in zip(candidates, samples, scores, alike, strict=True):
        quality = product_of_scores(of_scores)
        order = choose_diverse(quality, of_pairs, decoding.nbest, weight=decoding.weight)
        chosen.append(
            [
                group[index]._replace(utility=100 * float(quality[index])) if group[index].tokens else drawn[0]
                for index in order
            ]
        )
    return chosen
