"""The rooms: imports run one way, heavy packages stay out of the command's start, every file says what it is for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import paraloom

ROOT = Path(paraloom.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py"))

MIDDLE = ("align", "mt", "pairs", "syntax", "diversity", "embed", "evaluate")
BELOW = {
    "core": (),
    **{room: ("core",) for room in MIDDLE},
    "generate": ("core", *MIDDLE),
    "run": ("core", *MIDDLE, "generate"),
    "recipes": ("core", *MIDDLE, "generate", "run"),
}
for face in ("cli", "report", "explore"):
    BELOW[face] = ("core", *MIDDLE, "generate", "run", "recipes")
BELOW["cli"] += ("report",)  # a run ends with its page


def imports(path: Path) -> set[str]:
    """The rooms that a file imports from, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
        found |= {name.split(".")[1] for name in names if name.startswith("paraloom.")}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_run_one_way(path: Path) -> None:
    parts = path.relative_to(ROOT).parts
    if len(parts) > 1:
        allowed = {parts[0], *BELOW[parts[0]]}
        assert imports(path) <= allowed, f"{parts[0]} may import {sorted(allowed)}"


def test_the_check_above_sees_an_import(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text("def f():\n    from paraloom.cli.main import app\n    import paraloom.core.stage\n")
    assert imports(path) == {"cli", "run"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_says_what_it_is_for_and_stays_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 300
    assert path.stem not in ("utils", "helpers", "misc", "common")
    assert len(path.relative_to(ROOT).parts) <= 3


def test_the_command_starts_without_the_heavy_packages() -> None:
    heavy = ("torch", "transformers", "ray", "numba", "ctranslate2", "duckdb", "scipy", "pyarrow")
    script = f"import sys, paraloom.cli.main; print([name for name in {heavy!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_nothing_is_unpickled() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        for call in ("pickle.load", "torch.load", "allow_pickle=True", "joblib.load"):
            assert call not in text, f"{path.name} calls {call}"
