"""Commands with URLs: inputs are fetched, a run goes to a bucket, nothing else may be written to a URL."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from storage_servers import BUCKET, s3_server

from paraloom.io.store import Store

Command: TypeAlias = Callable[..., tuple[int, str, str]]

PIPELINE = """
name = "lengths"

[[stage]]
use = "read-pairs"
source = "URL/pairs.de-en.tsv.gz"

[[stage]]
use = "score"
scores = ["length"]
"""
PAIRS = b"Guten Morgen.\tGood morning.\nHallo.\tHello there, you.\n"


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """URL of a folder with pairs in a bucket."""
    for name, value in s3_server().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    url = f"s3://{BUCKET}/{tmp_path.name}"
    Store.open(url).replace("pairs.de-en.tsv.gz", gzip.compress(PAIRS))
    return url


@pytest.mark.slow
def test_a_run_in_a_bucket(url: str, tmp_path: Path, paraloom: Command) -> None:
    (tmp_path / "p.toml").write_text(PIPELINE.replace("URL", url))
    there = ("run", "p.toml", "-o", f"{url}/run", "--engine", "inline", "--json")
    status, output, message = paraloom(*there)
    assert status == 0, message
    assert paraloom("run", "p.toml", "-o", f"{url}/run", "--dry-run")[0] == 0
    status, here, _ = paraloom("run", "p.toml", "-o", "here", "--engine", "inline", "--json")
    assert json.loads(output)["digest"] == json.loads(here)["digest"]
    status, output, message = paraloom("status", f"{url}/run")
    assert (status, message) == (0, "")
    assert "done" in output
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("s3")]


@pytest.mark.slow
def test_inputs_and_outputs(url: str, tmp_path: Path, paraloom: Command) -> None:
    status, _, message = paraloom("score", f"{url}/pairs.de-en.tsv.gz", "--with", "length", "-o", "scored.tsv")
    assert status == 0, message
    assert len((tmp_path / "scored.tsv").read_text().splitlines()) == 3
    status, _, message = paraloom("score", f"{url}/pairs.de-en.tsv.gz", "--with", "length", "-o", f"{url}/scored.tsv")
    assert status == 1
    assert "cannot write to a URL" in message
    status, _, message = paraloom("score", f"{url}/pears.tsv", "--with", "length", "-o", "other.tsv")
    assert status == 1
    assert f"{url}/pears.tsv: file not found" in message
    assert not (tmp_path / "other.tsv").exists()
