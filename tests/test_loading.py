"""Nothing is loaded that is not asked for: modules of ours, and heavy packages, by function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from paraloom.io import read_pairs, write_pairs

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
        ("paraloom.align", 30),
        ("paraloom.read_pairs", 55),
        ("paraloom.Encoder.load('english').encode(['A cat sleeps.'])", 47),
        ("paraloom.Encoder.load('multilingual').encode(['A cat sleeps.'])", 47),
        ("paraloom.stages.ReadPairs", 40),
        ("paraloom.stages.Score", 38),
        ("paraloom.Pairs", 52),
        ("from paraloom.mt import Beam", 25),
        ("from paraloom.pairs.scoring.table import COLUMNS", 20),
    ],
)
def test_modules_by_function(call: str, budget: int) -> None:
    script = SCRIPT.format(call=call, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    count, heavy = json.loads(done.stdout)
    assert heavy == []
    assert count <= budget


@pytest.mark.slow
def test_alignment_does_not_load_pandas() -> None:
    script = SCRIPT.format(call="paraloom.align(['Ein Haus.', 'Ein Hund.'], ['A house.', 'A dog.'])", heavy=("pandas",))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[1] == []


COMMAND = """
import contextlib, json, sys
from paraloom.cli.main import main
sys.argv = ["paraloom", *sys.argv[1:]]
with contextlib.suppress(SystemExit):
    main()
own = {name for name in sys.modules if name.partition(".")[0] == "paraloom"}
print(json.dumps([sorted(own), [name for name in ("ctranslate2", "scipy.linalg", "ray") if name in sys.modules]]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "budget", "packages"),
    [
        (["score", "pairs.tsv", "--with", "overlap", "-o", "out.parquet"], 107, ("mt", "embed", "alignment")),
        (["filter", "pairs.parquet", "--where", "trigrm <= 0.7", "-o", "out.parquet"], 116, ("embed", "alignment")),
    ],
)
def test_modules_by_command(arguments: list[str], budget: int, packages: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("A dog sleeps.\tA dog is asleep.\n" * 100)
    write_pairs(read_pairs(tmp_path / "pairs.tsv"), tmp_path / "pairs.parquet")
    call = [sys.executable, "-c", COMMAND, *arguments]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True)
    own, heavy = json.loads(done.stdout.splitlines()[-1])
    assert heavy == [] and not [name for name in own if name.split(".")[1:2] in [[package] for package in packages]]
    assert len(own) <= budget


@pytest.mark.slow
def test_no_use_is_recorded(tmp_path: Path) -> None:
    """onnxruntime 1.31 writes a session file and a database of events where its makers' variable is not set."""
    pytest.importorskip("onnxruntime")
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"} | home
    script = "import paraloom, onnxruntime"
    subprocess.run([sys.executable, "-c", script], env=environment, cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []
