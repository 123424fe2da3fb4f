"""Systems compared on the same test with paired bootstrap intervals: encoders by Pearson's r, translators by BLEU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import signature
from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike
from paraloom.core.results import text_table
from paraloom.core.seeds import generator
from paraloom.core.stats import Estimate
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.correlation import pearson
from paraloom.evaluate.resampling import SAMPLES, Floats, percentile_interval, resampled_pearson
from paraloom.evaluate.sts import System, overlap_of, similarities
from paraloom.evaluate.sts_tasks import find_tasks, read_task
from paraloom.evaluate.translation import sacrebleu


@dataclass(frozen=True)
class EncoderComparison(EvaluationResult):
    """Result of `compare_encoders`, for k encoders, t tasks and b bootstrap samples.

    Args:
        names: The encoders.
        tasks: The tasks.
        pearson: float64 (k, t), Pearson's r × 100.
        resampled: float64 (b, k, t), the same of pairs drawn with replacement, the same pairs for every encoder.
        signature: What was measured and how.
    """

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    pearson: Floats
    resampled: Floats
    signature: str

    @property
    def means(self) -> list[Estimate]:
        """The mean over the tasks of each encoder, with its 95 % interval (percentiles of the samples)."""
        return [
            _with_interval(self.pearson[k].mean(), self.resampled[:, k].mean(axis=1)) for k in range(len(self.names))
        ]

    def difference(self, a: int, b: int) -> Estimate:
        """The mean of one encoder minus that of another, with its 95 % interval, narrow because pairs are shared."""
        resampled = self.resampled[:, a].mean(axis=1) - self.resampled[:, b].mean(axis=1)
        return _with_interval(self.pearson[a].mean() - self.pearson[b].mean(), resampled)

    @property
    def distances(self) -> Floats:
        """float64 (k, k): mean absolute difference of r × 100 over the tasks (PNMT Table 10)."""
        return np.abs(self.pearson[:, None] - self.pearson[None]).mean(axis=2)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the bootstrap samples, as json.dumps takes it."""
        return {
            "signature": self.signature,
            "tasks": list(self.tasks),
            "encoders": [
                {"name": name, "pearson": row.tolist(), "mean": mean.value, "low": mean.low, "high": mean.high}
                for name, row, mean in zip(self.names, self.pearson, self.means, strict=True)
            ],
            "mean_absolute_differences": self.distances.tolist(),
            "differences_from_first": [list(vars(self.difference(k, 0)).values()) for k in range(len(self.names))],
        }

    def format(self) -> str:
        """A plain-text table."""
        lines = [f"mean Pearson × 100 over {len(self.tasks)} tasks; minus the first encoder's"]
        rows = []
        for k, (name, mean) in enumerate(zip(self.names, self.means, strict=True)):
            difference = self.difference(k, 0).format("+.2f") if k else ""
            rows.append((name, mean.format(".2f"), difference))
        lines += text_table(["", "mean", "difference"], rows)
        lines += ["", "mean absolute difference of Pearson × 100 (PNMT Table 10: 2.2 to 2.9 between its encoders)"]
        distances = zip(self.names, self.distances, strict=True)
        lines += text_table(
            ["", *self.names], [(name, *(f"{figure:.2f}" for figure in row)) for name, row in distances]
        )
        return "\n".join([*lines, "", self.signature])


def compare_encoders(
    encoders: Mapping[str, EncoderLike],
    folder: str | Path,
    tasks: Iterable[str] | None = None,
    *,
    overlap: bool = False,
    resamples: int = SAMPLES,
    seed: int = 1,
) -> EncoderComparison:
    """Compare encoders on semantic textual similarity tasks with a paired bootstrap.

    Reference:
        Efron 1979, Bootstrap Methods: Another Look at the Jackknife.
    """
    root, present, _ = find_tasks(folder, tasks)
    data = [read_task(root, task) for task in present]
    systems: dict[str, System] = dict(encoders)
    if overlap:
        systems["overlap"] = overlap_of(data)
    exact = np.empty((len(systems), len(present)))
    resampled = np.empty((resamples, len(systems), len(present)))
    for index, pairs in enumerate(data):
        cosines = np.stack([similarities(system, pairs.first, pairs.second) for system in systems.values()])
        exact[:, index] = [100 * pearson(pairs.scores, row) for row in cosines]
        resampled[:, :, index] = resampled_pearson(pairs.scores, cosines, resamples, seed, index)
    how = signature("compare", tasks=len(present), correlation="pearson", bootstrap=resamples, seed=seed)
    return EncoderComparison(tuple(systems), tuple(task.name for task in present), exact, resampled, how)


