"""Tuning of filters: the stages, the table and the conclusion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paraloom.api.filter_grids import expand_grids
from paraloom.api.tuning import Tuning, TuningResult, tuning_stages
from paraloom.core.errors import ConfigError


def tuning(**changes: Any) -> Tuning:
    return Tuning(**{"pairs": "scored.tsv", "grids": ["bleu1 < 0.5"], "sts": "sts", "random_seeds": 2, **changes})


def result(difference: dict[str, float]) -> TuningResult:
    rows: list[dict[str, Any]] = [
        {"selection": "bleu1 < 0.5", "pairs": 1200, "seeds": 1, "epoch": 3, "dev_pearson": 61.5},
        {"selection": "random", "pairs": 1200, "seeds": 2, "epoch": 2, "dev_pearson": 60.0, "low": 58.0, "high": 62.0},
    ]
    verdict = [{**rows[0], "test_pearson": 55.0, "difference": difference}, {**rows[1], "test_pearson": 54.0}]
    return TuningResult(rows, "bleu1 < 0.5", verdict)


def test_each_draw_of_a_candidate_is_selected_and_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scored.tsv").write_text("")
    names = [stage.name for stage in tuning_stages(tuning())]
    assert names == [
        "input",
        "random-1",
        "encoder-random-1",
        "random-2",
        "encoder-random-2",
        "bleu1-below-0p5-1",
        "encoder-bleu1-below-0p5-1",
        "tuned",
    ]


def test_conditions_that_differ_in_an_operator_have_stages_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scored.tsv").write_text("")
    grids = [f"bleu1 {operator} 0.5" for operator in ("<", "<=", ">", ">=", "<>")]
    names = [stage.name for stage in tuning_stages(tuning(grids=grids))]
    assert len(set(names)) == len(names)


def test_the_winner_is_trained_as_often_as_the_random_selection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scored.tsv").write_text("")
    *_, verdict = tuning_stages(tuning(random_seeds=3), winner="bleu1 < 0.5")
    assert verdict.name == "verdict"
    labels = verdict.labels  # type: ignore[attr-defined]
    assert labels.count("random") == labels.count("bleu1 < 0.5") == 3
    assert verdict.against == "random"  # type: ignore[attr-defined]


def test_the_table_and_its_conclusion() -> None:
    lines = result({"mean": 1.0, "low": 0.25, "high": 1.75}).format().splitlines()
    assert lines[0].split() == ["selection", "pairs", "epoch", "Pearson"]
    assert lines[1].split() == ["bleu1", "<", "0.5", "1,200", "3", "61.50"]
    assert lines[2].endswith("60.00  [58.00, 62.00] over 2 seeds")
    assert [line for line in lines if "on the test tasks:" in line] == lines[3:-1]
    assert lines[-1] == (
        "bleu1 < 0.5 beats random selection: with 1,200 pairs, Pearson on the test tasks is +1.00 [+0.25, +1.75] "
        "against 1,200 random pairs."
    )


def test_the_untrained_encoders_are_beside_the_trained_ones() -> None:
    untrained = result({"mean": 1.0, "low": 0.25, "high": 1.75})
    for row in untrained.verdict:
        row["untrained_test_pearson"] = row["test_pearson"] - 2.5
    assert any(line.endswith("untrained 52.50") for line in untrained.format().splitlines())
    assert untrained.conclusion().endswith("Against the untrained encoder that its trainings started from it is +2.50.")


@pytest.mark.parametrize("difference", [{"mean": 1.0, "low": -0.5, "high": 2.5}, {"mean": 1.0}])
def test_a_gain_within_the_interval_is_not_claimed(difference: dict[str, float]) -> None:
    row = result(difference)
    assert row.conclusion().startswith("No selection is known to beat random selection.")
    assert row.to_dict()["conclusion"] == row.conclusion() and row.to_dict()["winner"] == "bleu1 < 0.5"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 0}, "'size' must be 1 or more, not 0"),
        ({"encoder": {"megabatch": 20}}, "'megabatch' is now called 'megabatch_size'"),
        ({"encoder": {"spek": "word"}}, "did you mean 'spec'"),
    ],
)
def test_invalid_configurations(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        tuning(**changes)


def test_an_unknown_grid() -> None:
    with pytest.raises(ConfigError, match="unknown grid 'w17-lenght'; did you mean 'w17-length'"):
        expand_grids(["w17-lenght"])
