"""BLEU and chrF of translations by sacreBLEU, with intervals and signatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paraloom.core.errors import DataError
from paraloom.core.optional import OptionalModule
from paraloom.evaluate.base import EvaluationResult
from paraloom.text.sequences import list_of_strings

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

sacrebleu = OptionalModule("sacrebleu.metrics", "evaluating translations", "evaluate")

_SAMPLES = 1000


@dataclass(frozen=True)
class MetricScore:
    score: float
    interval: float | None
    signature: str


@dataclass(frozen=True)
class TranslationResult(EvaluationResult):
    """Result of `evaluate_translation`."""

    n: int
    bleu: MetricScore  # Corpus BLEU
    chrf: MetricScore  # Corpus chrF

    def to_dict(self) -> dict[str, Any]:
        """`n`, `bleu`, `bleu_interval`, `bleu_signature`, and the same of `chrf`, as json.dumps takes them."""
        figures: dict[str, object] = {"n": self.n}
        for name, metric in (("bleu", self.bleu), ("chrf", self.chrf)):
            figures[name] = metric.score
            figures[f"{name}_interval"] = metric.interval
            figures[f"{name}_signature"] = metric.signature
        return figures

    def format(self) -> str:
        return "\n".join(
            f"{name} {metric.score:.2f}{format_margin(metric.interval, 2)}   {metric.signature}"
            for name, metric in (("BLEU", self.bleu), ("chrF", self.chrf))
        )


def evaluate_translation(hypotheses: Sequence[str], references: Sequence[str]) -> TranslationResult:
    """Measure corpus BLEU and chrF with sacreBLEU's defaults.

    Args:
        hypotheses: n translations, detokenized.
        references: A reference for each.

    Returns:
        The scores with 95 % intervals from 1,000 bootstrap samples of the sentences.

    Raises:
        TypeError: A single string in place of a list.
        DataError: There is not one reference for each hypothesis, or the lists are empty.
        MissingExtraError: sacreBLEU is not installed.

    Reference:
        Koehn 2004, Statistical Significance Tests for Machine Translation Evaluation (the intervals).

    Example:
        >>> evaluate_translation(["A dog runs."], ["A dog runs."]).bleu.signature[:17]
        'nrefs:1|bs:1000|s'
    """
    for name, texts in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(texts, str):
            raise TypeError(f"expected a list of texts as {name}, got str")
    hypotheses, references = list_of_strings(hypotheses), list_of_strings(references)
    if len(hypotheses) != len(references):
        raise DataError(
            f"expected one reference for each hypothesis, got {len(references)} for {len(hypotheses)} hypotheses",
            remedy="Give as many references as hypotheses, in the same order.",
        )
    if not hypotheses:
        raise DataError("no sentences to score", remedy="Give one hypothesis or more.")
    bleu, chrf = (_corpus_score(metric, hypotheses, [references]) for metric in (sacrebleu.BLEU(), sacrebleu.CHRF()))
    return TranslationResult(len(hypotheses), bleu, chrf)


def format_margin(interval: float | None, digits: int) -> str:
    return "" if interval is None else f" ± {interval:.{digits}f}"


def _corpus_score(metric: Metric, hypotheses: list[str], references: list[list[str]]) -> MetricScore:
    interval: float | None = None
    try:
        score = metric.corpus_score(hypotheses, references, n_bootstrap=_SAMPLES)
    except TypeError:  # sacreBLEU cannot average its own zeros with its other scores
        score = metric.corpus_score(hypotheses, references)
    else:
        interval = float(score._ci)
    return MetricScore(score.score, interval, str(metric.get_signature()))
