"""Translators compared on one test by BLEU and chrF with paired bootstrap intervals, and the stage that does it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.progress import progress
from paraloom.core.seeds import generator
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.evaluate.resampling import SAMPLES, Floats, corpus_scores, percentile_interval
from paraloom.evaluate.translation import sacrebleu
from paraloom.io import Corpus, read_lines
from paraloom.text.normalize import normalize


@dataclass(frozen=True)
class TranslatorDifference:
    """The score of a system by `bleu` or `chrf` minus that of a baseline, in points, with its 95 % interval.

    The interval is over the sentences of the test; `seeds` are the differences of each training of the system from the
    mean of the baseline's: what the choice of the seed alone does, which the interval does not contain.
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

    def to_dict(self) -> dict[str, Json]:
        """The fields, rounded, with the lowest and highest of the seeds; `measure` and `than`: metric, baseline."""
        values = (self.value, self.low, self.high, min(self.seeds), max(self.seeds))
        rounded = zip(("value", "low", "high", "lowest", "highest"), (round(value, 3) for value in values), strict=True)
        return {"measure": self.metric, "system": self.system, "than": self.baseline, **dict(rounded)}


class TranslatorComparison(NamedTuple):
    """Differences of each later system from each earlier one, BLEU first, and how they were measured."""

    differences: tuple[TranslatorDifference, ...]
    signature: str


def compare_translators(
    systems: Mapping[str, Sequence[Sequence[str]]], references: Sequence[str], *, samples: int = SAMPLES, seed: int = 1
) -> TranslatorComparison:
    """Compare translators on one test by BLEU and chrF with a paired bootstrap, of the same samples for all."""
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
    references_of = [[reference] for reference in references]
    differences: list[TranslatorDifference] = []
    signatures = {}
    with progress("comparing", 2 * sum(map(len, systems.values())), unit="trainings") as advance:
        for name, metric in (("bleu", sacrebleu.BLEU()), ("chrf", sacrebleu.CHRF())):
            scores: dict[str, Floats] = {}
            for system, trainings in systems.items():
                scores[system] = np.stack(
                    [corpus_scores(metric, hypotheses, references_of, counts_by_sample) for hypotheses in trainings]
                )
                advance(len(trainings))
            signatures[name] = str(metric.get_signature()).replace("|", ",")
            names = list(scores)
            differences += [
                _difference(name, system, baseline, scores)
                for number, system in enumerate(names)
                for baseline in names[:number]
            ]
    how = {"sentences": len(references), "paired-samples": samples, "seed": seed}
    return TranslatorComparison(tuple(differences), signature("translator-differences", **how, **signatures))


def _difference(metric: str, system: str, baseline: str, scores: Mapping[str, Floats]) -> TranslatorDifference:
    other = scores[baseline].mean(axis=0)
    difference = scores[system].mean(axis=0) - other
    low, high = percentile_interval(difference[1:])
    seeds = tuple(float(training[0] - other[0]) for training in scores[system])
    return TranslatorDifference(metric, system, baseline, float(difference[0]), low, high, seeds)


@dataclass(frozen=True, kw_only=True)
class CompareTranslators(Fit):
    """Compares translators: differences of BLEU and chrF, with paired bootstrap intervals.

    Args:
        evaluations: Stages `evaluate-translator` on the same test pairs.
        names: Name of the system of each evaluation. Evaluations with the same name are trainings of one system with
            several seeds.
        pairs: The test pairs.

    Raises:
        ConfigError: There are not as many `names` as `evaluations`, or fewer than two systems.

    Reference:
        Koehn 2004, "Statistical significance tests for machine translation evaluation".

    Example:
        >>> CompareTranslators(evaluations=["bleu-a", "bleu-b"], names=["a", "b"], pairs="test").pairs
        'test'
    """

    version: ClassVar[str] = "2"

    evaluations: tuple[Ref, ...]
    names: tuple[str, ...]
    pairs: Ref

    def validate(self) -> None:
        if len(self.names) != len(self.evaluations):
            raise ConfigError(
                f"key 'names' must have an entry for each of {len(self.evaluations)} evaluations, not {len(self.names)}"
            )
        if len(set(self.names)) < 2:
            raise ConfigError("key 'names' must name two systems or more, not one")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json, a row for each pair of systems and measure; return the differences of BLEU as text."""
        systems: dict[str, list[Sequence[str]]] = {}
        for name, path in zip(self.names, context.paths("evaluations"), strict=True):
            systems.setdefault(name, []).append(list(read_lines(path / "hypotheses.txt")))
        references: list[str] = []
        for batch in Corpus.open(context.inputs["pairs"]).batches(["tgt"]):
            references += normalize(batch.column("tgt")).to_pylist()
        comparison = compare_translators(systems, references)
        rows = [row.to_dict() for row in comparison.differences]
        result = {"differences": rows, "signature": comparison.signature}
        (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return {
            f"{row.system} - {row.baseline}": f"{row.value:+.2f} ({row.low:+.2f} to {row.high:+.2f})"
            for row in comparison.differences
            if row.metric == "bleu"
        }
