"""Paraphrases with the syntax of an exemplar: distances of their trees to reference and exemplar, BLEU, chrF, ROUGE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from rapidfuzz.distance import LCSseq

from paraloom.core.digests import digest, signature
from paraloom.core.errors import DataError
from paraloom.core.results import ResultRecord, markdown_table
from paraloom.core.stats import Estimate
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.resampling import SAMPLES, corpus_scores, mean_scores, sample_counts, with_interval
from paraloom.evaluate.translation import sacrebleu
from paraloom.text.normalize import is_copy
from paraloom.text.tokens import words
from paraloom.text.trees import skeleton, tree_edit_distance

WHOLE = 0
"""Instead of a height: whole trees."""


@dataclass(frozen=True)
class ExemplarRow(ResultRecord):
    """Figures of one system that paraphrases with the syntax of exemplars; shares are 0 to 1.

    Args:
        ted_reference: Height → mean tree edit distance to the reference (TED-R); 0 is equal.
        ted_exemplar: Height → mean tree edit distance to the exemplar (TED-E).
        rouge: ROUGE-1, ROUGE-2 and ROUGE-L: mean F1 × 100.
        copies: Share of the outputs that are their source, but for case, spaces and punctuation.
        parsed: Share of the outputs that can be parsed; the others have the tree of one label without children.
        known: Share of the exemplars whose template the model knows, so that it was forced; None for the other rows.
    """

    system: str
    n: int
    ted_reference: dict[int, Estimate]
    ted_exemplar: dict[int, Estimate]
    bleu: Estimate
    chrf: Estimate
    rouge: tuple[Estimate, Estimate, Estimate]
    copies: float
    parsed: float
    known: float | None = None


@dataclass(frozen=True)
class ExemplarResult(EvaluationResult):
    """A row for each system on one set of exemplars; parser, heights, metrics, and which sentences."""

    rows: tuple[ExemplarRow, ...]
    signature: str

    def format(self) -> str:
        """A Markdown table with 95 % intervals of BLEU and distances, then the signature."""
        heights = [*self.rows[0].ted_reference]
        names = ["tree" if height == WHOLE else str(height) for height in heights]
        head = ["system", *(f"TED-{side}@{name}" for name in names for side in "RE"), "BLEU", "chrF"]
        head += ["R-1", "R-2", "R-L", "copies", "parsed", "known"]
        lines = []
        for row in self.rows:
            cells = [row.system]
            for height in heights:
                cells += [_cell(side[height], 2) for side in (row.ted_reference, row.ted_exemplar)]
            cells += [_cell(row.bleu, 1), f"{row.chrf.value:.1f}", *(f"{one.value:.1f}" for one in row.rouge)]
            cells += [f"{row.copies:.1%}", f"{row.parsed:.1%}", "" if row.known is None else f"{row.known:.1%}"]
            lines.append(cells)
        return "\n".join([*markdown_table(head, lines), "", f"n = {self.rows[0].n} · {self.signature}"])


def evaluate_exemplars(
    system: str,
    *,
    sources: Sequence[str],
    outputs: Sequence[str],
    references: Sequence[str],
    trees: Mapping[str, Sequence[str | None]],
    heights: Sequence[int] = (2, 4),
    seed: int = 1,
    known: float | None = None,
) -> ExemplarRow:
    """Compare outputs with references, and their trees with those of references and exemplars.

    Kumar et al. 2020 (SGCP), §4.3 (TED-R and TED-E); Sun et al. 2021 (AESOP), §4, which cuts trees to a height.
    """
    lengths = {len(side) for side in (sources, outputs, references, *trees.values())}
    if not sources or len(lengths) > 1:
        raise DataError(
            "expected one output, reference and tree for each sentence", remedy="Give lists of the same length."
        )
    counts = sample_counts(len(sources), seed=seed)
    distances: dict[str, dict[int, Estimate]] = {}
    for side in ("reference", "exemplar"):
        distances[side] = {}
        for height in heights:
            values = [
                tree_edit_distance(_cut(one, height), _cut(other, height))
                for one, other in zip(trees["output"], trees[side], strict=True)
            ]
            distances[side][height] = with_interval(mean_scores(values, counts))
    scores = [rouge(output, reference) for output, reference in zip(outputs, references, strict=True)]
    means = [with_interval(100 * mean_scores(values, counts)) for values in zip(*scores, strict=True)]
    against = [[reference] for reference in references]
    bleu, chrf = (
        with_interval(corpus_scores(metric(lowercase=True), outputs, against, counts))
        for metric in (sacrebleu.BLEU, sacrebleu.CHRF)
    )
    return ExemplarRow(
        system,
        len(sources),
        distances["reference"],
        distances["exemplar"],
        bleu,
        chrf,
        (means[0], means[1], means[2]),
        sum(map(is_copy, sources, outputs)) / len(sources),
        sum(bool(tree) for tree in trees["output"]) / len(sources),
        known,
    )


def exemplar_signature(
    sentences: Sequence[Sequence[str]], *, parser: str, heights: Sequence[int], forced: int, rule: str, seed: int
) -> str:
    """The signature of a table: without the same parser and heights, tree edit distances cannot be compared."""
    return signature(
        "exemplars",
        ted="zhang-shasha",
        heights="+".join("tree" if height == WHOLE else str(height) for height in heights),
        forced=forced,
        root="none",
        parser=digest(parser)[:12],
        bleu=f"sacrebleu-{version('sacrebleu')},13a,lc",
        rouge="f1,words,lc,unstemmed",
        exemplars=rule,
        sentences=digest(list(map(list, sentences)))[:8],
        seed=seed,
        bootstrap=SAMPLES,
    )


def _cut(tree: str | None, height: int) -> str:
    return skeleton(tree or "(X)", 2**31 if height == WHOLE else height)


def _cell(estimate: Estimate, digits: int) -> str:
    return f"{estimate.value:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def rouge(text: str, reference: str) -> tuple[float, float, float]:
    """ROUGE-1, ROUGE-2 and ROUGE-L: F1 of a text, 0 (nothing in common) to 1 (the same words).

    Words are those of `paraloom.text.tokens.words`, lower-cased, without punctuation and without stemming. n-grams that
    occur several times count as often as both sides have them. See Lin 2004, "ROUGE: A package for automatic evaluation
    of summaries", §2 and §3.1, with β = 1.
    """
    ours, theirs = words(text, punctuation=False), words(reference, punctuation=False)
    subsequence = LCSseq.similarity(ours, theirs)
    return _ngram_f1(ours, theirs, 1), _ngram_f1(ours, theirs, 2), _f1(subsequence, len(ours), len(theirs))


def _ngram_f1(ours: Sequence[str], theirs: Sequence[str], n: int) -> float:
    one, other = (
        Counter(tuple(side[start : start + n]) for start in range(len(side) - n + 1)) for side in (ours, theirs)
    )
    return _f1((one & other).total(), one.total(), other.total())


def _f1(shared: int, ours: int, theirs: int) -> float:
    return 2 * shared / (ours + theirs) if shared else 0.0
