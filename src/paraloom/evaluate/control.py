"""Syntactic control of paraphrases: how many have the template that was asked for, how far the others are from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from paraloom.core.digests import signature
from paraloom.core.stats import wilson_interval
from paraloom.evaluate.base import EvaluationResult
from paraloom.text.tree_distance import tree_edit_distance
from paraloom.text.trees import skeleton


@dataclass(frozen=True)
class ControlRow:
    """How well one system follows templates.

    Args:
        system: Its name.
        height: Height of the templates and of the trees that are compared, in levels below ROOT.
        n: Sentences.
        exact: Share of the outputs whose own tree, cut to the height, is the template; 0 to 1. One that cannot be
            parsed does not count as exact.
        interval: 95 % interval of `exact` (Wilson).
        distance: Mean tree edit distance between both, of outputs that can be parsed; 0 is equal. None if none can.
        parsed: Share of the outputs that can be parsed, 0 to 1.
        copies: Share of the outputs that are their source, but for case, spaces and punctuation; 0 to 1.
        meaning: Mean similarity of outputs to their sources, −1 to 1; None where it was not measured.
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

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return dict(vars(self))


@dataclass(frozen=True)
class ControlResult(EvaluationResult):
    """What a table of systems has in common.

    Args:
        rows: A row for each system and height.
        signature: Parser, heights and what the sentences are.
    """

    rows: tuple[ControlRow, ...]
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """The rows and the signature."""
        return {"rows": [row.to_dict() for row in self.rows], "signature": self.signature}

    def format(self) -> str:
        """A line for each system and height, then the signature."""
        head = f"{'system':<22} {'height':>6} {'exact':>7} {'95 %':>13} {'TED':>6}"
        lines = [f"{head} {'parsed':>7} {'copies':>7} {'meaning':>8}"]
        for row in self.rows:
            low, high = (100 * end for end in row.interval)
            distance = "" if row.distance is None else f"{row.distance:.2f}"
            meaning = "" if row.meaning is None else f"{row.meaning:.3f}"
            lines.append(
                f"{row.system:<22} {row.height:>6} {row.exact:>7.1%} {low:>5.1f} to {high:>4.1f} {distance:>6} "
                f"{row.parsed:>7.1%} {row.copies:>7.1%} {meaning:>8}".rstrip()
            )
        return "\n".join([*lines, self.signature])


def evaluate_control(
    system: str,
    templates: Sequence[str],
    trees: Sequence[str | None],
    *,
    height: int,
    sources: Sequence[str],
    outputs: Sequence[str],
    similarities: Sequence[float] | None = None,
) -> ControlRow:
    """Compare the trees of outputs with the templates that they were to have.

    Args:
        system: Name of the system.
        templates: n templates in canonical form, as `paraloom.text.trees.skeleton` cuts them.
        trees: Trees of the n outputs; None for one that cannot be parsed.
        height: Levels of the trees that are compared with the templates.
        sources: The n sentences that were paraphrased.
        outputs: The n outputs.
        similarities: Of each output to its source, such as cosines; None leaves meaning out.

    Returns:
        The row of the system.

    Example:
        >>> tree = "(S (NP (PRP It)) (VP (VBZ rains)))"
        >>> row = evaluate_control("ours", ["(S (NP) (VP))"], [tree], height=2, sources=["Rain."], outputs=["It rains"])
        >>> row.exact, row.distance
        (1.0, 0.0)
    """
    if not templates:
        raise ValueError("no sentences to evaluate")
    cuts = [None if tree is None else skeleton(tree, height) for tree in trees]
    distances = [
        tree_edit_distance(cut, template) for cut, template in zip(cuts, templates, strict=True) if cut is not None
    ]
    exact = sum(cut == template for cut, template in zip(cuts, templates, strict=True))
    copies = sum(_bare(source) == _bare(output) for source, output in zip(sources, outputs, strict=True))
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
    )


def control_signature(parser: str, heights: Sequence[int], seed: int, only_different: bool = False) -> str:
    """The signature of a table: what trees are from, how they are compared, and which sentences were drawn.

    Args:
        parser: Signature of the parser.
        heights: Heights that are compared.
        seed: Of the draw.
        only_different: Whether only pairs with different templates were drawn.
    """
    return signature(
        "control",
        heights="+".join(map(str, heights)),
        distance="zhang-shasha",
        pairs="different" if only_different else "all",
        seed=seed,
        parser=f"[{parser}]",
    )


def _bare(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())
