"""HTML and SVG elements as values; text is always escaped, markup never twice."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

from markupsafe import Markup

# Control characters are invalid in HTML; the page shows their Unicode control pictures instead.
_CONTROL = {code: 0x2400 + code for code in range(32) if code not in (9, 10, 13)} | {127: 0x2421}
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


Html = Markup


Part: TypeAlias = "Html | str | int | float | Iterable[Part] | None"
"""Content of an element: markup, text, a number, any nesting of these, or None for nothing."""


def element(name: str, /, *parts: Part, **attributes: object) -> Html:
    """Build one element.

    Example:
        >>> element("p", "a < b", element("em", "!"), class_="note", hidden=False)
        '<p class="note">a &lt; b<em>!</em></p>'
    """
    written = "".join(
        f' {_attribute(key)}="{escape(_plain(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(*parts)}</{name}>")


def join(*parts: Part) -> Html:
    """Concatenate parts; text is escaped.

    Example:
        >>> join("1 < 2", None, ["; ", Html("<br>")])
        '1 &lt; 2; <br>'
    """
    written = []
    for part in parts:
        if isinstance(part, Html):
            written.append(str(part))
        elif isinstance(part, str | int | float):
            written.append(escape(_plain(part), quote=False))
        elif part is not None:
            written.append(str(join(*part)))
    return Html("".join(written))


def isolated(*parts: Part, lang: str = "") -> Html:
    """Text from the data in a `<bdi>`: its writing direction does not affect the text around it."""
    return element("bdi", *parts, lang=lang or None)


def table(
    heads: Iterable[Part], rows: Iterable[Part], *, caption: Part = None, hidden_caption: bool = False, class_: str = ""
) -> Html:
    """A table with a header row."""
    cells = [head if isinstance(head, Html) else element("th", head, scope="col") for head in heads]
    return element(
        "table",
        None if caption is None else element("caption", caption, class_="unseen" if hidden_caption else None),
        element("thead", element("tr", cells)),
        element("tbody", rows),
        class_=class_ or None,
    )


def _attribute(key: str) -> str:
    return key if key in ("viewBox", "preserveAspectRatio") else key.rstrip("_").replace("_", "-")


def _plain(value: object) -> str:
    return str(value).translate(_CONTROL).encode("utf-8", "replace").decode()
