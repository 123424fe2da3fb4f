"""What all tests share: where the real data is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora; a test that asks for it is skipped where there is none."""
    folder = os.environ.get("PARALOOM_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("real corpora are not here: set PARALOOM_DATA to their folder to run this test")
    return Path(folder)


@pytest.fixture(scope="session")
def toy_translator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator from Kal to English (tests/world.py), trained in seconds; skipped without torch."""
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    pytest.importorskip("transformers", reason="training needs transformers: pip install 'paraloom[train]'")
    from world import TOY_CONFIG, toy_bitext

    from paraloom.mt.train import train_translator

    folder = tmp_path_factory.mktemp("kal-en")
    train_translator(lambda: toy_bitext(1500), toy_bitext(100, seed=2), TOY_CONFIG, folder)
    return folder
