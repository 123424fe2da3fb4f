"""No option of a command is ignored."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from paraloom import cli

FILES = sorted(Path(cli.__file__).parent.glob("*.py"))


def unused(source: str) -> Iterator[str]:
    """Parameters that are options or arguments of a command, and that its body does not read."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        read = {n.id for part in function.body for n in ast.walk(part) if isinstance(n, ast.Name)}
        for argument in (*function.args.args, *function.args.kwonlyargs):
            annotation = ast.unparse(argument.annotation) if argument.annotation is not None else ""
            is_option = "typer." in annotation or "options." in annotation
            if is_option and "callback=" not in annotation and argument.arg not in read:
                yield f"{function.name}: {argument.arg}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_commands_read_all_their_options(path: Path) -> None:
    assert list(unused(path.read_text(encoding="utf-8"))) == []


def test_an_ignored_option_is_found() -> None:
    source = "def run(a: Annotated[int, typer.Option()], b: options.Seed = 1, c: int = 2) -> None:\n    print(b)"
    assert list(unused(source)) == ["run: a"]
