"""Sentence alignment by Park et al. 2017: length, a constant, and the cosine of a translation and the other text."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import sparse

from paraloom.alignment.embeddings import BlockCosines, CosineEvidence
from paraloom.alignment.lengths import VARIANCE, LengthEvidence, log_probabilities
from paraloom.alignment.search import Band, Evidence, LogPriors, band_along, best_alignment, path_from_lengths
from paraloom.alignment.sentences import TextPair, to_beads
from paraloom.core.beads import MAX_BEAD_SIZE, Bead
from paraloom.text.tokens import TokenLists, tokenize

Floats = npt.NDArray[np.float64]

LENGTH, CONSTANT, COSINE = 0.04, 0.21, 0.75
"""λ1, λ2 and λ3 of Park et al. 2017, §4.2."""

# Boundaries on each side of the expected path, which lengths alone determine here.
_BAND_RADIUS = 64


def align_by_cosine(pair: TextPair, max_bead_size: int = MAX_BEAD_SIZE) -> list[Bead]:
    """Find the beads with the highest sum of λ1 log2 P(δ | match) + λ2 + λ3 cos(sources, targets).

    A baseline: `sentences.align` is more accurate.  An unaligned sentence has no cosine, and the δ of a sentence of
    mean length.

    Args:
        pair: The texts.  The cosine is between the words of the first source translation (of the source itself, where
            there is none) and those of the target.
        max_bead_size: Sentences on one side of a bead at most.

    Returns:
        The beads in order; every sentence is in one of them.

    Reference:
        Park, Dugast, Hong, Shin and Cha 2017 (PARK17), §4.2.
    """
    source, target = pair.source, pair.target
    if not source or not target:
        unaligned = [Bead((i,), ()) for i in range(len(source))]
        return unaligned + [Bead((), (j,)) for j in range(len(target))]
    characters = [np.array([len(text) for text in texts], np.float64) for texts in (source, target)]
    lengths = LengthEvidence(characters[0], characters[1], LENGTH / math.log(2))
    translated = pair.source_translations[0] if pair.source_translations else source
    evidence: list[Evidence] = [lengths, CosineEvidence(_word_counts(tokenize(translated), tokenize(target)), COSINE)]
    priors = np.full((max_bead_size + 1, max_bead_size + 1), CONSTANT)
    for side, ratio, cell in ((0, lengths.ratio, (1, 0)), (1, 1 / lengths.ratio, (0, 1))):
        deviation = math.sqrt((characters[side].mean() + 1) * ratio / VARIANCE)
        priors[cell] += LENGTH / math.log(2) * float(log_probabilities(np.array([deviation]))[0])
    priors[0, 2:] = priors[2:, 0] = -1e30

    def make_band(radius: int) -> Band:
        return band_along(path_from_lengths(*characters), len(target), radius, 8)

    log_priors = LogPriors(priors, (float(priors[1, 0]), float(priors[0, 1])))
    return to_beads(best_alignment(evidence, log_priors, len(source), len(target), make_band, _BAND_RADIUS))


def _word_counts(source: TokenLists, target: TokenLists) -> BlockCosines:
    """Counts of the words of each sentence, in columns shared by both texts."""
    columns, numbers = np.unique(np.concatenate([source.ids, target.ids]), return_inverse=True)
    words = numbers[: len(source.ids)], numbers[len(source.ids) :]
    sides = [
        sparse.csr_matrix((np.ones(len(side), np.float32), side, lists.offsets), (len(lists), len(columns)))
        for side, lists in zip(words, (source, target), strict=True)
    ]
    return BlockCosines(*sides)
