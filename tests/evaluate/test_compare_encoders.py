"""Comparison of encoders: the bootstrap against scipy's, paired differences, PNMT Table 10; MTEB's file format."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from paraloom.core.errors import DataError
from paraloom.core.stats import Estimate
from paraloom.evaluate.compare import compare_encoders
from paraloom.evaluate.sts import evaluate_sts, paired_cosines
from paraloom.evaluate.sts_tasks import read_task, select_tasks


class Hashed:
    """Sums random vectors of the words, with some noise for each sentence."""

    def __init__(self, noise: float, seed: int = 0):
        self.noise, self.seed, self.signature, self.dimension = noise, seed, f"hashed-{noise}-{seed}", 16

    def encode(self, sentences):
        rows = []
        for text in sentences:
            own = np.random.default_rng([self.seed, *text.encode()]).normal(size=16)
            rows.append(
                sum(np.random.default_rng([*w.encode()]).normal(size=16) for w in text.split()) + self.noise * own
            )
        return np.array(rows, np.float32)


@pytest.fixture
def folder(tmp_path):
    draw = np.random.default_rng(3)
    words = [f"w{i}" for i in range(40)]
    for name in ("MSRpar", "MSRvid"):
        lines = []
        for _ in range(120):
            first = list(draw.choice(words, 6))
            kept = draw.integers(0, 7)
            second = first[:kept] + list(draw.choice(words, 6 - kept))
            lines.append(f"{kept + draw.normal() / 2:.2f}\t{' '.join(first)}\t{' '.join(second)}\n")
        (tmp_path / "2012").mkdir(exist_ok=True)
        (tmp_path / f"2012/{name}.test.tsv").write_text("".join(lines))
    return tmp_path


@pytest.mark.slow
def test_intervals_are_those_of_the_bootstrap(folder):
    encoder = Hashed(2.0)
    comparison = compare_encoders({"a": encoder}, folder, ["2012/MSRpar"], resamples=4000)
    result = evaluate_sts(encoder, folder, ["2012/MSRpar"])
    (mean,) = comparison.means
    assert mean.value == pytest.approx(result.rows[0].pearson, abs=1e-6)
    (task,) = select_tasks(["2012/MSRpar"])
    pairs = read_task(folder, task)
    cosines = paired_cosines(encoder.encode(pairs.first), encoder.encode(pairs.second))
    theirs = stats.bootstrap(
        (pairs.scores, cosines),
        lambda x, y: stats.pearsonr(x, y).statistic,
        paired=True,
        vectorized=False,
        n_resamples=4000,
        method="percentile",
        rng=np.random.default_rng(5),
    ).confidence_interval
    assert (mean.low, mean.high) == pytest.approx((100 * theirs.low, 100 * theirs.high), abs=1.0)


def test_a_paired_difference_is_narrower_than_two_intervals(folder):
    comparison = compare_encoders({"a": Hashed(1.0), "b": Hashed(1.0, seed=1), "c": Hashed(6.0)}, folder, resamples=500)
    for k in (1, 2):
        difference, means = comparison.difference(k, 0), [comparison.means[0], comparison.means[k]]
        assert difference.value == pytest.approx(means[1].value - means[0].value)
        assert difference.low < difference.value < difference.high
        assert difference.high - difference.low < sum(mean.high - mean.low for mean in means)
    assert comparison.difference(2, 0).high < 0 < comparison.difference(0, 2).low
    assert comparison.difference(0, 0) == Estimate(0, 0, 0)


def test_distances_are_those_of_table_10(folder):
    comparison = compare_encoders({"a": Hashed(1.0), "b": Hashed(3.0)}, folder, resamples=10)
    by_hand = (
        abs(comparison.pearson[0, 0] - comparison.pearson[1, 0])
        + abs(comparison.pearson[0, 1] - comparison.pearson[1, 1])
    ) / 2
    np.testing.assert_allclose(comparison.distances, [[0, by_hand], [by_hand, 0]])
    assert "Table 10" in comparison.format()
    assert comparison.to_dict()["mean_absolute_differences"][0][1] == pytest.approx(by_hand)
    (folder / "empty").mkdir()
    with pytest.raises(DataError, match="similarity tasks not found"):
        compare_encoders({"a": Hashed(1.0)}, folder / "empty")


def test_overlap_is_one_more_row_on_request(folder):
    comparison = compare_encoders({"a": Hashed(1.0)}, folder, overlap=True, resamples=10)
    assert comparison.names == ("a", "overlap")
    assert [row["name"] for row in comparison.to_dict()["encoders"]] == ["a", "overlap"]
    assert comparison.resampled.shape == (10, 2, 2)
