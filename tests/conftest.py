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
