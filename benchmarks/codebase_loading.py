"""Count the modules that commands and functions of a checkout load, and their processor seconds."""

from __future__ import annotations

import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 5
"""The least of so many runs counts, after one that fills the caches."""

COMMANDS = {
    "`paraloom -V`": ["-V"],
    "`paraloom --help`": ["--help"],
    "an unknown option": ["score", "pairs.tsv", "--wiht", "overlap", "-o", "OUT.parquet"],
    "an unknown column": ["filter", "pairs.parquet", "--where", "trigrm <= 0.7", "-o", "OUT.parquet"],
    "`paraloom score --with overlap`, 100 pairs": ["score", "pairs.tsv", "--with", "overlap", "-o", "OUT.parquet"],
}
"""What is shown → arguments of the command; OUT is another name each time."""

CODE = {
    "`paraloom.align`, two sentences": "import paraloom; paraloom.align(['Guten Morgen.'], ['Good morning.'])",
    "`paraloom.read_pairs`, 100 pairs": "import paraloom; len(paraloom.read_pairs('pairs.tsv').to_list())",
    "`Encoder.load('english').encode`": "import paraloom; paraloom.Encoder.load('english').encode(['A cat sleeps.'])",
    "`import numpy`": "import numpy",
    "`import pyarrow`": "import pyarrow",
    "Python alone": "pass",
}
"""What is shown → code."""

DRIVER = """
import sys
try:
    {code}
finally:
    own = sum(name.split('.')[0] == 'paraloom' for name in sys.modules)
    open('modules', 'w').write(str(own))
"""

RUN_COMMAND = "import runpy; sys.argv[0] = 'paraloom'; runpy.run_module('paraloom', run_name='__main__')"
"""Runs the command as `python -m paraloom`."""


def loading(repo: Path) -> dict[str, dict[str, float]]:
    """What is shown → modules of ours, and the least processor seconds of a run, its processes included."""
    compileall.compile_dir(repo / "src", quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        _make_pairs(Path(folder))
        _run(repo, folder, RUN_COMMAND, ["score", "pairs.tsv", "--with", "length", "-o", "pairs.parquet"])
        cases = [(name, RUN_COMMAND, arguments) for name, arguments in COMMANDS.items()]
        cases += [(name, code, []) for name, code in CODE.items()]
        return {name: _least(repo, folder, code, arguments) for name, code, arguments in cases}


def _make_pairs(folder: Path) -> None:
    lines = [f"The dog number {number} sleeps.\tA dog, number {number}, is asleep.\n" for number in range(100)]
    (folder / "pairs.tsv").write_text("".join(lines), encoding="utf-8")


def _least(repo: Path, folder: str, code: str, arguments: list[str]) -> dict[str, float]:
    seconds = []
    for number in range(RUNS + 1):
        output = f"out-{len(list(Path(folder).iterdir()))}-{number}"
        seconds.append(_run(repo, folder, code, [argument.replace("OUT", output) for argument in arguments]))
    return {"modules": json.loads((Path(folder) / "modules").read_text()), "seconds": round(min(seconds[1:]), 2)}


def _run(repo: Path, folder: str, code: str, arguments: list[str]) -> float:
    """Processor seconds of a run, those of its processes included; its exit status may be that of a mistake."""
    environment = {**os.environ, "PYTHONPATH": str(repo / "src")}
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", DRIVER.format(code=code), *arguments], cwd=folder, env=environment, capture_output=True
    )
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
