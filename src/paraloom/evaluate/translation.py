"""BLEU and chrF of translations, through sacreBLEU, each with its signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paraloom.core.errors import DataError
from paraloom.core.optional import OptionalModule

sacrebleu = OptionalModule("sacrebleu.metrics", "evaluating translations", "evaluate")

_SAMPLES = 1000


def evaluate_translation(hypotheses: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """Corpus BLEU and chrF, 0 to 100, higher is better, of one hypothesis and one reference a sentence.

    Returns `{"n", "bleu", "bleu_interval", "bleu_signature"}` and the same of chrf; detokenised text goes in.  The
    interval is half the width of the 95 % interval, from 1,000 samples of the sentences drawn anew (Koehn 2004); None
    for translations so far off that some samples match nowhere.
    Raises DataError where the counts differ or there is nothing to score.

    >>> evaluate_translation(["A dog runs."], ["A dog runs."])["bleu_signature"][:17]
    'nrefs:1|bs:1000|s'
    """
    if len(hypotheses) != len(references):
        raise DataError(
            f"{len(hypotheses)} hypotheses stand against {len(references)} references",
            remedy="Give one hypothesis a reference, in the same order.",
        )
    if not hypotheses:
        raise DataError("there are no sentences to score")

    figures: dict[str, Any] = {"n": len(hypotheses)}
    for name, metric in (("bleu", sacrebleu.BLEU()), ("chrf", sacrebleu.CHRF())):
        found, interval = _with_interval(metric, list(hypotheses), [list(references)])
        figures[name] = found.score
        figures[f"{name}_interval"] = interval
        figures[f"{name}_signature"] = str(metric.get_signature())
    return figures


def by_group(
    groups: Sequence[Sequence[str]], measure: Callable[[Sequence[int]], dict[str, Any]]
) -> list[dict[str, Any]]:
    """What `measure` finds of the rows of each group, in the order of the groups' names; a row may be in several.

    groups: of each row, its groups' names.  measure: takes numbers of rows, from 0.

    >>> by_group([["a"], [], ["a", "b"]], lambda rows: {"n": len(rows)})
    [{'group': 'a', 'n': 2}, {'group': 'b', 'n': 1}]
    """
    rows: dict[str, list[int]] = {}
    for row, names in enumerate(groups):
        for name in names:
            rows.setdefault(name, []).append(row)
    return [{"group": name, **measure(rows[name])} for name in sorted(rows)]


def _with_interval(metric: Any, hypotheses: list[str], references: list[list[str]]) -> tuple[Any, float | None]:
    try:
        found = metric.corpus_score(hypotheses, references, n_bootstrap=_SAMPLES)
    except TypeError:  # sacreBLEU cannot average its own zeros with its other scores
        return metric.corpus_score(hypotheses, references), None
    return found, float(found._ci)
