"""Numbers of addresses are read in one place: `int` and `float` take "²"-like digits, "1_0" and "inf", or fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import paraloom.web

PACKAGE = Path(paraloom.web.__file__).parent
TEXTS = {"str", "Query", "ViewState", "Mapping[str, str]"}
"""Annotations of what a request says."""

SAID = {"extra", "headers", "query", "form", "path"}
"""Attributes that hold what a request says."""


def roots(node: ast.AST | None) -> set[str]:
    """The names that the value of an expression comes from; arguments of a function do not count."""
    match node:
        case ast.Name(id=name):
            return {name}
        case ast.Attribute(value=value, attr=name):
            return {name} | roots(value)
        case ast.Subscript(value=value) | ast.Call(func=value) | ast.Starred(value=value) | ast.NamedExpr(value=value):
            return roots(value)
        case ast.GeneratorExp(elt=value) | ast.ListComp(elt=value) | ast.DictComp(value=value):
            return roots(value)
        case ast.BinOp() | ast.BoolOp() | ast.IfExp() | ast.Tuple():
            return set().union(*(roots(child) for child in ast.iter_child_nodes(node)))
    return set()


def said(function: ast.FunctionDef) -> set[str]:
    """The names in a function that hold what a request says."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    names = {a.arg for a in arguments if a.annotation is not None and ast.unparse(a.annotation) in TEXTS} | SAID
    for _ in range(3):
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=targets, value=value):
                    pass
                case ast.NamedExpr(target=target, value=value) | ast.comprehension(target=target, iter=value):
                    targets = [target]
                case _:
                    continue
            if roots(value) & names:
                names |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return names


def conversions(source: str) -> Iterator[str]:
    """Calls that read a number from what a request says."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        names = said(function)
        for call in ast.walk(function):
            match call:
                case ast.Call(func=ast.Name(id="int" | "float" | "complex" | "Decimal"), args=[value, *_]):
                    if roots(value) & names:
                        yield ast.unparse(call)
                case ast.Attribute(attr="isdigit" | "isdecimal" | "isnumeric"):
                    yield ast.unparse(call)


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_numbers_are_read_in_one_place(path: Path) -> None:
    calls = list(conversions(path.read_text(encoding="utf-8")))
    assert calls == (["int(text)", "float(text)"] if path.name == "parameters.py" else [])


def test_conversions_are_found() -> None:
    source = """
def page(state: ViewState, text: str, rows: int) -> None:
    given, other = (state.extra.get(name, "") for name in ("a", "b"))
    rank = state.extra["at"]
    int(given), float(rank.strip()), int(text[0]), int(rows), float(values(text)), text.isdigit()
    length = int(self.headers.get("Content-Length", ""))
"""
    assert sorted(conversions(source)) == [
        "float(rank.strip())",
        "int(given)",
        "int(self.headers.get('Content-Length', ''))",
        "int(text[0])",
        "text.isdigit",
    ]
