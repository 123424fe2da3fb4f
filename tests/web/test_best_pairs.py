"""The pairs of a report, best first: order, what filters took away, and runs without a score to order by."""

from __future__ import annotations

from pathlib import Path

import paraloom
from paraloom.stages import Filter, ReadPairs, Score
from paraloom.web.best_pairs import best_pairs
from paraloom.web.corpus_stats import best_rows
from paraloom.web.run_folder import open_run


def run(folder: Path, scores: tuple[str, ...], encoder: bool) -> Path:
    rows = [(f"the dog number {i} sleeps", f"dog {i} is asleep <b>") for i in range(40)]
    paraloom.as_pairs(rows).write(folder / "pairs.tsv")
    bundled = Path(paraloom.__file__).parent / "bundled/english"
    stages = [
        ReadPairs(source=folder / "pairs.tsv"),
        Score(scores=scores, encoder=bundled if encoder else None),
        Filter(where="tgt_tokens > 0 and src not like '%1%'"),
    ]
    paraloom.Pipeline(stages).run(folder / "run", engine="inline")
    return folder / "run"


def test_best_first_then_the_weakest_and_what_was_rejected(tmp_path: Path) -> None:
    view = open_run(run(tmp_path, ("tgt_tokens",), encoder=True))
    page = str(best_pairs(view))
    assert page.index("Best") < page.index("Weakest of the kept") < page.index("Rejected by filter")
    assert "not: src !~~ " in page and "<b>" not in page and "&lt;b&gt;" in page
    corpus = view.corpus(view.stages[-1])
    assert corpus is not None
    values = [row["paraphrase_score"] for row in best_rows(corpus.shards, "paraphrase_score", 5)]
    lowest = [row["paraphrase_score"] for row in best_rows(corpus.shards, "paraphrase_score", 5, lowest=True)]
    assert values == sorted(values, reverse=True) and lowest == sorted(lowest) and lowest[0] <= values[-1]
    assert best_rows(corpus.shards, "none", 5) == []


def test_without_a_score_to_order_by(tmp_path: Path) -> None:
    assert best_pairs(open_run(run(tmp_path, ("tgt_tokens",), encoder=False))) is None
