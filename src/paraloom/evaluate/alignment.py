"""Alignments against gold standards: pairs of documents, and beads of sentences (strict, lax, and by size)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from paraloom.core.beads import Bead
from paraloom.core.digests import signature
from paraloom.core.results import text_table
from paraloom.evaluate.base import EvaluationResult

BeadSize = tuple[int, int]  # Numbers of source and target sentences

_Indices = tuple[tuple[int, ...], tuple[int, ...]]


class PrecisionRecall(NamedTuple):
    """Precision and recall, 0 to 1, higher is better; 0 where undefined."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of_counts(cls, correct: int, predicted: int, recovered: int, gold: int) -> PrecisionRecall:
        precision = correct / predicted if predicted else 0.0
        recall = recovered / gold if gold else 0.0
        total = precision + recall
        return cls(precision, recall, 2 * precision * recall / total if total else 0.0)

    def to_dict(self) -> dict[str, float]:
        return self._asdict()


@dataclass(frozen=True)
class DocumentScore(EvaluationResult):
    """Result of `score_documents`."""

    precision: float  # Share of the predicted pairs that are correct, 0 to 1
    recall: float  # Share of the gold pairs that were predicted, 0 to 1
    f1: float  # Their harmonic mean
    gold: int  # Number of gold pairs

    def format(self) -> str:
        figures = f"precision {self.precision:.4f}  recall {self.recall:.4f}  f1 {self.f1:.4f}"
        return f"{figures}  of {self.gold:,} pairs"


