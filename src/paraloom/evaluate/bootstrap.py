"""Bootstrap intervals of corpus scores and of means, from samples that all figures of a test share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.seeds import generator
from paraloom.core.stats import Estimate
from paraloom.evaluate.resampling import SAMPLES, Floats, percentile_interval


def sample_counts(n: int, samples: int = SAMPLES, seed: int = 1) -> npt.NDArray[np.int64]:
    """Count how often each sentence is in each bootstrap sample.

    Holds the result, 8 bytes for each sentence and sample (8 kB a sentence with 1,000 samples), and one sample more.
    """
    random = generator(seed, n)
    counts = np.empty((samples, n), np.int64)
    for row in counts:
        row[:] = np.bincount(random.integers(n, size=n), minlength=n)
    return counts


def corpus_scores(
    metric: Any,
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    counts: npt.NDArray[np.int64],
) -> Floats:
    """The score of a whole test by a sacreBLEU metric, then of each sample."""
    width = max(map(len, references))
    streams = [[one[number] if number < len(one) else None for one in references] for number in range(width)]
    statistics = np.array(metric._extract_corpus_statistics(list(hypotheses), streams))
    sums = np.vstack([statistics.sum(axis=0), counts @ statistics])
    return np.array([metric._compute_score_from_stats(row.tolist()).score for row in sums])


def mean_scores(values: Sequence[float], counts: npt.NDArray[np.int64]) -> Floats:
    """The mean of a figure of each sentence over the test, then over each sample."""
    figures = np.asarray(values, np.float64)
    return np.concatenate([[figures.mean()], counts @ figures / len(figures)])


def with_interval(scores: Floats) -> Estimate:
    """The first of some scores with the 95 % interval of the others."""
    return Estimate(float(scores[0]), *percentile_interval(scores[1:]))
