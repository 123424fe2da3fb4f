"""Consensus of hypotheses: the expected chrF of a translation against samples, for minimum Bayes risk decoding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paraloom.text.buffers import code_points
from paraloom.text.characters import white_table
from paraloom.text.chrf import CHRF_ORDER, chrf_from_counts
from paraloom.text.ngram_kernels import prefixes_of, shared_ngrams, visible


def expected_chrf(hypotheses: Sequence[str], samples: Sequence[str]) -> npt.NDArray[np.float64]:
    """Compute the mean chrF of each hypothesis against samples of the translator.

    If the samples were all ways to translate a sentence, each as often as it is right, this would be the expected
    quality of the hypothesis. The n-grams of each text are counted once for all of its comparisons.

    Args:
        hypotheses: m translations of a sentence.
        samples: n samples; equal ones count as often as they were drawn.

    Returns:
        float64 `(m,)`, 0 to 100; 0 for a hypothesis without a visible character.

    Reference:
        Eikema and Aziz 2020, "Is MAP decoding all you need?"; Popović 2015 for chrF.

    Example:
        >>> expected_chrf(["a dog", "a cat"], ["a dog", "a dog", "the dog"]).round(1).tolist()
        [77.1, 5.7]
    """
    if not hypotheses or not samples:
        return np.zeros(len(hypotheses))
    texts, inverse = np.unique(np.array([*hypotheses, *samples], object), return_inverse=True)
    ours, (theirs, counts) = inverse[: len(hypotheses)], np.unique(inverse[len(hypotheses) :], return_counts=True)
    ids, offsets = visible(*code_points(texts.tolist()), white_table())
    lengths = np.diff(offsets)
    rows, columns = np.repeat(ours, len(theirs)), np.tile(theirs, len(ours))
    shared = shared_ngrams(prefixes_of(ids), offsets, rows, columns, CHRF_ORDER)
    scores = np.nan_to_num(chrf_from_counts(shared, lengths[rows], lengths[columns]))
    expected: npt.NDArray[np.float64] = scores.reshape(len(ours), len(theirs)) @ counts / counts.sum()
    return expected


def most_agreed(samples: Sequence[str], nbest: int = 1) -> list[int]:
    """The samples that agree best with all others, by expected chrF.

    Args:
        samples: n samples of a sentence.
        nbest: How many different ones.

    Returns:
        Indices of at most `nbest` different samples, best first; of equal ones the first.

    Example:
        >>> most_agreed(["a cat", "the dog", "a dog", "a dog"], nbest=2)
        [2, 1]
    """
    distinct = list(dict.fromkeys(samples))
    expected = expected_chrf(distinct, samples)
    order = np.argsort(-expected, kind="stable")[:nbest]
    return [samples.index(distinct[index]) for index in order]
