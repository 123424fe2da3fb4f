"""Area under the ROC curve: by hand, by counting pairs, intervals by bootstrap; look-alikes; labels that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.core.errors import DataError
from paraloom.evaluate.discrimination import ALL, auc, evaluate_discrimination, evaluate_lookalikes


def test_auc_counts_pairs() -> None:
    random = np.random.default_rng(0)
    right, wrong = random.integers(0, 6, 40) + 1.0, random.integers(0, 6, 30) * 1.0
    counted = np.mean([(a > b) + 0.5 * (a == b) for a in right for b in wrong])
    assert auc(right, wrong).value == pytest.approx(counted)
    assert auc([2, 3], [0, 1]).value == 1 and auc([0], [1]).value == 0


def test_the_interval_is_that_of_a_bootstrap() -> None:
    random = np.random.default_rng(1)
    right, wrong = random.normal(0.5, 1, 300), random.normal(0, 1, 200)
    estimate = auc(right, wrong)
    samples = [auc(random.choice(right, 300), random.choice(wrong, 200)).value for _ in range(1000)]
    assert [estimate.low, estimate.high] == pytest.approx(np.percentile(samples, [2.5, 97.5]), abs=0.012)


def test_few_pairs_in_order_do_not_prove_a_perfect_score() -> None:
    few, many = auc([3, 4, 5], [0, 1, 2]), auc(np.arange(300) + 400, np.arange(400))
    assert (few.value, few.high) == (1, 1) and few.low == pytest.approx(3 / (3 + 1.96**2), abs=1e-4)
    assert many.low > 0.98 and auc([0, 1, 2], [3, 4, 5]).high == pytest.approx(1 - few.low)
    assert auc([1, 1, 1], [1, 1, 1]).low < 0.5


def test_an_empty_class_is_undefined() -> None:
    assert np.isnan(auc([], [1.0]).value)
    assert np.isnan(auc([1.0], [0.0]).low)


def test_sets_kinds_and_directions() -> None:
    scores = {"up": [3, 1, 2, 9, 0], "down": [1, 5, 2, 0, 4], "none": [np.nan] * 5}
    result = evaluate_discrimination(
        scores, [1, 0, 0, 1, 0], ["a", "a", "a", "b", "b"], kinds=["", "name", "role", "", ""], lower_is_better=["down"]
    )
    cells = {(row.set, row.score): row for row in result.rows}
    assert list(dict.fromkeys(row.set for row in result.rows)) == ["a", "a: name", "a: role", "b", ALL]
    assert cells["a", "up"].auc.value == cells["a", "down"].auc.value == cells["b", "up"].auc.value == 1
    assert (cells["a: name", "up"].right, cells["a: name", "up"].wrong) == (1, 1)
    assert cells["a", "none"].undefined == 3 and np.isnan(cells["a", "none"].auc.value)
    text = result.format()
    assert text.index("up") < text.index("none") and "–" in text
    assert result.to_dict()["rows"][-1]["auc"]["value"] is None


@pytest.mark.parametrize(("labels", "message"), [([1, 1], "only pairs labeled as right"), ([0, 2], "neither 1")])
def test_bad_labels(labels: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        evaluate_discrimination({"x": [0.0, 1.0]}, labels, ["a", "a"])


def test_lookalikes_by_hand() -> None:
    result = evaluate_lookalikes(
        {"up": [1, 1, 1, np.nan], "down": [1, 1, 1, 1]},
        {"up": [2, 0, 1, 5], "down": [2, 0, 1, 0]},
        ["name", "name", "role", "role"],
        lower_is_better=["down"],
    )
    cells = {(row.kind, row.score): row for row in result.rows}
    assert cells["name", "up"].preferred.value == 0.5 and cells["role", "up"].preferred.value == 0.5
    assert cells["role", "up"].pairs == 1 and cells["role", "down"].preferred.value == 0.75
    assert "0 is best" in result.format() and result.to_dict()["changed"] == "tgt"


def test_a_score_that_is_undefined_for_all_lookalikes_is_none() -> None:
    result = evaluate_lookalikes({"up": [np.nan]}, {"up": [1.0]}, ["name"])
    assert result.to_dict()["rows"][0]["preferred"] == {"value": None, "low": None, "high": None}
    assert "nan" not in result.format() and "–" in result.format()
