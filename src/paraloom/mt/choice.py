"""Choices among samples: the likeliest, those with the lowest risk, or those that are good and unlike each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from paraloom.core.protocols import Variant
from paraloom.mt.decoding import Decoding, Diverse, Mbr
from paraloom.mt.minimum_risk import distinct_texts, minimum_risk
from paraloom.text.choice import choose_diverse
from paraloom.text.utility import expected_utility, pairwise_similarity


def choose(decoding: Decoding, decoded: Callable[[Decoding], list[list[Variant]]]) -> list[list[Variant]]:
    """Draw the samples of a decoding that chooses among them, and choose."""
    assert decoding.proposal is not None
    samples = decoded(decoding.proposal)
    if isinstance(decoding, Mbr) and decoding.further is not None:
        return minimum_risk(samples, decoded(decoding.further), decoding)
    return choose_samples(samples, decoding)


def choose_samples(samples: Sequence[Sequence[Variant]], decoding: Decoding) -> list[list[Variant]]:
    """The samples that a decoding chooses."""
    if isinstance(decoding, Mbr):
        return minimum_risk(samples, [[] for _ in samples], decoding)
    if isinstance(decoding, Diverse):
        return diverse_variants(samples, decoding)
    penalty = decoding.length_penalty
    return [
        sorted(group, key=lambda one: one.logprob / max(1, one.tokens) ** penalty, reverse=True)[: decoding.nbest]
        for group in samples
    ]


class DiverseChoice(NamedTuple):
    """A variant that was chosen."""

    number: int
    utility: float | None


def diverse_variants(samples: Sequence[Sequence[Variant]], decoding: Diverse) -> list[list[Variant]]:
    """Choose the variants that are good and unlike each other."""
    chosen = diverse_choices(samples, decoding)
    return [
        [group[one.number]._replace(utility=one.utility) if group[one.number].tokens else group[0] for one in choices]
        for group, choices in zip(samples, chosen, strict=True)
    ]


def diverse_choices(samples: Sequence[Sequence[Variant]], decoding: Diverse) -> list[list[DiverseChoice]]:
    """The same choice as numbers of variants."""
    candidates = [distinct_texts(group) for group in samples]
    texts = [[group[number].text for number in of_group] for group, of_group in zip(samples, candidates, strict=True)]
    if decoding.quality == "probability":
        utilities = [np.full(len(group), np.nan) for group in texts]
    else:
        references = [[variant.text for variant in group] for group in samples]
        utilities = expected_utility(texts, references, decoding.metric)
    alike = pairwise_similarity(texts, decoding.metric)
    chosen: list[list[DiverseChoice]] = []
    for group, of_group, values, of_pairs in zip(samples, candidates, utilities, alike, strict=True):
        quality = [
            _quality(group[number], value, decoding.quality) for number, value in zip(of_group, values, strict=True)
        ]
        order = choose_diverse(np.array(quality, np.float64), of_pairs, decoding.nbest, weight=decoding.weight)
        known = [None if np.isnan(value) else float(value) for value in values]
        chosen.append([DiverseChoice(of_group[index], known[index]) for index in order])
    return chosen


def _quality(variant: Variant, utility: float, quality: str) -> float:
    """From 0 to 1."""
    probability = float(np.exp(min(0.0, variant.logprob / max(1, variant.tokens))))
    if quality == "probability":
        return float(np.nan_to_num(probability))
    known = 1.0 if quality == "utility" or np.isnan(probability) else probability
    return known * utility / 100
