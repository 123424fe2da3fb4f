"""The drawing of the packages: every package and file is in it, packages above what they import, circles in red."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
SCRIPT = ROOT / "benchmarks/structure.py"

pytestmark = pytest.mark.slow


def draw(repo: Path, output: Path) -> ElementTree.Element:
    """The drawing of a checkout."""
    subprocess.run([sys.executable, str(SCRIPT), "--repo", str(repo), "-o", str(output)], check=True)
    return ElementTree.parse(output).getroot()


def test_every_file_has_a_tile(tmp_path: Path) -> None:
    root = draw(ROOT, tmp_path / "now.svg")
    tiles = [rect for rect in root.iter(f"{SVG}rect") if rect.get("class", "").startswith("file")]
    files = [path for path in (ROOT / "src/paraloom").rglob("*.py") if path != ROOT / "src/paraloom/__init__.py"]
    assert len([tile for tile in tiles if tile.find(f"{SVG}title") is not None]) == len(files)


def test_packages_stand_above_what_they_import_and_circles_are_red(tmp_path: Path) -> None:
    for name, text in {
        "low/a.py": "x = 1\n",
        "low/b.py": "from paraloom.low import c\n",
        "low/c.py": "from paraloom.low import b\n",
        "high/d.py": "def f():\n    from paraloom.low import a\n",
    }.items():
        path = tmp_path / "src/paraloom" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (path.parent / "__init__.py").touch()
    root = draw(tmp_path, tmp_path / "toy.svg")
    kinds = {
        (title.text or "").split(":")[0]: rect.get("class")
        for rect in root.iter(f"{SVG}rect")
        if (title := rect.find(f"{SVG}title")) is not None
    }
    assert kinds["paraloom.low.b"] == kinds["paraloom.low.c"] == "file circle"
    assert kinds["paraloom.high.d"] == "file late" and kinds["paraloom.low.a"] == "file"
    rows = {text.text: float(text.get("y", 0)) for text in root.iter(f"{SVG}text") if text.get("class") == "name"}
    assert rows["high"] < rows["low"]
