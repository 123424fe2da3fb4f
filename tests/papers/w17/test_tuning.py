"""Tuning of filters: the stages, and bad settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paraloom.core.errors import ConfigError
from paraloom.papers.w17.filter_grids import GRIDS
from paraloom.papers.w17.tuning import Tuning, tuning_stages


def tuning(**changes: Any) -> Tuning:
    return Tuning(**{"pairs": "scored.tsv", "grids": ["w17-lm"], "sts": "sts", "random_seeds": 2, **changes})


def test_each_draw_of_a_candidate_is_selected_and_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scored.tsv").write_text("")
    names = [stage.name for stage in tuning_stages(tuning())]
    assert names[:7] == [
        "input",
        "random-1",
        "encoder-random-1",
        "random-2",
        "encoder-random-2",
        "tgt_perplexity-upto-25-1",
        "encoder-tgt_perplexity-upto-25-1",
    ]
    assert len(names) == 1 + 2 * (2 + 6)


def test_each_candidate_of_each_grid_has_stages_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scored.tsv").write_text("")
    names = [stage.name for stage in tuning_stages(tuning(grids=list(set(GRIDS) - {"w17-length-parts"})))]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 0}, "'size' must be 1 or more, not 0"),
        ({"encoder": {"megabatch": 20}}, "did you mean 'megabatch_size'"),
        ({"encoder": {"spek": "word"}}, "did you mean 'spec'"),
    ],
)
def test_invalid_configurations(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        tuning(**changes)
