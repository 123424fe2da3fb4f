"""The templates of all pages: one environment, in which every text is escaped unless a template wrote it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup

from paraloom.core.errors import ConfigError
from paraloom.io.compression import open_write, without_compression
from paraloom.web import formatting

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Content-Security-Policy of a page: it runs no scripts and loads nothing, whatever the texts in it contain."""

# Control characters are invalid in HTML; the page shows their Unicode control pictures instead.
_DATA = (".csv", ".json", ".jsonl", ".md", ".parquet", ".pdf", ".tsv", ".txt", ".xlsx", ".zip")
_CONTROL = {code: 0x2400 + code for code in range(32) if code not in (9, 10, 13)} | {127: 0x2421}
_IN_TEXT = re.compile(r"(?<=[^\s>}])[ \t]*\n\s*(?=[^\s<{])")
_AT_TAG = re.compile(r"\s*\n\s*")


class _JoinedLines(Extension):
    """Lines of a template are in_sequence: by a space in text, by nothing next to a tag or an expression."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return _AT_TAG.sub("", _IN_TEXT.sub(" ", source))


def _plain(value: object) -> Any:
    if value is None:
        return ""
    if isinstance(value, str) and not isinstance(value, Markup):
        return value.translate(_CONTROL).encode("utf-8", "replace").decode()
    return value


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("paraloom.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_plain,
        extensions=[_JoinedLines],
    )
    names = ("count", "number", "label", "share", "duration", "plural", "score_name", "column_tooltip")
    environment.filters |= {name: getattr(formatting, name) for name in names}
    environment.globals["parts"] = environment.get_template("parts.html").module
    environment.globals["explore_parts"] = environment.get_template("explore_parts.html").module
    return environment


def draw(macro: str, *values: object, **options: object) -> Markup:
    """A part of a page, by a macro of `parts.html` or `explore_parts.html`; what it returns is not escaped again."""
    modules = [_environment().globals[name] for name in ("parts", "explore_parts")]
    drawn = next(getattr(module, macro) for module in modules if hasattr(module, macro))(*values, **options)
    assert isinstance(drawn, Markup)
    return drawn


def table(heads: Sequence[object], rows: Sequence[object], caption: str = "", **options: object) -> Markup:
    """A table whose first `text` columns (1) are texts; a row of one cell is a heading within it."""
    return draw("table", heads, rows, caption, **options)


def static(name: str) -> str:
    return files("paraloom.web").joinpath(f"static/{name}").read_text(encoding="utf-8")


def render(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values) + "\n"


def in_sequence(*parts: Markup | str | None) -> Markup:
    """Parts of a page one after the other; texts among them are escaped."""
    return Markup("").join(part for part in parts if part)


def write_page(path: Path, template: str, *, styles: Sequence[str] = (), script: str = "", **values: object) -> Path:
    """Write a page that needs no other file, with its style sheets and the one script that may run."""
    if (suffix := without_compression(path).suffix.lower()) in _DATA:  # which the page would replace
        raise ConfigError(f"unknown format '{suffix}' of a page", file=path, remedy="Name the output .html.")
    policy = POLICY
    text = static(script) if script else ""
    if script:
        policy += f"; script-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
    css = "".join(map(static, ("style.css", *styles)))
    page = render(template, policy=policy, styles=Markup(css), script=Markup(text), **values)
    with open_write(path) as stream:
        stream.write(page.encode())
    return path
