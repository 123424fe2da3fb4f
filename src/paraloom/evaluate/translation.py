"""BLEU and chrF of translations by sacreBLEU, with intervals and signatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.optional import OptionalModule
from paraloom.evaluate.base import EvaluationResult
from paraloom.text.characters import warn_of_words
from paraloom.text.sequences import list_of_strings

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

sacrebleu = OptionalModule("sacrebleu.metrics", "evaluating translations", "evaluate")

_SAMPLES = 1000
_TOKENIZER = "13a"


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


def evaluate_translation(
    hypotheses: Sequence[str], references: Sequence[str], *, tokenize: str = _TOKENIZER
) -> TranslationResult:
    """Measure corpus BLEU and chrF with sacreBLEU's defaults.

    Args:
        hypotheses: n translations, detokenized.
        references: A reference for each.
        tokenize: How sacreBLEU splits words for BLEU: 13a (the default) at spaces and punctuation; zh, ja-mecab,
            ko-mecab, char, flores200 and others.

    Returns:
        The scores with 95 % intervals from 1,000 bootstrap samples of the sentences.

    Raises:
        TypeError: A single string in place of a list.
        ConfigError: sacreBLEU does not have the tokenizer, or a package that it needs is missing.
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
    if tokenize == _TOKENIZER:
        warn_of_words(references, "the references", "BLEU with tok:13a (--tokenize has others, such as char)", "chrF")
    metrics = _bleu(tokenize), sacrebleu.CHRF()
    bleu, chrf = (_corpus_score(metric, hypotheses, [references]) for metric in metrics)
    return TranslationResult(len(hypotheses), bleu, chrf)


def format_margin(interval: float | None, digits: int) -> str:
    return "" if interval is None else f" ± {interval:.{digits}f}"


def _bleu(tokenize: str) -> Metric:
    """sacreBLEU's BLEU with a tokenizer."""
    if tokenize not in sacrebleu.BLEU.TOKENIZERS:
        raise ConfigError(
            f"unknown tokenizer '{tokenize}'{nearest(tokenize, sorted(sacrebleu.BLEU.TOKENIZERS))}",
            remedy=f"sacreBLEU has {', '.join(sacrebleu.BLEU.TOKENIZERS)}.",
        )
    try:
        metric: Metric = sacrebleu.BLEU(tokenize=tokenize)
    except (ImportError, RuntimeError, OSError) as error:  # some are fetched
        raise ConfigError(f"the tokenizer '{tokenize}' is not available: {str(error).strip()}") from None
    return metric


def _corpus_score(metric: Any, hypotheses: list[str], references: list[list[str]]) -> MetricScore:
    try:
        score = metric.corpus_score(hypotheses, references, n_bootstrap=_SAMPLES)
    except TypeError:  # sacreBLEU cannot average its own zeros, float, with its other scores of chrF, float32
        compute = metric._compute_score_from_stats

        def as_float(statistics: list[Any]) -> Any:
            score = compute(statistics)
            score.score = float(score.score)
            return score

        metric._compute_score_from_stats = as_float
        score = metric.corpus_score(hypotheses, references, n_bootstrap=_SAMPLES)
    return MetricScore(float(score.score), float(score._ci), str(metric.get_signature()))
