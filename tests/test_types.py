"""The public functions and those of `api` are typed for their callers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_misspelt_keyword_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text('from paraloom import api\n\napi.align_files("a.de", "a.en", "out.tsv", max_beed_size=3)\n')
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(script)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "src", check=False)
    assert "Unexpected keyword argument" in done.stdout, done.stdout + done.stderr