@dataclass(frozen=True)
class TranslatorDifference:
    """Difference of two systems by one metric.

    Args:
        metric: `bleu` or `chrf`.
        system: The system.
        baseline: The system that it is compared with.
        value: The system's score minus the baseline's, in points; above 0 where the system is better.
        low: Lower end of the 95 % interval over the sentences of the test.
        high: Upper end of that interval.
        seeds: The difference of each training of the system from the mean of the baseline's: what the choice of the
            seed alone does, which the interval does not contain.
    """

    metric: str
    system: str
    baseline: str
    value: float
    low: float
    high: float
    seeds: tuple[float, ...]

    @property
    def significant(self) -> bool:
        """True if the interval excludes 0."""
        return self.low > 0 or self.high < 0

    def to_dict(self) -> dict[str, Any]:
        """The fields, with the lowest and highest of the seeds; the metric as `measure`, the baseline as `than`."""
        return {
            "measure": self.metric,
            "system": self.system,
            "than": self.baseline,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "lowest": min(self.seeds),
            "highest": max(self.seeds),
        }


@dataclass(frozen=True)
class TranslatorComparison(EvaluationResult):
    """Result of `compare_translators`.

    Args:
        differences: Of each pair of systems, each later one against each earlier one; BLEU first, then chrF.
        signature: What was measured and how.
    """

    differences: tuple[TranslatorDifference, ...]
    signature: str

    def format(self) -> str:
        """A line for each difference."""
        lines = [
            f"{one.metric}  {one.system} - {one.baseline}: {one.value:+.2f} ({one.low:+.2f} to {one.high:+.2f})"
            for one in self.differences
        ]
        return "\n".join([*lines, self.signature])


def compare_translators(
    systems: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[str],
    *,
    samples: int = SAMPLES,
    seed: int = 1,
) -> TranslatorComparison:
    """Compare translators on one test by BLEU and chrF (sacreBLEU's defaults) with a paired bootstrap.

    The samples are the same for all systems, so that sentences that are hard for all do not count as a difference.

    Reference:
        Koehn 2004, Statistical Significance Tests for Machine Translation Evaluation.
    """
    if not references:
        raise DataError("no sentences to compare translators by", remedy="Give one reference or more.")
    for name, trainings in systems.items():
        if not trainings or any(len(hypotheses) != len(references) for hypotheses in trainings):
            counts = [len(hypotheses) for hypotheses in trainings]
            raise DataError(
                f"expected {len(references)} translations by '{name}', got {counts or 'none'}",
                remedy="Compare translators that were evaluated on the same test.",
            )
    indices = generator(seed).integers(len(references), size=(samples, len(references)))
    counts_by_sample = np.stack([np.bincount(rows, minlength=len(references)) for rows in indices])
    differences: list[TranslatorDifference] = []
    metrics = _metrics()
    num_trainings = sum(len(trainings) for trainings in systems.values())
    with progress("comparing", len(metrics) * num_trainings, unit="trainings") as advance:
        for name, metric in metrics:
            scores = {}
            for system, trainings in systems.items():
                scores[system] = np.stack(
                    [_sample_scores(metric, hypotheses, references, counts_by_sample) for hypotheses in trainings]
                )
                advance(len(trainings))
            order = list(scores)
            differences += [
                _difference(name, order[later], order[earlier], scores)
                for later in range(len(order))
                for earlier in range(later)
            ]
    return TranslatorComparison(tuple(differences), _translator_signature(len(references), samples, seed))


def _translator_signature(sentences: int, samples: int, seed: int) -> str:
    metrics = {}
    for name, metric in _metrics():
        metric._extract_corpus_statistics([""], [[""]])  # sets the number of references
        metrics[name] = str(metric.get_signature()).replace("|", ",")
    return signature(
        "translator-differences", **{"sentences": sentences, "paired-samples": samples, "seed": seed}, **metrics
    )


def _metrics() -> tuple[tuple[str, Any], ...]:
    return ("bleu", sacrebleu.BLEU()), ("chrf", sacrebleu.CHRF())


def _sample_scores(
    metric: Any, hypotheses: Sequence[str], references: Sequence[str], counts: npt.NDArray[np.int64]
) -> Floats:
    """Scores of the whole test, then of each sample, float64 (1 + samples,); counts: int64 (samples, sentences)."""
    # As in sacrebleu.significance, which compares two systems of one training each.
    statistics = np.array(metric._extract_corpus_statistics(list(hypotheses), [list(references)]))
    sums = np.vstack([statistics.sum(axis=0), counts @ statistics])
    return np.array([metric._compute_score_from_stats(row).score for row in sums])


def _difference(metric: str, system: str, baseline: str, scores: Mapping[str, Floats]) -> TranslatorDifference:
    other = scores[baseline].mean(axis=0)
    difference = scores[system].mean(axis=0) - other
    low, high = np.percentile(difference[1:], (2.5, 97.5))
    seeds = tuple(float(training[0] - other[0]) for training in scores[system])
    return TranslatorDifference(metric, system, baseline, float(difference[0]), float(low), float(high), seeds)


def _with_interval(value: float, resampled: Floats) -> Estimate:
    return Estimate(float(value), *percentile_interval(resampled))
