"""BLEU and chrF of translations, through sacreBLEU, each with its signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paraloom.core.errors import DataError


def evaluate_translation(hypotheses: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """Corpus BLEU and chrF, 0 to 100, higher is better, of one hypothesis and one reference a sentence.

    Returns `{"n", "bleu", "bleu_signature", "chrf", "chrf_signature"}`; detokenised text goes in.
    Raises DataError where the counts differ or there is nothing to score.

    >>> evaluate_translation(["A dog runs."], ["A dog runs."])["bleu_signature"][:17]
    'nrefs:1|case:mixe'
    """
    if len(hypotheses) != len(references):
        raise DataError(
            f"{len(hypotheses)} hypotheses stand against {len(references)} references",
            remedy="Give one hypothesis a reference, in the same order.",
        )
    if not hypotheses:
        raise DataError("there are no sentences to score")

    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    figures: dict[str, Any] = {"n": len(hypotheses)}
    for name, metric in (("bleu", BLEU()), ("chrf", CHRF())):
        figures[name] = metric.corpus_score(list(hypotheses), [list(references)]).score
        figures[f"{name}_signature"] = str(metric.get_signature())
    return figures
