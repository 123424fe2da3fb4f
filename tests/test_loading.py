"""Nothing is loaded that is not asked for: modules of ours, and heavy packages, by function."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("numba", "scipy", "ctranslate2", "torch", "duckdb", "sentencepiece", "pandas")

SCRIPT = """
import contextlib, json, sys
import paraloom
with contextlib.suppress(paraloom.ParaloomError):
    {call}
own = [name for name in sys.modules if name.partition(".")[0] == "paraloom"]
print(json.dumps([len(own), [name for name in {heavy!r} if name in sys.modules]]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "budget"),
    [
        ("paraloom.align", 65),
        ("paraloom.read_pairs", 65),
        ("paraloom.stages.ReadPairs", 60),
        ("paraloom.stages.Score", 60),
        ("paraloom.Pairs", 65),
        ("from paraloom.mt import Beam", 25),
    ],
)
def test_modules_by_function(call: str, budget: int) -> None:
    script = SCRIPT.format(call=call, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    count, heavy = json.loads(done.stdout)
    assert heavy == []
    assert count <= budget
