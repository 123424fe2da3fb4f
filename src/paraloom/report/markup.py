"""HTML and SVG as values: what is text is escaped, what is markup is not, and nothing can mistake one for the other."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

# A control character would make the page invalid; it is shown as the sign that stands for it.
_CONTROL = {code: 0x2400 + code for code in range(32) if code not in (9, 10, 13)} | {127: 0x2421}
_VOID = frozenset({"br", "hr", "img", "meta"})


class Html(str):
    """Markup that is safe to write into a page as it is."""


Part: TypeAlias = "Html | str | int | float | Iterable[Part] | None"


def element(name: str, /, *parts: Part, **attributes: object) -> Html:
    """One element; text among `parts` is escaped, None is nothing, an iterable is its parts.

    Attributes: a trailing underscore goes, others become hyphens (`class_`, `aria_label`); None and False leave the
    attribute out.

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
    """Parts one after another, escaped where they are text.

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


def foreign(*parts: Part, lang: str = "") -> Html:
    """Text from the data: its direction is its own and does not leak into ours."""
    return element("bdi", *parts, lang=lang or None)


def _attribute(key: str) -> str:
    return key if key in ("viewBox", "preserveAspectRatio") else key.rstrip("_").replace("_", "-")


def _plain(value: object) -> str:
    return str(value).translate(_CONTROL).encode("utf-8", "replace").decode()
