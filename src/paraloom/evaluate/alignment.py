"""Alignments against gold standards: pairs of documents, and beads of sentences (strict, lax, and by size)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from paraloom.core.beads import Bead
from paraloom.core.digests import signature
from paraloom.evaluate.base import EvaluationResult

BeadSize = tuple[int, int]
"""Numbers of source and target sentences."""

_Indices = tuple[tuple[int, ...], tuple[int, ...]]


class PrecisionRecall(NamedTuple):
    """Precision and recall, 0 to 1, higher is better; 0 where undefined.

    Args:
        precision: Share of the predicted items that are correct.
        recall: Share of the gold items that were predicted.
        f1: Their harmonic mean.
    """

    precision: float
    recall: float
    f1: float

    @classmethod
    def of_counts(cls, correct: int, predicted: int, recovered: int, gold: int) -> PrecisionRecall:
        """Compute the figures from counts.

        Args:
            correct: Predicted items that are correct.
            predicted: Predicted items.
            recovered: Gold items that were predicted.
            gold: Gold items.

        Example:
            >>> PrecisionRecall.of_counts(1, 2, 1, 1)
            PrecisionRecall(precision=0.5, recall=1.0, f1=0.6666666666666666)
        """
        precision = correct / predicted if predicted else 0.0
        recall = recovered / gold if gold else 0.0
        total = precision + recall
        return cls(precision, recall, 2 * precision * recall / total if total else 0.0)

    def to_dict(self) -> dict[str, float]:
        """The fields by name."""
        return self._asdict()


@dataclass(frozen=True)
class DocumentScore(EvaluationResult):
    """What `score_documents` returns.

    Args:
        precision: Share of the predicted pairs that are correct, 0 to 1.
        recall: Share of the gold pairs that were predicted, 0 to 1.
        f1: Their harmonic mean.
        gold: Number of gold pairs.
    """

    precision: float
    recall: float
    f1: float
    gold: int

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return vars(self).copy()

    def format(self) -> str:
        """One line."""
        figures = f"precision {self.precision:.4f}  recall {self.recall:.4f}  f1 {self.f1:.4f}"
        return f"{figures}  of {self.gold:,} pairs"


@dataclass
class AlignmentScore(EvaluationResult):
    """Scores of sentence alignments over any number of pairs of texts: `add` each pair's beads, then read the figures.

    `strict` and `lax` are vecalign's.  A bead is correct strictly if the gold standard has it, laxly if it shares a
    sentence on each side with a gold bead.  Precision is over all beads, recall over gold beads with both sides.
    `exact` and `by_size` are PARK17's (Tables 4 and 5): all beads count, one-sided ones too, and must match exactly.

    Args:
        pairs: Number of pairs of texts so far.
        counts: Counts behind `strict` and `lax`.
        sizes: Correct, predicted and gold beads by size.

    Reference:
        Thompson and Koehn 2019 (vecalign); PARK17 Tables 4 and 5.

    Example:
        >>> score = AlignmentScore()
        >>> score.add([Bead((0,), (0,)), Bead((1,), (1, 2))], [Bead((0,), (0,)), Bead((1,), (1,)), Bead((), (2,))])
        >>> score.strict.f1, score.lax.recall
        (0.4, 1.0)
    """

    pairs: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    sizes: dict[str, Counter[BeadSize]] = field(
        default_factory=lambda: {"correct": Counter(), "predicted": Counter(), "gold": Counter()}
    )

    def add(self, gold: Iterable[Bead], predicted: Iterable[Bead]) -> None:
        """Count a pair of texts.

        Args:
            gold: The true beads.
            predicted: The beads of an aligner.
        """
        self.pairs += 1
        true = {(bead.source, bead.target) for bead in gold if bead.source or bead.target}
        beads = {(bead.source, bead.target) for bead in predicted if bead.source or bead.target}
        true_both, beads_both = ({(a, b) for a, b in side if a and b} for side in (true, beads))
        self.counts["predicted"] += len(beads)
        self.counts["predicted strict"] += len(beads & true)
        self.counts["predicted lax"] += _count_overlapping(beads, true)
        self.counts["gold"] += len(true_both)
        self.counts["gold strict"] += len(true_both & beads_both)
        self.counts["gold lax"] += _count_overlapping(true_both, beads_both)
        for name, selected in (("correct", true & beads), ("predicted", beads), ("gold", true)):
            self.sizes[name].update((len(a), len(b)) for a, b in selected)

    @property
    def strict(self) -> PrecisionRecall:
        """Over beads that match exactly."""
        return self._vecalign("strict")

    @property
    def lax(self) -> PrecisionRecall:
        """Over beads that share a sentence on each side."""
        return self._vecalign("lax")

    @property
    def exact(self) -> PrecisionRecall:
        """Over beads of all sizes, one-sided ones included."""
        correct, predicted, gold = (sum(self.sizes[name].values()) for name in ("correct", "predicted", "gold"))
        return PrecisionRecall.of_counts(correct, predicted, correct, gold)

    @property
    def by_size(self) -> dict[BeadSize, PrecisionRecall]:
        """For each size that the gold standard has."""
        correct, predicted = self.sizes["correct"], self.sizes["predicted"]
        return {
            size: PrecisionRecall.of_counts(correct[size], predicted[size], correct[size], count)
            for size, count in sorted(self.sizes["gold"].items())
        }

    @property
    def signature(self) -> str:
        """What was measured, and on how much."""
        return signature("alignment", pairs=self.pairs, beads=sum(self.sizes["gold"].values()))

    def to_dict(self) -> dict[str, Any]:
        """All figures, with the gold counts by size as `kinds`, as json.dumps takes them."""
        return {
            "pairs": self.pairs,
            "strict": self.strict.to_dict(),
            "lax": self.lax.to_dict(),
            "exact": self.exact.to_dict(),
            "kinds": {
                f"{a}:{b}": {**figures.to_dict(), "gold": self.sizes["gold"][a, b]}
                for (a, b), figures in self.by_size.items()
            },
            "signature": self.signature,
        }

    def format(self) -> str:
        """A plain-text table.

        Example:
            >>> score = AlignmentScore()
            >>> score.add([Bead((0,), (0,))], [Bead((0,), (0,))])
            >>> print(score.format().splitlines()[1])
            strict        1.0000  1.0000  1.0000        1
        """
        lines = [f"{'':12}{'precision':>8}{'recall':>8}{'F1':>8}{'gold':>9}"]
        both = self.counts["gold"]
        rows = [("strict", self.strict, both), ("lax", self.lax, both)]
        rows.append(("all beads", self.exact, sum(self.sizes["gold"].values())))
        rows += [(f"{a}:{b}", figures, self.sizes["gold"][a, b]) for (a, b), figures in self.by_size.items()]
        for name, figures, count in rows:
            lines.append(f"{name:12}{figures.precision:8.4f}{figures.recall:8.4f}{figures.f1:8.4f}{count:9,}")
        return "\n".join([*lines, self.signature])

    def _vecalign(self, how: str) -> PrecisionRecall:
        counts = self.counts
        return PrecisionRecall.of_counts(
            counts[f"predicted {how}"], counts["predicted"], counts[f"gold {how}"], counts["gold"]
        )


def score_documents(gold: Iterable[tuple[str, str]], predicted: Iterable[tuple[str, str]]) -> DocumentScore:
    """Score pairs of documents against the true ones.

    Args:
        gold: True pairs of names.
        predicted: Pairs of an aligner.

    Reference:
        PARK17 Table 2.

    Example:
        >>> score_documents([("a", "x"), ("b", "y")], [("a", "x"), ("b", "z")]).f1
        0.5
    """
    true, pairs = set(gold), set(predicted)
    correct = len(true & pairs)
    return DocumentScore(*PrecisionRecall.of_counts(correct, len(pairs), correct, len(true)), len(true))


def _count_overlapping(beads: Iterable[_Indices], others: Iterable[_Indices]) -> int:
    """How many beads are among the others, or share a source and a target sentence with linked ones."""
    linked: dict[int, set[int]] = {}
    listed = set(others)
    for source, target in listed:
        for i in source:
            linked.setdefault(i, set()).update(target)
    count = 0
    for bead in beads:
        reached: set[int] = set().union(*(linked.get(i, set()) for i in bead[0]))
        count += bead in listed or not reached.isdisjoint(bead[1])
    return count
