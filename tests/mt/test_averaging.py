"""Ensembles and averages of checkpoints are gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Command

from paraloom.core.config import check_keys
from paraloom.core.errors import ConfigError, ModelError
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.loading import open_translator
from paraloom.pipeline.registry import load_stage


def test_ensembles_are_gone(tmp_path: Path, paraloom: Command) -> None:
    (tmp_path / "text.txt").write_text("mi lo ka\n")
    status, _, err = paraloom("translate", "de-en+de-en", tmp_path / "text.txt", "-o", tmp_path / "out.txt")
    assert status == 1 and "ensembles are gone" in err and "Name one translator" in err
    with pytest.raises(ConfigError, match="key 'average_last' is gone"):
        check_keys(TranslatorConfig, {"average_last": 2})
    with pytest.raises(ConfigError, match="stage 'load-ensemble' is gone"):
        load_stage("load-ensemble")
    (tmp_path / "ensemble.json").write_text("{}")
    with pytest.raises(ModelError, match="ensembles are gone"):
        open_translator(tmp_path, "beam:5")
