"""The notebooks run from top to bottom and print what they have stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from notebooks import code_cells, executed, stored_output
from shown_output import differences

FOLDER = Path(__file__).parents[2] / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_prints_what_it_stores(path: Path, tmp_path: Path) -> None:
    cells = code_cells(json.loads(path.read_text("utf-8")))
    for cell, outputs in zip(cells, executed(path, tmp_path), strict=True):
        changed = differences(stored_output(cell), stored_output({"outputs": outputs}))
        assert not changed, f"{''.join(cell['source'])}\n{changed}\nTo store it: python tests/notebooks.py {path}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_a_valid_file_with_outputs(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["metadata"]["kernelspec"]["name"]) == (4, "python3")
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"]) <= 25
    assert all(cell["execution_count"] for cell in code_cells(notebook))
    assert any(cell["outputs"] for cell in code_cells(notebook))
    assert len(path.read_bytes()) < 100_000


def test_page_lists_the_notebooks() -> None:
    page = (FOLDER / "index.md").read_text("utf-8")
    assert len(NOTEBOOKS) == 3
    assert all(f"({path.name})" in page for path in NOTEBOOKS)
