"""The templates: every text is escaped, a missing value is an error, and nothing that is data is marked as safe."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import jinja2
import pytest

import paraloom
from paraloom.web.templates import draw, in_sequence, table

PACKAGE = Path(paraloom.__file__).parent
TEMPLATES = sorted((PACKAGE / "web" / "templates").glob("*.html"))
MARKED = {
    # Style sheets and scripts of ours; the empty string, to join parts.
    "web/templates.py": ["Markup('')", "Markup(css)", "Markup(text)"],
    "web/row_page.py": ["Markup()"],
    # A link to the page, in a notebook.
    "web/explorer.py": ["""Markup("<a href='{0}' target='_blank' rel='noopener'>{0}</a>")"""],
    # The style sheets of the gallery.
    "web/demo.py": ["Markup(css)"],
}
"""File → calls that mark a text as safe."""


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_marks_a_text_as_safe(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe|autoescape|Markup", text)


def test_texts_are_marked_as_safe_in_few_places() -> None:
    marked: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "arkup" in text:
            calls = [
                ast.unparse(node)
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Markup", "markupsafe.Markup")
            ]
            if calls:
                marked[str(path.relative_to(PACKAGE))] = sorted(calls)
    assert marked == MARKED


def test_only_one_file_makes_an_environment() -> None:
    users = [
        path.name for path in PACKAGE.rglob("*.py") if "import jinja2" in (t := path.read_text()) or "from jinja2" in t
    ]
    assert users == ["templates.py"]


def test_texts_and_attributes_are_escaped_and_control_characters_are_shown() -> None:
    text = '<b>"it\'s" & \x00\ud800'
    shown = draw("bdi", text, text)
    inside = "&lt;b&gt;&#34;it&#39;s&#34; &amp; ␀?"
    assert shown == f'<bdi lang="{inside}">{inside}</bdi>'
    assert draw("bdi", shown) == f"<bdi>{shown}</bdi>"
    assert in_sequence("a < b", None, draw("key", "<")) == "a &lt; b<kbd>&lt;</kbd>"


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        draw("quiet")


def test_a_table_has_heads_for_rows_and_columns() -> None:
    shown = table(("name", "n"), [["a", 1], ["apart"], ["b", None]], "Some")
    assert shown.startswith(
        '<table><caption>Some</caption><thead><tr><th scope="col">name</th><th scope="col" class="n">'
    )
    assert '<tr><th scope="row">a</th><td class="n">1</td></tr>' in shown
    assert '<tr class="subhead"><th scope="colgroup" colspan="2">apart</th></tr>' in shown
