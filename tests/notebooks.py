"""Execute notebooks without Jupyter: the code cells in order, in one namespace, in a folder of their own.

python tests/notebooks.py docs/notebooks/*.ipynb    # stores the outputs in the notebooks
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells that are executed."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def stored_output(cell: dict[str, Any]) -> str:
    """The text that a cell has as its output."""
    texts = (output.get("text") or output["data"]["text/plain"] for output in cell["outputs"])
    return "".join("".join(text) for text in texts)


def executed(path: Path, folder: Path) -> list[list[dict[str, Any]]]:
    """The outputs of the code cells of a notebook, executed by a process of its own."""
    command = [sys.executable, __file__, "--execute", str(path.resolve())]
    # The command in the notebooks' lines that start with ! is the one of this environment.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "100"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    outputs: list[list[dict[str, Any]]] = json.loads(done.stdout.splitlines()[-1])
    return outputs


def _execute(path: Path) -> list[list[dict[str, Any]]]:
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_outputs("".join(cell["source"]), names) for cell in code_cells(json.loads(path.read_text("utf-8")))]


def _outputs(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Execute a cell: what it printed, and the value of its last line, as Jupyter shows them."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(True)
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _store(path: Path) -> None:
    """Write the outputs of a notebook's cells into it."""
    notebook = json.loads(path.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        outputs = executed(path, Path(folder))
    for number, (cell, produced) in enumerate(zip(code_cells(notebook), outputs, strict=True), 1):
        cell["execution_count"] = number
        cell["outputs"] = [{**one, "execution_count": number} if "execution_count" in one else one for one in produced]
        print(stored_output(cell), end="")
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "--execute":
        print(json.dumps(_execute(Path(sys.argv[2])), ensure_ascii=False))
    else:
        for name in sys.argv[1:]:
            _store(Path(name))
