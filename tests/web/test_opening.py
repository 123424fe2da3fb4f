"""The top of a report: how many pairs were kept, the best of them, what was lost and why, and the curve of yield."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paraloom
from paraloom.api.yield_curve import presets_for, yields
from paraloom.stages import Clean, Filter, ReadPairs, Score
from paraloom.web.charts import sparkline
from paraloom.web.opening import opening
from paraloom.web.run_folder import _changed, open_run

ROWS = [(f"the dog number {i} sleeps", f"dog {i} is asleep <b>") for i in range(40)]


def run(folder: Path, scores: tuple[str, ...], encoder: bool, where: str) -> Path:
    paraloom.as_pairs(ROWS).write(folder / "pairs.tsv")
    bundled = Path(paraloom.__file__).parent / "bundled/english"
    stages = [
        ReadPairs(source=folder / "pairs.tsv"),
        Score(scores=scores, encoder=bundled if encoder else None),
        *([Filter(where=where)] if where else []),
    ]
    paraloom.Pipeline(stages).run(folder / "run", engine="inline")
    return folder / "run"


def test_the_best_pairs_and_the_criterion_that_rejected_most(tmp_path: Path) -> None:
    top = opening(open_run(run(tmp_path, ("tgt_tokens",), True, "tgt_tokens > 0 and src not like '%1%'")))
    assert top.heading.startswith("27 of 40 pairs kept (") and " by the clock" in top.lead
    page = str(top.body)
    assert page.index("The best 10") < page.index("Lost") < page.index("What decided")
    assert "src !~~ " in page and "not: " not in page and "<b>" not in page and "&lt;b&gt;" in page
    values = [float(value) for value in re.findall(r'<p class="n">([\d.]+)</p>', page)[:10]]
    assert len(values) == 10 and values == sorted(values, reverse=True)
    assert "Yield and precision" not in page, "paraphrase_score is not a probability"


def test_without_a_score_or_a_filter_the_first_pairs_are_shown(tmp_path: Path) -> None:
    top = opening(open_run(run(tmp_path, ("tgt_tokens",), False, "")))
    assert top.heading == "40 pairs" and "The first 10" in str(top.body) and "Lost" not in str(top.body)


def test_yields_are_counts_and_means_of_what_a_threshold_keeps() -> None:
    draw = np.random.default_rng(1)
    values = np.append(draw.random(500), np.nan)
    names = ["src_content_missing", "tgt_content_missing", "order_inversions"]
    batch = pa.RecordBatch.from_pydict(
        {"p_paraphrase": values, "chrf": np.where(values > 0.9, 95.0, 50.0), **dict.fromkeys(names, np.ones(501))}
    )
    top = yields([batch.slice(0, 300), batch.slice(300)], "p_paraphrase", batch.schema.names)
    assert top is not None
    for point in top.thresholds:
        kept = values[values >= float(point.name)]
        assert (point.rows, point.share) == (len(kept), len(kept) / 501)
        assert point.precision == pytest.approx(kept.mean())
    threshold = float(presets_for(batch.schema.names)["strict"].split()[2])
    strict = values[(values >= threshold) & (values <= 0.9)]
    assert [point.name for point in top.presets] == ["strict", "balanced", "loose"]
    assert (top.presets[0].rows, top.presets[0].precision) == (len(strict), pytest.approx(strict.mean()))
    assert yields([batch.slice(500)], "p_paraphrase", batch.schema.names) is None


def test_presets_need_their_columns() -> None:
    assert list(presets_for(["p_paraphrase", "chrf"])) == []


def test_bars_of_a_sparkline_are_as_high_as_their_share_of_the_highest() -> None:
    drawn = str(sparkline("s", [0, 1, 2, 3, 4], [4, 0, 1, 100], [0, 0, 1, 50]))
    assert re.findall(r"M(\d+) 20v-([\d.]+)", drawn) == [
        *(("0", "1"), ("8", "1"), ("12", "20")),
        *(("8", "1"), ("12", "10")),
    ]


def test_a_key_that_a_stage_no_longer_has_is_no_setting_that_somebody_chose() -> None:
    configuration = Clean(max_word_ratio=3.0).configuration()
    assert configuration["allow_identical"] is False
    assert _changed("clean", configuration) == {"max_word_ratio": 3.0}
