"""Tuning of filters: the stages, and bad settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paraloom.core.errors import ConfigError
from paraloom.papers.w17.filter_grids import expand_grids
from paraloom.papers.w17.tuning import Tuning, tuning_stages


def tuning(**changes: Any) -> Tuning:
    return Tuning(**{"pairs": "scored.tsv", "grids": ["bleu1 < 0.5"], "sts": "sts", "random_seeds": 2, **changes})


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
    ]


def test_conditions_that_differ_in_an_operator_have_stages_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scored.tsv").write_text("")
    grids = [f"bleu1 {operator} 0.5" for operator in ("<", "<=", ">", ">=", "<>")]
    names = [stage.name for stage in tuning_stages(tuning(grids=grids))]
    assert len(set(names)) == len(names)


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
