"""Syntactic control of paraphrases: how many have the template that was asked for, how far the others are from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from paraloom.core.digests import signature
from paraloom.core.results import ResultRecord, text_table
from paraloom.core.stats import wilson_interval
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.resampling import mean_scores, sample_counts, with_interval
from paraloom.text.normalize import is_copy
from paraloom.text.trees import skeleton, tree_edit_distance


@dataclass(frozen=True)
class ControlRow(ResultRecord):
    """Control of one system by templates of a height, in levels below ROOT; shares are 0 to 1, intervals of 95 %.

    Args:
        exact: Share of the outputs whose own tree, cut to the height, is the template (Wilson's interval). One that
            cannot be parsed does not count as exact.
        distance: Mean tree edit distance between both, of outputs that can be parsed; 0 is equal. None if none can.
        copies: Share of the outputs that are their source, but for case, spaces and punctuation.
        meaning: Mean similarity of outputs to their sources, −1 to 1; None where it was not measured.
        valid: Share of the templates that were forced on the model that are well-formed and have only labels it knows;
            it paraphrases freely instead of the others. None where no template was forced.
    """

    system: str
    height: int
    n: int
    exact: float
    interval: tuple[float, float]
    distance: float | None
    parsed: float
    copies: float
    meaning: float | None = None
    valid: float | None = None
    distance_interval: tuple[float, float] | None = None
    meaning_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class ControlResult(EvaluationResult):
    """A row for each system and height; parser, heights and what the sentences are."""

    rows: tuple[ControlRow, ...]
    signature: str

    def format(self) -> str:
        """A line for each system and height, then the signature."""
        head = ("system", "height", "exact", "95 %", "TED", "95 %", "parsed", "copies", "meaning", "95 %", "valid")
        lines = []
        for row in self.rows:
            low, high = (100 * end for end in row.interval)
            lines.append(
                (
                    row.system,
                    str(row.height),
                    f"{row.exact:.1%}",
                    f"{low:.1f} to {high:.1f}",
                    "" if row.distance is None else f"{row.distance:.2f}",
                    _interval(row.distance_interval, 2),
                    f"{row.parsed:.1%}",
                    f"{row.copies:.1%}",
                    "" if row.meaning is None else f"{row.meaning:.3f}",
                    _interval(row.meaning_interval, 3),
                    "" if row.valid is None else f"{row.valid:.1%}",
                )
            )
        return "\n".join([*text_table(head, lines), self.signature])


def evaluate_control(
    system: str,
    templates: Sequence[str],
    trees: Sequence[str | None],
    *,
    height: int,
    sources: Sequence[str],
    outputs: Sequence[str],
    similarities: Sequence[float] | None = None,
    valid: float | None = None,
    seed: int = 1,
) -> ControlRow:
    """Compare the trees of outputs with the templates that they were to have."""
    if not templates:
        raise ValueError("no sentences to evaluate")
    cuts = [None if tree is None else skeleton(tree, height) for tree in trees]
    distances = [
        tree_edit_distance(cut, template) for cut, template in zip(cuts, templates, strict=True) if cut is not None
    ]
    exact = sum(cut == template for cut, template in zip(cuts, templates, strict=True))
    copies = sum(map(is_copy, sources, outputs))
    n = len(templates)
    return ControlRow(
        system,
        height,
        n,
        exact / n,
        wilson_interval(exact, n),
        fmean(distances) if distances else None,
        len(distances) / n,
        copies / n,
        None if similarities is None else fmean(similarities),
        valid,
        _mean_interval(distances, seed),
        _mean_interval(similarities, seed),
    )


def control_signature(parser: str, heights: Sequence[int], seed: int, only_different: bool = False) -> str:
    """The signature of a table: what trees are from, how they are compared, and which sentences were drawn."""
    return signature(
        "control",
        heights="+".join(map(str, heights)),
        distance="zhang-shasha",
        pairs="different" if only_different else "all",
        seed=seed,
        parser=f"[{parser}]",
    )


def _mean_interval(values: Sequence[float] | None, seed: int) -> tuple[float, float] | None:
    if not values:
        return None
    estimate = with_interval(mean_scores(values, sample_counts(len(values), seed=seed)))
    return estimate.low, estimate.high


def _interval(ends: tuple[float, float] | None, digits: int) -> str:
    return "" if ends is None else f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f}"
