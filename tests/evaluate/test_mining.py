"""Precision, recall and F1 of mined pairs by hand, and files of true rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraloom.core.errors import DataError
from paraloom.evaluate.mining import evaluate_mining, read_gold_rows


def test_scores_by_hand() -> None:
    # From the best score down: right, wrong, right, right; four pairs are true, one of them is not among them.
    mined = ([0, 5, 2, 1], [0, 6, 2, 1], [1.9, 1.6, 1.2, 1.0])
    score = evaluate_mining(*mined, gold=[(0, 0), (1, 1), (2, 2), (3, 3)], threshold=1.5)
    assert (score.pairs, score.gold) == (2, 4)
    assert (score.precision, score.recall, score.f1) == pytest.approx((1 / 2, 1 / 4, 1 / 3))
    # F1 of the first 1, 2, 3, 4: 2/5, 2/6, 4/7, 6/8; below the last pair nothing follows to be halfway to.
    assert (score.best_f1, score.best_threshold) == pytest.approx((0.75, 1.0))
    assert (score.best_precision, score.best_recall) == pytest.approx((0.75, 0.75))


def test_the_best_threshold_lies_between_pairs_and_keeps_equal_scores_together() -> None:
    score = evaluate_mining([0, 1, 2, 3], [0, 1, 9, 9], [1.4, 1.2, 1.2, 1.1], [(0, 0), (1, 1)], 1.0)
    # All of 1.2 or none: F1 is 2/3 with one pair, 4/5 with three, 4/6 with four.
    assert (score.best_f1, score.best_threshold) == pytest.approx((0.8, 1.15))
    in_other_order = evaluate_mining([3, 2, 0, 1], [9, 9, 0, 1], [1.1, 1.2, 1.4, 1.2], [(0, 0), (1, 1)], 1.0)
    assert in_other_order == score


def test_nothing_mined_and_nothing_right() -> None:
    for mined in (([], [], []), ([0], [1], [1.2])):
        score = evaluate_mining(*mined, gold=[(0, 0)], threshold=1.06)
        assert (score.precision, score.recall, score.f1, score.best_f1) == (0, 0, 0, 0)
    with pytest.raises(DataError, match="no true pairs"):
        evaluate_mining([0], [0], [1.0], [], 1.06)


@pytest.mark.parametrize("line", ["1", "1\t2\t3", "0\t1", "a\tb", "1.5\t2", ""])
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "gold.tsv"
    file.write_text(f"3\t4\n{line}\n")
    with pytest.raises(DataError) as error:
        read_gold_rows(file)
    assert error.value.row == 2


def test_rows_may_have_any_white_space_around_them(tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text("\x1c1\t2 \n3\t1\n")
    assert read_gold_rows(tmp_path / "gold.tsv") == [(0, 1), (2, 0)]
