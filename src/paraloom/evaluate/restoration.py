"""Restoration of noisy texts: word error rate, chrF, exact texts, and clean texts that it left alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Levenshtein

from paraloom.core.errors import DataError
from paraloom.core.results import ResultRecord, markdown_table
from paraloom.core.stats import Estimate
from paraloom.evaluate.bootstrap import corpus_scores, mean_scores, sample_counts, with_interval
from paraloom.evaluate.resampling import SAMPLES
from paraloom.evaluate.translation import sacrebleu


@dataclass(frozen=True)
class Restoration(ResultRecord):
    """Figures of a system on noisy texts whose clean form is known, and on the clean ones.

    Args:
        word_errors: Edits of words between outputs and clean texts, divided by the words of the clean texts; 0 or
            more. Words are what stands between spaces: case and punctuation count.
        chrf: chrF of the outputs, 0 to 100.
        exact: Share of the outputs that equal the clean text, 0 to 1.
        left_alone: Share of the clean texts that the system leaves as they are, 0 to 1.
    """

    word_errors: Estimate
    chrf: Estimate
    exact: Estimate
    left_alone: Estimate

    def format(self) -> str:
        """A line with the four figures and their 95 % intervals."""
        return "; ".join(f"{name.replace('_', ' ')} {figure.format()}" for name, figure in vars(self).items())


def measure_restoration(
    outputs: Sequence[str],
    clean: Sequence[str],
    outputs_of_clean: Sequence[str],
    *,
    samples: int = SAMPLES,
    seed: int = 1,
) -> Restoration:
    """Compare what a system wrote with clean texts."""
    if not clean or not len(outputs) == len(clean) == len(outputs_of_clean):
        raise DataError(
            f"expected as many outputs as clean texts, at least one, got {len(outputs)} and {len(outputs_of_clean)} "
            f"outputs for {len(clean)} texts"
        )
    counts = sample_counts(len(clean), samples, seed)
    edits = [Levenshtein.distance(one.split(), other.split()) for one, other in zip(outputs, clean, strict=True)]
    lengths = [max(1, len(text.split())) for text in clean]
    edit_sums, length_sums = (np.array([sum(values), *(counts @ np.array(values))]) for values in (edits, lengths))
    return Restoration(
        with_interval(edit_sums / length_sums),
        with_interval(corpus_scores(sacrebleu.CHRF(), outputs, [[text] for text in clean], counts)),
        with_interval(mean_scores(_equal(outputs, clean), counts)),
        with_interval(mean_scores(_equal(outputs_of_clean, clean), counts)),
    )


def _equal(firsts: Sequence[str], seconds: Sequence[str]) -> list[float]:
    return [float(one == other) for one, other in zip(firsts, seconds, strict=True)]


def restoration_table(results: dict[str, Restoration]) -> str:
    """A Markdown table of systems."""
    header = ["system", "word error rate", "chrF", "exact", "clean text left alone"]
    rows = [(name, *(figure.format() for figure in vars(result).values())) for name, result in results.items()]
    return "\n".join(markdown_table(header, rows, left=5))