class KindCounts(NamedTuple):
    """Beads of one kind, such as 1:2, and the figures that follow from their numbers."""

    correct: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float | None:
        """Share of the predicted beads that are correct; None where nothing was predicted."""
        return self.correct / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        """Share of the gold beads that were predicted; None where the gold standard has none."""
        return self.correct / self.gold if self.gold else None

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 where one of them is undefined."""
        return 2 * self.correct / (self.predicted + self.gold) if self.correct else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, **self._asdict()}


@dataclass
class AlignmentScore(EvaluationResult):
    """Scores of sentence alignments over any number of pairs of texts: `add` each pair's beads, then read the figures.

    `strict` and `lax` are vecalign's (Thompson and Koehn 2019): strictly a bead must be in gold, laxly share a sentence
    on each side with it; precision is over all predicted beads, recall over gold beads with both sides. `exact` and
    `kinds` are PARK17's (Tables 4 and 5): all beads count, and must match exactly.
    """

    pairs: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    sizes: dict[str, Counter[BeadSize]] = field(
        default_factory=lambda: {"correct": Counter(), "predicted": Counter(), "gold": Counter()}
    )

    def add(self, gold: Iterable[Bead], predicted: Iterable[Bead]) -> None:
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
    def kinds(self) -> dict[BeadSize, KindCounts]:
        """Counts for each size that the gold standard or the prediction has."""
        correct, predicted, gold = (self.sizes[name] for name in ("correct", "predicted", "gold"))
        return {size: KindCounts(correct[size], predicted[size], gold[size]) for size in sorted({*predicted, *gold})}

    def merge(self, other: AlignmentScore) -> None:
        """Add the counts of another score, so that the figures are those of all pairs of texts together."""
        self.pairs += other.pairs
        self.counts.update(other.counts)
        for name, sizes in other.sizes.items():
            self.sizes[name].update(sizes)

    @property
    def signature(self) -> str:
        return signature("alignment", pairs=self.pairs, beads=sum(self.sizes["gold"].values()))

    def to_dict(self) -> dict[str, Any]:
        """All figures, with those and the counts of each size as `kinds`, as json.dumps takes them."""
        return {
            "pairs": self.pairs,
            "strict": self.strict.to_dict(),
            "lax": self.lax.to_dict(),
            "exact": self.exact.to_dict(),
            "kinds": {f"{a}:{b}": counts.to_dict() for (a, b), counts in self.kinds.items()},
            "signature": self.signature,
        }

    def format(self) -> str:
        """A plain-text table: `gold` are the beads that recall counts, `predicted` and `correct` those of precision."""
        gold, predicted = self.counts["gold"], self.counts["predicted"]
        rows = [
            _row(name, self._vecalign(name), gold, predicted, self.counts[f"predicted {name}"])
            for name in ("strict", "lax")
        ]
        total = KindCounts(*(sum(self.sizes[name].values()) for name in ("correct", "predicted", "gold")))
        rows.append(_row("all beads", self.exact, total.gold, total.predicted, total.correct))
        rows += [
            _row(f"{a}:{b}", counts, counts.gold, counts.predicted, counts.correct)
            for (a, b), counts in self.kinds.items()
        ]
        header = ["", "precision", "recall", "F1", "gold", "predicted", "correct"]
        return "\n".join([*text_table(header, rows), self.signature])

    def _vecalign(self, how: str) -> PrecisionRecall:
        counts = self.counts
        return PrecisionRecall.of_counts(
            counts[f"predicted {how}"], counts["predicted"], counts[f"gold {how}"], counts["gold"]
        )


def _row(name: str, figures: PrecisionRecall | KindCounts, gold: int, predicted: int, correct: int) -> tuple[str, ...]:
    shown = ("–" if value is None else f"{value:.4f}" for value in (figures.precision, figures.recall, figures.f1))
    return (name, *shown, f"{gold:,}", f"{predicted:,}", f"{correct:,}")


def score_documents(gold: Iterable[tuple[str, str]], predicted: Iterable[tuple[str, str]]) -> DocumentScore:
    """Score pairs of documents against the true ones (PARK17 Table 2)."""
    true, pairs = set(gold), set(predicted)
    correct = len(true & pairs)
    return DocumentScore(*PrecisionRecall.of_counts(correct, len(pairs), correct, len(true)), len(true))


def _count_overlapping(beads: Iterable[_Indices], others: Iterable[_Indices]) -> int:
    """Number of beads that are among the others, or share a source and a target sentence with linked ones."""
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


_MAX_NAME = 40


@dataclass(frozen=True)
class FileScore:
    beads: str
    gold: str
    score: AlignmentScore


@dataclass(frozen=True)
class AlignmentReport(EvaluationResult):
    """Result of `evaluate_alignment_files`."""

    files: Sequence[FileScore]  # The score of each pair of texts, in order
    # Beads that cross a hard delimiter, where one alignment was cut; they count as wrong. None without hard
    # delimiters.
    crossing: int | None = None

    @cached_property
    def pooled(self) -> AlignmentScore:
        """The figures of all files together: counts are added first, so that long texts count more, as in vecalign."""
        pooled = AlignmentScore()
        for file in self.files:
            pooled.merge(file.score)
        return pooled

    def to_dict(self) -> dict[str, Any]:
        """The pooled figures, the beads that cross a delimiter, and the figures of each file."""
        return {
            **self.pooled.to_dict(),
            "crossing": self.crossing,
            "files": [{"beads": file.beads, "gold": file.gold, **file.score.to_dict()} for file in self.files],
        }

    def format(self) -> str:
        """A table of the files if they are several, then the pooled figures by kind of bead."""
        lines = []
        if len(self.files) > 1:
            scores = [*((_short(file.gold), file.score) for file in self.files), ("pooled", self.pooled)]
            rows = []
            for name, score in scores:
                figures = (f"{figure:.4f}" for kind in (score.strict, score.lax) for figure in kind)
                rows.append((name, *figures, f"{score.counts['gold']:,}"))
            lines += text_table(["", "strict P", "R", "F1", "lax P", "R", "F1", "gold"], rows)
        if self.crossing:
            noun = "bead crosses" if self.crossing == 1 else "beads cross"
            lines.append(f"{self.crossing:,} {noun} a hard delimiter, wrong in each text that a part of it is in")
        if lines:
            lines += ["", "pooled:"]
        lines.append(self.pooled.format())
        return "\n".join(lines)


def _short(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"…{name[1 - _MAX_NAME :]}"


class DocumentSpan(NamedTuple):
    """A document within a text of several documents."""

    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


class CutAlignment(NamedTuple):
    parts: list[list[Bead]]
    crossing: int


def find_parts(text: Sequence[str], delimiter: str) -> list[DocumentSpan]:
    ends = [index for index, line in enumerate(text) if line.strip() == delimiter]
    parts = [
        DocumentSpan(start, end) for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(text)], strict=True)
    ]
    return parts[:-1] if len(parts) > 1 and parts[-1].size == 0 else parts


def cut_beads(beads: Iterable[Bead], sources: Sequence[DocumentSpan], targets: Sequence[DocumentSpan]) -> CutAlignment:
    """Cut the alignment of two texts of several documents, without delimiters, into those of the documents.

    A bead of several documents is in each of them, with indices that no gold bead has: it is wrong there.
    """
    cut: list[list[Bead]] = [[] for _ in sources]
    crossing = 0
    starts = [[part.start for part in side] for side in (sources, targets)]
    for bead in beads:
        source = _located(bead.source, sources, starts[0])
        target = _located(bead.target, targets, starts[1])
        touched = sorted({part for part, _ in (*source, *target)})
        crossing += len(touched) > 1
        for part in touched:
            own, other = (
                tuple(index - parts[part].start if here == part else -1 - index for here, index in side)
                for side, parts in ((source, sources), (target, targets))
            )
            cut[part].append(Bead(own, other, bead.score))
    return CutAlignment(cut, crossing)


def find_divergence(sizes: Sequence[int], expected: Sequence[int]) -> int:
    """Find where delimiters are missing or superfluous, if all that are lie beside each other."""
    few, many = sorted((sizes, expected), key=len)
    extra = len(many) - len(few)
    sums = list(accumulate(many, initial=0))
    before = list(accumulate((abs(a - b) for a, b in zip(few, many, strict=False)), initial=0))
    last = (abs(a - b) for a, b in zip(reversed(few), reversed(many), strict=False))
    after = list(accumulate(last, initial=0))[::-1]

    def deviation(index: int) -> int:
        merged = sums[index + extra + 1] - sums[index]
        return before[index] + abs(few[index] - merged) + after[index + 1]

    return min(range(len(few)), key=deviation)


def _located(indices: Sequence[int], parts: Sequence[DocumentSpan], starts: Sequence[int]) -> list[tuple[int, int]]:
    """Number of the document and index of each sentence, without delimiters."""
    located = [(bisect_right(starts, index) - 1, index) for index in indices]
    return [(part, index) for part, index in located if index < parts[part].end]
