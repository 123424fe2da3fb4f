"""The harvest of a run: the best pairs that a filter kept, and the best of those that it lost, with the reason."""

from __future__ import annotations

import heapq
import math
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.reasons import DISTINCT, is_not_best, is_not_sampled
from paraloom.core.results import ResultRecord
from paraloom.io import Corpus
from paraloom.pipeline.result import RunResult

PROBABILITIES = ("p_paraphrase", "judge")
"""Scores that are probabilities that a pair is right."""

RANKED_BY = (*PROBABILITIES, "paraphrase_score")
"""Scores that say how right a pair is, the best first."""

_INDENT = " " * 6


@dataclass(frozen=True)
class HarvestedPair(ResultRecord):
    """A pair of a harvest."""

    src: str
    tgt: str
    score: float
    reason: str = ""

    def format(self) -> str:
        """The sides under each other, behind the score, and the reason."""
        lines = [f"{self.score:.2f}".removeprefix("0").rjust(4) + f"  {self.src}", f"{_INDENT}{self.tgt}"]
        if self.reason:
            lines.append(f"{_INDENT}({self.reason})")
        return "\n".join(lines)


@dataclass(frozen=True)
class Harvest(ResultRecord):
    """Pairs that a filter kept, and some that it lost."""

    kept: tuple[HarvestedPair, ...]  # The best of those that it kept, the best first
    lost: tuple[HarvestedPair, ...]  # The best of those that it lost
    pairs: int  # How many it kept
    of: int  # How many there were
    by: str  # The score that they are ranked by
    sentences: int | None = None  # Of how many sentences they were, where there were several pairs of each; else None

    @property
    def share(self) -> float:
        """Pairs that were kept, by all pairs, or by all sentences where there were several pairs of each."""
        return self.pairs / (self.sentences or self.of) if self.of else 0.0

    @property
    def title(self) -> str:
        """How many were kept, in words."""
        if self.sentences is None:
            return f"{self.pairs:,} of {self.of:,} pairs kept ({100 * self.share:.1f} %)"
        share = f"{100 * self.share:.1f} %; {self.of:,} translations"
        return f"{self.pairs:,} pairs of {self.sentences:,} sentences kept ({share})"

    def format(self) -> str:
        """Kept pairs, lost ones, and the yield."""
        kept = "\n".join(pair.format() for pair in self.kept)
        head = f"{self.title}{', the best of them' * (self.pairs > len(self.kept))}, with {self.by}:"
        lost = "\n".join(pair.format() for pair in self.lost)
        return "\n\n".join([f"{head}\n\n{kept}", *([f"Lost, with the reason:\n\n{lost}"] if lost else [])])


def harvest(run: RunResult, *, kept: int = 10, lost: int = 3) -> Harvest | None:
    """The harvest of the last filter of a run; None if it has none, or no score that says how right a pair is."""
    for stage in reversed(run.stages):
        if stage.kind == "map" and stage.counts.rejected and (stage.folder / "rejected").is_dir():
            harvested = harvest_of(stage.folder, stage.counts.read, kept=kept, lost=lost)
            if harvested is not None and harvested.by:
                return harvested
    return None


def harvest_of(folder: Path, read: int, *, kept: int = 10, lost: int = 3) -> Harvest | None:
    """The harvest of one stage of a run; None if its rows are not pairs.  Without a score: its first pairs."""
    corpus = Corpus.open(folder)
    if not {"src", "tgt"} <= set(corpus.schema.names):
        return None
    score = next((name for name in RANKED_BY if name in corpus.schema.names), "")
    columns = ["src", "tgt", *filter(None, [score])]
    rejected = folder / "rejected"
    missing = Corpus.open(rejected).batches([*columns, "reason"]) if any(rejected.glob("*.parquet")) else ()
    return Harvest(
        kept=tuple(_best(corpus.batches(columns), score, kept)),
        lost=tuple(_lost(missing, score, lost)),
        pairs=corpus.rows,
        of=read,
        by=score,
        sentences=_sentences([corpus, *([Corpus.open(rejected)] if any(rejected.glob("*.parquet")) else [])]),
    )


