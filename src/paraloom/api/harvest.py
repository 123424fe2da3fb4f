"""The harvest of a run: the best pairs that a filter kept, and the best of those that it lost, with the reason."""

from __future__ import annotations

import heapq
import math
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from paraloom.core.results import ResultRecord
from paraloom.io import Corpus
from paraloom.pipeline.result import RunResult, StageResult

RANKED_BY = ("p_paraphrase", "paraphrase_score")
"""Scores that say how right a pair is, the best first."""

_INDENT = " " * 6


@dataclass(frozen=True)
class HarvestedPair(ResultRecord):
    """A pair of a harvest.

    Args:
        src: Its first side.
        tgt: Its second side.
        score: How right it is.
        reason: Why it was lost; '' for one that was kept.
    """

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
    """Pairs that a filter kept, and some that it lost.

    Args:
        kept: The best of those that it kept, the best first.
        lost: The best of those that it lost.
        pairs: How many it kept.
        of: How many there were.
        by: The score that they are ranked by.
    """

    kept: tuple[HarvestedPair, ...]
    lost: tuple[HarvestedPair, ...]
    pairs: int
    of: int
    by: str

    @property
    def share(self) -> float:
        """The share that was kept, 0 to 1."""
        return self.pairs / self.of if self.of else 0.0

    def format(self) -> str:
        """Kept pairs, lost ones, and the yield."""
        kept = "\n".join(pair.format() for pair in self.kept)
        title = f"{self.pairs:,} of {self.of:,} pairs kept ({100 * self.share:.1f} %)"
        head = f"{title}{', the best of them' * (self.pairs > len(self.kept))}, with {self.by}:"
        lost = "\n".join(pair.format() for pair in self.lost)
        return "\n\n".join([f"{head}\n\n{kept}", *([f"Lost, with the reason:\n\n{lost}"] if lost else [])])


def harvest(run: RunResult, *, kept: int = 10, lost: int = 3) -> Harvest | None:
    """The harvest of the last filter of a run; None if it has none, or no score that says how right a pair is.

    Args:
        run: The run.
        kept: Number of pairs that were kept.
        lost: Number of pairs that were lost.
    """
    for stage in reversed(run.stages):
        if stage.kind != "map" or not stage.counts.rejected or not (stage.folder / "rejected").is_dir():
            continue
        corpus = Corpus.open(stage.folder)
        score = next((name for name in RANKED_BY if name in corpus.schema.names), None)
        if score is not None and {"src", "tgt"} <= set(corpus.schema.names):
            return _harvest(stage, corpus, score, kept, lost)
    return None


def _harvest(stage: StageResult, corpus: Corpus, score: str, kept: int, lost: int) -> Harvest:
    rejected = Corpus.open(stage.folder / "rejected")
    return Harvest(
        kept=tuple(_best(_rows(corpus, ["src", "tgt", score]), score, kept)),
        lost=tuple(_lost(_rows(rejected, ["src", "tgt", score, "reason"]), score, lost)),
        pairs=corpus.rows,
        of=stage.counts.read,
        by=score,
    )


def _rows(corpus: Corpus, columns: list[str]) -> Iterator[dict[str, Any]]:
    for batch in corpus.batches(columns):
        yield from batch.to_pylist()


def _best(rows: Iterable[dict[str, Any]], score: str, count: int) -> Iterator[HarvestedPair]:
    """The rows with the highest scores, without repeated sides."""
    seen: set[str] = set()
    for row in heapq.nlargest(20 * count, (row for row in rows if row[score] is not None), key=itemgetter(score)):
        sides = {row["src"].casefold(), row["tgt"].casefold()}
        if count and not sides & seen:
            seen |= sides
            count -= 1
            yield _pair(row, score)


def _lost(rows: Iterable[dict[str, Any]], score: str, count: int) -> Iterator[HarvestedPair]:
    """The row with the highest score of each reason."""
    best: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row[score] is not None and row[score] > best.get(row["reason"], {score: -math.inf})[score]:
            best[row["reason"]] = row
    for row in heapq.nlargest(count, best.values(), key=itemgetter(score)):
        yield _pair(row, score)


def _pair(row: dict[str, Any], score: str) -> HarvestedPair:
    reason = _in_words(str(row.get("reason") or "").removeprefix("not: "))
    return HarvestedPair(_short(row["src"]), _short(row["tgt"]), float(row[score]), reason)


def _short(text: str) -> str:
    return textwrap.shorten(text, 200, placeholder=" …")


_WORDS = {
    "chrf <=": "a near copy: the same words",
    "greatest(src_content_missing": "a near copy: no content word differs",
    "p_paraphrase >=": "probably another meaning",
    "paraphrase_score": "the encoder finds the sides too different, or too similar",
}
"""Beginning of a condition of the presets → what it says of a pair that does not meet it."""


def _in_words(reason: str) -> str:
    words = next((text for start, text in _WORDS.items() if reason.startswith(start)), "")
    return f"{words}; {reason}" if words and len(reason) < 40 else words or reason
