"""Statistics and samples of corpora in reports: compared with numpy and Counter, for any sharding."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.io import write_shard
from paraloom.web import corpus_stats
from paraloom.web.corpus_stats import (
    QUANTILES,
    TEXT_LIMIT,
    distributions,
    reasons,
)
from paraloom.web.samples import differences
from paraloom.web.training import thinned, training

ROWS = 500


def table() -> pa.Table:
    draw = random.Random(3)
    return pa.table(
        {
            "pair_id": [f"p{i}" for i in range(ROWS)],
            "src": ["x" * (TEXT_LIMIT + 100) if i == 0 else f"src {i}" for i in range(ROWS)],
            "tgt": [f"it's {i}" for i in range(ROWS)],
            "cost": pa.array([None if i % 50 == 0 else draw.lognormvariate(0, 1) for i in range(ROWS)], pa.float32()),
            "share": pa.array([i / (ROWS - 1) for i in range(ROWS)], pa.float64()),
            "words": pa.array([draw.randrange(3, 20) for _ in range(ROWS)], pa.int32()),
            "same": pa.array([2.5] * ROWS, pa.float32()),
            "none": pa.array([None] * ROWS, pa.float32()),
            "nan": pa.array([float("nan"), *([1.0] * (ROWS - 1))], pa.float32()),
            "reason": [draw.choice(["not: a <= 1", "undefined: b", "not: 'c'"]) for _ in range(ROWS)],
        }
    )


def written(folder: Path, rows: pa.Table, pieces: int) -> list[Path]:
    size = -(-len(rows) // pieces)
    paths = [folder / f"{pieces}'part-{i}.parquet" for i in range(pieces)]
    for i, path in enumerate(paths):
        write_shard(path, rows.slice(i * size, size), rows.schema)
    return paths


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return written(tmp_path_factory.mktemp("shards"), table(), 3)


@pytest.mark.parametrize("column", ["cost", "share", "words", "same", "nan"])
def test_distribution_matches_numpy(shards: list[Path], column: str) -> None:
    values = np.array(table().column(column).to_pylist(), float)
    values = values[np.isfinite(values)]
    result = distributions(shards, {column: None})[column]
    assert result is not None
    edges = result.edges
    assert distributions(shards, {column: edges})[column] == result
    assert (result.rows, result.undefined) == (ROWS, ROWS - len(values))
    assert result.quantiles == pytest.approx(np.quantile(values, QUANTILES), rel=1e-6)
    bins = np.clip(np.floor((values - edges[0]) / (edges[1] - edges[0])), 0, len(edges) - 2).astype(int)
    assert list(result.counts) == np.bincount(bins, minlength=len(edges) - 1).tolist()


def test_integers_get_bins_of_whole_numbers(shards: list[Path]) -> None:
    words = distributions(shards, {"words": None})["words"]
    assert words is not None and words.edges == tuple(float(n) for n in range(3, 21))


def test_values_that_nearly_span_0_to_1_are_shown_from_0_to_1(shards: list[Path]) -> None:
    share = distributions(shards, {"share": None})["share"]
    assert share is not None and (share.edges[0], share.edges[-1]) == (0, 1)


def test_columns_without_values_have_no_distribution(shards: list[Path]) -> None:
    assert distributions(shards, {"none": None, "words": (0.0, 20.0)})["none"] is None


def test_columns_may_be_read_together(shards: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """As when read one by one, also in sketches, which a column with few values does not need."""
    names = ["cost", "share", "words", "same", "nan", "none"]
    for exact, together in ((1_000_000, 4), (495, 6), (3, 1)):
        monkeypatch.setattr(corpus_stats, "_EXACT", exact)
        monkeypatch.setattr(corpus_stats, "_COLUMNS", together)
        one_by_one = [distributions(shards, {name: None})[name] for name in names]
        assert list(distributions(shards, dict.fromkeys(names)).values()) == one_by_one
    monkeypatch.setattr(corpus_stats, "_EXACT", 495)
    cost = distributions(shards, {"cost": None})["cost"]
    values = [value for value in table().column("cost").to_pylist() if value is not None]
    assert cost is not None and cost.quantiles == pytest.approx(np.quantile(values, QUANTILES), rel=1e-6)


def test_reasons_and_their_examples_do_not_depend_on_sharding(shards: list[Path], tmp_path: Path) -> None:
    samples = reasons(shards)
    assert {sample.group: sample.total for sample in samples} == Counter(table().column("reason").to_pylist())
    assert all(len(sample.rows) == 2 for sample in samples)
    shuffled = table().take(random.Random(0).sample(range(ROWS), ROWS))
    assert reasons(written(tmp_path, shuffled, 7)) == samples


def test_rare_reasons_are_summed_up(tmp_path: Path) -> None:
    rows = pa.table({"src": ["a"] * 30, "reason": [f"r{i}" for i in range(30)]})
    samples = reasons(written(tmp_path, rows, 1), max_reasons=5)
    assert [sample.total for sample in samples] == [1] * 5 + [25]
    assert samples[-1].group == "25 other reasons"


def test_long_texts_are_truncated(tmp_path: Path) -> None:
    (sample,) = reasons(written(tmp_path, table().slice(0, 1), 1))
    assert sample.rows[0]["src"] == "x" * TEXT_LIMIT + "…"


@pytest.mark.parametrize(
    ("a", "b", "left", "right"),
    [
        ("the cat", "the cat", "the cat", "the cat"),
        ("The cat", "the dog", "The <mark>cat</mark>", "the <mark>dog</mark>"),
        ("a big red car", "a car", "a <mark>big red</mark> car", "a car"),
        ("", "new", "", "<mark>new</mark>"),
        ("a & b", "a < b", "a <mark>&amp;</mark> b", "a <mark>&lt;</mark> b"),
        (" a  b ", "a b", " a  b ", "a b"),
        ("שלום עולם", "שלום", "שלום <mark>עולם</mark>", "שלום"),
    ],
)
def test_words_that_only_one_side_has_are_marked(a: str, b: str, left: str, right: str) -> None:
    assert differences(a, b) == (left, right)


def test_long_curves_are_thinned_and_keep_their_last_point() -> None:
    points = [(float(i), float(i * i)) for i in range(10_001)]
    result = thinned(points, max_points=100)
    assert len(result) <= 101
    assert result[-1] == points[-1]


def test_truncated_curve_files_are_drawn_without_the_last_line(tmp_path: Path) -> None:
    (tmp_path / "curve.jsonl").write_text('{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 1.5}\n{"step": 3, "lo')
    drawn = training("model", tmp_path)
    assert drawn is not None and "loss from 2.5 to 1.5" in drawn
