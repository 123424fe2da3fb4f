"""The pairs of a report, best first: what was kept, the weakest of it, and the best of what each filter rejected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraloom.pairs.scoring.table import COLUMNS
from paraloom.web.corpus_stats import best_rows
from paraloom.web.formatting import count, label
from paraloom.web.markup import Html, Part, element, join
from paraloom.web.run_folder import RunView, StageView
from paraloom.web.samples import pair

RANKED_BY = ("p_paraphrase", "paraphrase_score")
"""Scores that say how right a pair is, the best first."""

_BEST, _WEAKEST, _REJECTED = 12, 6, 6


def best_pairs(run: RunView) -> Part:
    """The kept pairs and what filters took away, by the best score of the run; None without such a score."""
    stages = [stage for stage in run.stages if (corpus := run.corpus(stage)) is not None and corpus.rows]
    score = next((name for name in RANKED_BY if any(_has(run, stage, name) for stage in stages)), None)
    if score is None:
        return None
    scored = [stage for stage in stages if _has(run, stage, score)]
    corpus = run.corpus(scored[-1])
    assert corpus is not None
    parts: list[Part] = [
        element("p", f"Ordered by {label(score)}: {COLUMNS[score].description}.", class_="intro"),
        _group("Best", corpus.shards, score, _BEST, f"of {count(corpus.rows)} pairs"),
    ]
    if corpus.rows > _BEST + _WEAKEST:
        parts.append(_group("Weakest of the kept", corpus.shards, score, _WEAKEST, "", lowest=True))
    for stage in scored:
        rejected = run.split(stage, "rejected")
        if stage.rejected and rejected:
            title = f"Rejected by {stage.name}, the best of them"
            parts.append(_group(title, rejected, score, _REJECTED, f"of {count(stage.rejected)} pairs", reasons=True))
    return join(parts)


def _group(
    title: str,
    shards: Sequence[Path],
    score: str,
    examples: int,
    note: str,
    *,
    lowest: bool = False,
    reasons: bool = False,
) -> Html | None:
    rows = best_rows(shards, score, examples, lowest=lowest)
    if not rows:
        return None
    head = element("h3", title, element("span", f" {note}", class_="quiet") if note else None)
    pairs = [pair(row, str(row.get("reason") or "") if reasons else "") for row in rows]
    return element("section", head, element("div", pairs, class_="ranges"))


def _has(run: RunView, stage: StageView, score: str) -> bool:
    corpus = run.corpus(stage)
    return corpus is not None and score in corpus.schema.names
