"""Encoders side by side: the bootstrap against scipy's, paired differences, PNMT Table 10, MTEB's shape."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paraloom.core.errors import DataError
from paraloom.evaluate.compare import compare_encoders
from paraloom.evaluate.mteb import mteb_results, write_mteb
from paraloom.evaluate.sts import evaluate_sts


class Hashed:
    """Vectors of words drawn by their spelling, with some noise of the sentence."""

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


def test_intervals_are_those_of_the_bootstrap(folder):
    from scipy import stats

    from paraloom.evaluate.sts import cosine
    from paraloom.evaluate.sts_tasks import choose_tasks, read_task

    encoder = Hashed(2.0)
    found = compare_encoders({"a": encoder}, folder, ["2012/MSRpar"], resamples=4000)
    table = evaluate_sts(encoder, folder, ["2012/MSRpar"])
    ((mean, low, high),) = found.means
    assert mean == pytest.approx(table.table[0].pearson, abs=1e-6)
    (task,) = choose_tasks(["2012/MSRpar"])
    pairs = read_task(folder, task)
    cosines = cosine(encoder.encode(pairs.first), encoder.encode(pairs.second))
    theirs = stats.bootstrap(
        (pairs.scores, cosines),
        lambda x, y: stats.pearsonr(x, y).statistic,
        paired=True,
        vectorized=False,
        n_resamples=4000,
        method="percentile",
        rng=np.random.default_rng(5),
    ).confidence_interval
    assert (low, high) == pytest.approx((100 * theirs.low, 100 * theirs.high), abs=1.0)


def test_a_paired_difference_is_narrower_than_two_intervals(folder):
    found = compare_encoders({"a": Hashed(1.0), "b": Hashed(1.0, seed=1), "c": Hashed(6.0)}, folder, resamples=500)
    for k in (1, 2):
        value, low, high = found.difference(k, 0)
        assert value == pytest.approx(found.means[k][0] - found.means[0][0])
        assert low < value < high
        assert high - low < sum(end - start for _, start, end in (found.means[0], found.means[k]))
    assert found.difference(2, 0)[2] < 0 < found.difference(0, 2)[1]
    assert found.difference(0, 0) == (0, 0, 0)


def test_distances_are_table_tens(folder):
    found = compare_encoders({"a": Hashed(1.0), "b": Hashed(3.0)}, folder, resamples=10)
    by_hand = (abs(found.pearson[0, 0] - found.pearson[1, 0]) + abs(found.pearson[0, 1] - found.pearson[1, 1])) / 2
    np.testing.assert_allclose(found.distances, [[0, by_hand], [by_hand, 0]])
    assert "Table 10" in found.render()
    assert found.to_json()["mean_absolute_differences"][0][1] == pytest.approx(by_hand)
    with pytest.raises(DataError, match="none of the similarity tasks"):
        compare_encoders({"a": Hashed(1.0)}, folder / "2012")


def test_mtebs_files_have_its_shape_and_its_protocol(folder, tmp_path):
    table = evaluate_sts(Hashed(1.0), folder)
    (path,) = write_mteb(table, tmp_path / "mteb")
    assert path.name == "STS12.json"
    content = json.loads(path.read_text())
    ((subset,), row) = content["scores"]["test"], table.figure("2012", "all")
    assert content["task_name"] == "STS12"
    assert subset["main_score"] == subset["cosine_spearman"] == pytest.approx(row.spearman / 100)
    assert subset["cosine_pearson"] == pytest.approx(row.pearson / 100)
    assert mteb_results(evaluate_sts(Hashed(1.0), folder, ["2012/MSRpar"])) == {}
