"""The pairs of a report, best first: what was kept, the weakest of it, and the best of what each filter rejected."""

from __future__ import annotations

from markupsafe import Markup

from paraloom.pairs.scoring.table import COLUMNS
from paraloom.web.corpus_stats import best_rows
from paraloom.web.formatting import count, label
from paraloom.web.run_folder import RunView, StageView
from paraloom.web.samples import pair
from paraloom.web.templates import draw

RANKED_BY = ("p_paraphrase", "paraphrase_score")
"""Scores that say how right a pair is, the best first."""

_BEST, _WEAKEST, _REJECTED = 12, 6, 6


def best_pairs(run: RunView) -> Markup | None:
    """The kept pairs and what filters took away, by the best score of the run; None without such a score."""
    stages = [stage for stage in run.stages if (corpus := run.corpus(stage)) is not None and corpus.rows]
    score = next((name for name in RANKED_BY if any(_has(run, stage, name) for stage in stages)), None)
    if score is None:
        return None
    scored = [stage for stage in stages if _has(run, stage, score)]
    corpus = run.corpus(scored[-1])
    assert corpus is not None
    groups = [("Best", f"of {count(corpus.rows)} pairs", best_rows(corpus.shards, score, _BEST))]
    if corpus.rows > _BEST + _WEAKEST:
        groups.append(("Weakest of the kept", "", best_rows(corpus.shards, score, _WEAKEST, lowest=True)))
    for stage in scored:
        if stage.rejected and (shards := run.split(stage, "rejected")):
            title, note = f"Rejected by {stage.name}, the best of them", f"of {count(stage.rejected)} pairs"
            groups.append((title, note, best_rows(shards, score, _REJECTED)))
    drawn = [
        (title, note, [pair(row, str(row.get("reason") or "") if title.startswith("Rejected") else "") for row in rows])
        for title, note, rows in groups
        if rows
    ]
    return draw("best_pairs", label(score), COLUMNS[score].description, drawn)


def _has(run: RunView, stage: StageView, score: str) -> bool:
    corpus = run.corpus(stage)
    return corpus is not None and score in corpus.schema.names
