"""No option of a command is ignored."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator

import pytest

from paraloom.cli import registry
from paraloom.cli.front_page import MODULES


def unread(function: Callable[..., None]) -> Iterator[str]:
    """Parameters of a function that its body does not read."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    read = {node.id for part in tree.body for node in ast.walk(part) if isinstance(node, ast.Name)}
    yield from (name for name in inspect.signature(function).parameters if name not in read)


@pytest.mark.parametrize("module", MODULES)
def test_commands_read_all_their_options(module: str) -> None:
    functions = {command.name: command.run for command in registry.commands_in(module) if command.run is not None}
    assert {name: list(unread(function)) for name, function in functions.items()} == {name: [] for name in functions}


def test_an_ignored_option_is_found() -> None:
    def run(a: int, *, b: int = 1, **options: object) -> None:
        print(b, options)

    assert list(unread(run)) == ["a"]
