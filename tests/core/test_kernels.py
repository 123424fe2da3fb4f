"""Kernels: processes that start together compile each of them once."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest
from processes import start

SOURCE = Path(__file__).parents[2] / "src/paraloom"

COMPILE = """
from numba.core import event
from paraloom.text.tokens import tokenize

class Listener(event.Listener):
    def on_start(self, started):
        function = started.data["dispatcher"].py_func
        if function.__module__.startswith("paraloom."):
            print(function.__module__, function.__name__, started.data["args"])

    def on_end(self, ended):
        pass

event.register("numba:compile", Listener())
for texts in (["a b"], []):
    tokenize(texts)
"""


@pytest.mark.slow
def test_processes_compile_a_kernel_once(tmp_path: Path) -> None:
    processes = [start(COMPILE, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(3)]
    compiled: Counter[str] = Counter()
    for process in processes:
        printed, errors = process.communicate()
        assert process.returncode == 0, errors
        compiled.update(printed.splitlines())
    assert len(compiled) >= 3 and set(compiled.values()) == {1}
    names = [" ".join(line.split()[:2]) for line in compiled]
    assert len(set(names)) == len(names), "an empty list of texts has arrays of the same types"


def test_kernels_are_declared_by_one_decorator() -> None:
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "numba":
                assert path.name == "kernels.py" and path.parent.name == "core", f"{path}: use core.kernels.kernel"
