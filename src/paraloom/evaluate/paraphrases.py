"""Free paraphrases measured: BLEU, chrF, iBLEU, meaning, copies, repetitions, each beside doing nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np

from paraloom.core.digests import digest, signature
from paraloom.core.errors import DataError
from paraloom.core.results import ResultRecord, markdown_table
from paraloom.core.stats import Estimate
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.resampling import SAMPLES, corpus_scores, mean_scores, sample_counts, with_interval
from paraloom.evaluate.translation import sacrebleu
from paraloom.text.normalize import is_copy
from paraloom.text.tokens import words

COPY, REFERENCE = "copy", "reference"
"""Rows of the table that no model makes: the source itself, and the first reference."""

ALPHAS = (0.8, 0.9)  # Weights of the similarity to the references in iBLEU
MEANING_WEIGHT = 4  # Weight of meaning in the harmonic mean with the difference from the source: that of BERT-iBLEU


@dataclass(frozen=True)
class ParaphraseRow(ResultRecord):
    """Figures of the paraphrases of one system."""

    system: str
    n: int
    bleu: Estimate | None  # Corpus BLEU against the references, 0 to 100; None for the row of the references
    chrf: Estimate | None  # Corpus chrF against the references, 0 to 100; None for the row of the references
    self_bleu: Estimate  # Corpus BLEU against the sources, 0 to 100; 100 for copies
    ibleu: dict[float, Estimate] | None  # Weight α → α · BLEU − (1 − α) · self-BLEU; None for the row of the references
    # Mean over sentences of the harmonic mean of meaning, weight 4, and 100 − sentence BLEU against the source, 0
    # to 100; 0 for copies. None without similarities.
    meaning_ibleu: Estimate | None
    meaning: Estimate | None  # Mean similarity of outputs to their sources, −1 to 1; None where it was not measured
    copies: float  # Share of the outputs that are their source, but for case, spaces and punctuation; 0 to 1
    repeats: float  # Share of the outputs with a word twice in a row, or three words in a row that occur twice; 0 to 1
    distinct: float  # Distinct outputs, divided by outputs; 0 to 1
    length_ratio: float  # Mean ratio of the words of outputs to those of their sources
    # Share of the sentences of which a selection kept a paraphrase; None without a selection. Of the others the
    # candidate is measured that the model likes best.
    kept: float | None = None


@dataclass(frozen=True)
class ParaphraseResult(EvaluationResult):
    """A table of systems on one test."""

    rows: tuple[ParaphraseRow, ...]  # A row for each system
    signature: str  # How it was measured, and on which sentences
    sources: tuple[str, ...] = ()  # The n sentences
    references: tuple[tuple[str, ...], ...] = ()
    outputs: dict[str, list[str]] | None = None  # System → its n outputs

    def sheet(self) -> tuple[Sequence[str], Sequence[Sequence[str]], dict[str, list[str]]]:
        """Sources, references, and outputs of every paraphraser, as `write_paraphrase_sheet` takes them."""
        outputs = {name: texts for name, texts in (self.outputs or {}).items() if name not in (COPY, REFERENCE)}
        return self.sources, self.references, outputs

    def to_dict(self) -> dict[str, Any]:
        return {"rows": [row.to_dict() for row in self.rows], "signature": self.signature}

    def format(self) -> str:
        """A Markdown table with 95 % intervals, then the signature."""
        head = ["system", "BLEU", "chrF", "self-BLEU", *(f"iBLEU {alpha:g}" for alpha in ALPHAS)]
        head += ["meaning-iBLEU", "meaning", "copies", "repeats", "distinct", "length", "kept"]
        rows = []
        for row in self.rows:
            cells = [row.system, *map(_cell, (row.bleu, row.chrf, row.self_bleu))]
            cells += [_cell(None if row.ibleu is None else row.ibleu[alpha]) for alpha in ALPHAS]
            cells += [_cell(row.meaning_ibleu), _cell(row.meaning, 3)]
            cells += [f"{share:.1%}" for share in (row.copies, row.repeats, row.distinct)]
            cells += [f"{row.length_ratio:.2f}", "" if row.kept is None else f"{row.kept:.1%}"]
            rows.append(cells)
        return "\n".join([*markdown_table(head, rows), "", f"n = {self.rows[0].n} · {self.signature}"])


def evaluate_paraphrases(
    system: str,
    sources: Sequence[str],
    outputs: Sequence[str],
    references: Sequence[Sequence[str]] | None,
    *,
    similarities: Sequence[float] | None = None,
    lowercase: bool = True,
    samples: int = SAMPLES,
    seed: int = 1,
    kept: float | None = None,
) -> ParaphraseRow:
    """Measure the paraphrases of one system (iBLEU: Sun and Zhou 2012; BERT-iBLEU's shape: Niu et al. 2021)."""
    n = len(sources)
    lengths = [len(side) for side in (outputs, references, similarities) if side is not None]
    if not n or set(lengths) != {n}:
        raise DataError(
            f"expected outputs and references of {n} sentences, got {', '.join(map(str, lengths))}",
            remedy="Give one or more sentences, and lists of the same length.",
        )
    counts = sample_counts(n, samples, seed)
    bleu = sacrebleu.BLEU(lowercase=lowercase)
    own = corpus_scores(bleu, outputs, [[source] for source in sources], counts)
    against = None if references is None else corpus_scores(bleu, outputs, references, counts)
    chrf = None
    if references is not None:
        chrf = with_interval(corpus_scores(sacrebleu.CHRF(lowercase=lowercase), outputs, references, counts))
    ibleu = None
    if against is not None:
        ibleu = {alpha: with_interval(alpha * against - (1 - alpha) * own) for alpha in ALPHAS}
    harmonic = meaning = None
    if similarities is not None:
        values = [
            meaning_ibleu(similarity, own_bleu)
            for similarity, own_bleu in zip(similarities, sentence_bleus(outputs, sources, lowercase), strict=True)
        ]
        harmonic = with_interval(mean_scores(values, counts))
        meaning = with_interval(mean_scores(np.nan_to_num(np.asarray(similarities, np.float64)).tolist(), counts))
    ratios = [
        len(words(output, punctuation=False)) / max(1, len(words(source, punctuation=False)))
        for source, output in zip(sources, outputs, strict=True)
    ]
    return ParaphraseRow(
        system,
        n,
        None if against is None else with_interval(against),
        chrf,
        with_interval(own),
        ibleu,
        harmonic,
        meaning,
        sum(map(is_copy, sources, outputs)) / n,
        sum(map(repeats_itself, outputs)) / n,
        len(set(outputs)) / n,
        fmean(ratios),
        kept,
    )


def meaning_ibleu(similarity: float, self_bleu: float) -> float:
    """Harmonic mean of meaning and of difference from the source, as BERT-iBLEU (Niu et al. 2021, §4.1)."""
    meaning, difference = 100 * similarity, 100 - self_bleu
    # NaN, of a text without a vector, fails the comparison, too.
    if not meaning > 0 or difference <= 1e-9:
        return 0.0
    return (MEANING_WEIGHT + 1) / (MEANING_WEIGHT / meaning + 1 / difference)


def sentence_bleus(outputs: Sequence[str], others: Sequence[str], lowercase: bool = True) -> list[float]:
    """sacreBLEU's sentence BLEU of each output against another text, 0 to 100."""
    bleu = sacrebleu.BLEU(lowercase=lowercase, effective_order=True)
    return [bleu.sentence_score(one, [other]).score for one, other in zip(outputs, others, strict=True)]


def repeats_itself(text: str) -> bool:
    """True if a text has a word twice in a row, or three words in a row that occur twice."""
    units = words(text, punctuation=False)
    trigrams = list(zip(units, units[1:], units[2:], strict=False))
    return any(one == other for one, other in pairwise(units)) or len(set(trigrams)) < len(trigrams)


def paraphrase_signature(
    sentences: Sequence[tuple[str, tuple[str, ...]]],
    *,
    lowercase: bool,
    judge: str,
    selection: str,
    rows: int,
    seed: int,
) -> str:
    """The signature of a table: the metrics, the encoder that judges, the selection, and the sentences."""
    return signature(
        "paraphrases",
        sentences=digest([[source, *references] for source, references in sentences])[:8],
        **{"rows": rows, "seed": seed, "bootstrap": SAMPLES, "case": "lc" if lowercase else "mixed", "tok": "13a"},
        **{"sacrebleu": version("sacrebleu"), "meaning-weight": MEANING_WEIGHT},
        judge=f"[{judge}]",
        selection=f"[{selection}]",
    )


def _cell(estimate: Estimate | None, digits: int = 1) -> str:
    return "" if estimate is None else estimate.format(f".{digits}f")