def _sentences(corpora: Iterable[Corpus]) -> int | None:
    """Number of best translations, where there are others; else None."""
    first = others = 0
    for corpus in corpora:
        if "rank" not in corpus.schema.names:
            return None
        for batch in corpus.batches(["rank"]):
            best = pc.sum(pc.equal(batch.column(0), 0)).as_py() or 0
            first, others = first + best, others + batch.num_rows - best
    return first if others else None


def _best(batches: Iterable[pa.RecordBatch], score: str, count: int) -> Iterator[HarvestedPair]:
    """The rows with the highest scores, without repeated sides; without a score, the first ones."""
    seen: set[str] = set()
    for row in _highest(batches, score, 20 * count):
        sides = {str(row[side] or "").casefold() for side in ("src", "tgt")}
        if count and not sides & seen:
            seen |= sides
            count -= 1
            yield _pair(row, score)


def _highest(batches: Iterable[pa.RecordBatch], score: str, count: int) -> list[dict[str, Any]]:
    """The rows with the highest scores, of equal ones as they are shown the first, or the first of all."""
    if not score:
        return list(islice((row for batch in batches for row in batch.to_pylist()), count))
    best: list[dict[str, Any]] = []
    for batch in batches:
        # What is rounded to more than the last one of a full list is above it by nearly half a hundredth.
        above = round(best[-1][score], 2) + 0.0049 if len(best) == count else -math.inf
        rows = batch.filter(pc.greater(batch.column(score), above)).to_pylist()
        best = heapq.nlargest(count, [*best, *rows], key=lambda row: round(row[score], 2))
    return best


def _lost(batches: Iterable[pa.RecordBatch], score: str, count: int) -> Iterator[HarvestedPair]:
    best: dict[str, dict[str, Any]] = {}
    for row in chain.from_iterable(_highest_by_reason(batch, score) for batch in batches):
        reason = row["reason"]
        if is_not_sampled(reason) or is_not_best(reason) or reason == f"not: {DISTINCT}":
            continue
        if reason not in best or _value(row, score) > _value(best[reason], score):
            best[reason] = row
    known = (row for row in best.values() if not score or _value(row, score) > -math.inf)
    for row in heapq.nlargest(count, known, key=lambda row: round(row[score], 2) if score else 0):
        yield _pair(row, score)


def _highest_by_reason(batch: pa.RecordBatch, score: str) -> list[dict[str, Any]]:
    """The first of the rows with the highest score of each reason, in the order of the first row of each."""
    reasons = batch.column("reason").dictionary_encode().indices.to_numpy()
    scores = batch.column(score).to_numpy(zero_copy_only=False) if score else np.zeros(len(reasons))
    order = np.lexsort((-np.where(np.isnan(scores), -np.inf, scores), reasons))
    first = np.unique(reasons[order], return_index=True)[1]
    rows: list[dict[str, object]] = batch.take(pa.array(order[first])).to_pylist()
    return rows


def _value(row: dict[str, Any], score: str) -> float:
    """The score of a row; -inf where it is undefined."""
    value = row[score] if score else None
    return -math.inf if value is None or math.isnan(value) else float(value)


def _pair(row: dict[str, Any], score: str) -> HarvestedPair:
    reason = reason_in_words(str(row.get("reason") or ""))
    return HarvestedPair(_short(row["src"] or ""), _short(row["tgt"] or ""), _value(row, score), reason)


def _short(text: str) -> str:
    return textwrap.shorten(text, 200, placeholder=" …")


_WORDS = {
    "chrf <=": "a near copy: the same words",
    "greatest(src_content_missing": "a near copy: no content word differs",
    "p_paraphrase >=": "probably another meaning",
    "undefined: greatest(src_content_missing": "no content words to compare",
    DISTINCT: "the same pair as another one",
    "paraphrase_score": "the encoder finds the sides too different, or too similar",
}
"""Beginning of a condition of the presets → what it says of a pair that does not meet it."""


def reason_in_words(reason: str) -> str:
    """Why a filter lost a pair, in words where its condition is one of a preset, and the condition if it is short."""
    reason = reason.removeprefix("not: ")
    words = next((text for start, text in _WORDS.items() if reason.startswith(start)), "")
    return f"{words}; {reason}" if words and reason != DISTINCT and len(reason) < 40 else words or reason
