"""PARK17's alignment of sentences: length, a fixed part, and the cosine between a translation and the other text."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from paraloom.align.band import Band, band_along, path_of_lengths
from paraloom.align.block_cosines import BlockCosines, CosineMatch
from paraloom.align.lengths import VARIANCE, LengthMatch, log_probabilities
from paraloom.align.search import Evidence, Found, best_alignment
from paraloom.align.sentences import TextPair
from paraloom.core.beads import Bead
from paraloom.core.optional import OptionalModule
from paraloom.text.tokens import TokenLists, tokenize

sparse = OptionalModule("scipy.sparse", "the method 'park17'", "align")

Floats = npt.NDArray[np.float64]

LENGTH, FIXED, COSINE = 0.04, 0.21, 0.75
"""λ1, λ2 and λ3 of Park et al. 2017, §4.2."""

# Boundaries on each side of the expected path, which only lengths lead to here.
_RADIUS = 64


def align_by_cosine(pair: TextPair, most: int = 3) -> list[Bead]:
    """The beads with the highest sum of λ1 log2 P(δ | match) + λ2 + λ3 cos(sources, targets) (Park et al. 2017).

    The cosine is between the words of the sources' translations (the first of `pair.source_translations`; without one
    the sources' own) and those of the targets.  A sentence that stands alone has no cosine, and what a sentence of the
    mean length has for δ.  The formula is theirs; the better aligner of this library is paraloom.align.sentences.
    """
    source, target = pair.source, pair.target
    if not source or not target:
        alone = [Bead((i,), ()) for i in range(len(source))]
        return alone + [Bead((), (j,)) for j in range(len(target))]
    characters = [np.array([len(text) for text in texts], np.float64) for texts in (source, target)]
    lengths = LengthMatch(characters[0], characters[1], LENGTH / math.log(2))
    translated = pair.source_translations[0] if pair.source_translations else source
    evidence: list[Evidence] = [lengths, CosineMatch(word_rows(tokenize(translated), tokenize(target)), COSINE)]
    priors = np.full((most + 1, most + 1), FIXED)
    for side, ratio, place in ((0, lengths.ratio, (1, 0)), (1, 1 / lengths.ratio, (0, 1))):
        deviation = math.sqrt((characters[side].mean() + 1) * ratio / VARIANCE)
        priors[place] += LENGTH / math.log(2) * float(log_probabilities(np.array([deviation]))[0])
    priors[0, 2:] = priors[2:, 0] = -1e30

    def band(radius: int) -> Band:
        return band_along(path_of_lengths(*characters), len(target), radius, 8)

    return _beads(best_alignment(evidence, priors, len(source), len(target), band, _RADIUS))


def word_rows(source: TokenLists, target: TokenLists) -> BlockCosines:
    """The words of sentences as they are counted, in columns that both texts share."""
    columns, numbers = np.unique(np.concatenate([source.ids, target.ids]), return_inverse=True)
    parted = numbers[: len(source.ids)], numbers[len(source.ids) :]
    sides = [
        sparse.csr_matrix((np.ones(len(words), np.float32), words, lists.offsets), (len(lists), len(columns)))
        for words, lists in zip(parted, (source, target), strict=True)
    ]
    return BlockCosines(*sides)


def _beads(found: Found) -> list[Bead]:
    rows = zip(found.beads.tolist(), found.gains.tolist(), strict=True)
    return [Bead(tuple(range(i, i + a)), tuple(range(j, j + b)), gain) for (i, a, j, b), gain in rows]
