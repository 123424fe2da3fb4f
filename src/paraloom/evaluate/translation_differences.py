"""Translators beside each other on one test: differences of BLEU and chrF, paired by the test's sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import signature
from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.seeds import generator
from paraloom.evaluate.translation import sacrebleu

SAMPLES = 1000
"""Times that the test's sentences are drawn anew."""


@dataclass(frozen=True)
class Difference:
    """How far one system is above another by one measure.

    value: the score of `system` less that of `than`, points; above 0 where `system` is better.  low, high: the 95 %
    interval, by the sentences of the test.  seeds: the difference of each training from the mean of the other system's,
    which says what the choice of the seed alone does; the interval does not hold that.
    """

    measure: str
    system: str
    than: str
    value: float
    low: float
    high: float
    seeds: tuple[float, ...]

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


def differences(
    systems: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[str],
    *,
    samples: int = SAMPLES,
    seed: int = 1,
) -> list[Difference]:
    """All pairs of systems, each later one against each earlier one, by BLEU and by chrF (sacreBLEU's defaults).

    systems: of each, what every training of it made of the test, sentence by sentence; a system's score is the mean
    over its trainings.  Sentences are drawn with replacement, the same ones for all (Koehn 2004), so that what is hard
    for both is not taken for a difference.

    Raises DataError where the sentences are not as many as the references, or there are none.

    >>> made = {"one": [["A dog runs off."]], "two": [["A dog runs."], ["A dog runs."]]}
    >>> [(each.measure, each.system, each.than, each.value > 0) for each in differences(made, ["A dog runs."])]
    [('bleu', 'two', 'one', True), ('chrf', 'two', 'one', True)]
    """
    if not references:
        raise DataError("there are no sentences to compare translators by")
    for name, trainings in systems.items():
        if not trainings or any(len(hypotheses) != len(references) for hypotheses in trainings):
            raise DataError(
                f"the translations of '{name}' are not one a reference, of which there are {len(references)}",
                remedy="Compare translators that were measured on the same test.",
            )
    drawn = generator(seed).integers(len(references), size=(samples, len(references)))
    times = np.stack([np.bincount(rows, minlength=len(references)) for rows in drawn])
    found = []
    metrics = _metrics()
    trained = sum(len(trainings) for trainings in systems.values())
    with progress("comparing", len(metrics) * trained, unit="trainings") as advance:
        for measure, metric in metrics:
            scores = {}
            for name, trainings in systems.items():
                scores[name] = np.stack([_scores(metric, hypotheses, references, times) for hypotheses in trainings])
                advance(len(trainings))
            names = list(scores)
            found += [
                _difference(measure, names[later], names[earlier], scores)
                for later in range(len(names))
                for earlier in range(later)
            ]
    return found


def differences_signature(sentences: int, *, samples: int = SAMPLES, seed: int = 1) -> str:
    """How `differences` came by its figures on a test of so many sentences.

    >>> differences_signature(400).startswith("translator-differences|sentences:400|paired-samples:1000|seed:1|bleu:")
    True
    """
    metrics = {}
    for measure, metric in _metrics():
        metric._extract_corpus_statistics([""], [[""]])  # says how many references there are
        metrics[measure] = str(metric.get_signature()).replace("|", ",")
    return signature(
        "translator-differences", **{"sentences": sentences, "paired-samples": samples, "seed": seed}, **metrics
    )


def _metrics() -> tuple[tuple[str, Any], ...]:
    return ("bleu", sacrebleu.BLEU()), ("chrf", sacrebleu.CHRF())


def _scores(
    metric: Any, hypotheses: Sequence[str], references: Sequence[str], times: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """float64 (1 + samples,): of the test as it is, then of each sample; times: int (samples, sentences)."""
    # As sacrebleu.significance takes them, which compares two systems of one training each.
    of_sentences = np.array(metric._extract_corpus_statistics(list(hypotheses), [list(references)]))
    sums = np.vstack([of_sentences.sum(axis=0), times @ of_sentences])
    return np.array([metric._compute_score_from_stats(row).score for row in sums])


def _difference(measure: str, system: str, than: str, scores: Mapping[str, npt.NDArray[np.float64]]) -> Difference:
    other = scores[than].mean(axis=0)
    apart = scores[system].mean(axis=0) - other
    low, high = np.percentile(apart[1:], (2.5, 97.5))
    seeds = tuple(float(training[0] - other[0]) for training in scores[system])
    return Difference(measure, system, than, float(apart[0]), float(low), float(high), seeds)
