"""The main text of an HTML page as paragraphs, its title and the language that it is said to be in."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from paraloom.core.errors import ConfigError, MissingExtraError, nearest

METHODS = ("site", "trafilatura", "justext")
"""Ways to the main text.  site: all paragraphs, those that the site repeats to be dropped later (align/repeated.py);
trafilatura: its extraction, recall favoured; justext: the paragraphs that jusText classes as good."""

Tree = Any
"""An lxml element: the root of a parsed page."""

# jusText looks for a paragraph's neighbours over the whole page, which takes the square of its length.
_STRETCH = 500
# Elements of trafilatura's body, which are those of TEI, that begin a paragraph and end the one before.
_BLOCKS = frozenset(("ab", "body", "cell", "code", "div", "head", "item", "list", "p", "quote", "row", "table"))
_SUBTAG = re.compile(r"[a-z]{2,3}")


def check_method(name: str) -> None:
    """Raises ConfigError where there is no such way, MissingExtraError where its packages are missing."""
    if name not in (*METHODS, "auto"):
        raise ConfigError(f"there is no main text by '{name}'{nearest(name, [*METHODS, 'auto'])}")
    try:
        import justext  # noqa: F401
        import trafilatura  # noqa: F401
    except ImportError:
        raise MissingExtraError.for_verb("extract", "extract") from None


def parse_html(text: str) -> Tree | None:
    """The tree of a page, whatever its faults (cut short, unclosed, no HTML at all); None where nothing is in it."""
    import lxml.html
    from lxml.etree import ParserError

    # As bytes, so that a declaration inside, which may be wrong, is not heeded; libxml2 takes NUL for the end.
    data = text.replace("\x00", "\ufffd").encode("utf-8", "replace")
    # Without huge_tree, what is deeper than 256 elements or longer than 10 MB is dropped in silence.
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return lxml.html.document_fromstring(data, parser=parser)
    except ParserError:
        return None


def title_of(tree: Tree) -> str:
    """What <title> says, else the first <h1>, else ''; white space normalised."""
    for path in (".//head/title", ".//title", ".//h1"):
        for element in tree.iterfind(path):
            if title := normalised("".join(element.itertext())):
                return title
    return ""


def language_of(tree: Tree) -> str | None:
    """The language that a page says it is in: <html lang>, xml:lang or <meta http-equiv=Content-Language>."""
    declared = tree.xpath("//meta[translate(@http-equiv, 'CONTELAGU', 'contelagu') = 'content-language']/@content")
    named = (tree.get("lang"), tree.get("xml:lang"), tree.get("{http://www.w3.org/XML/1998/namespace}lang"))
    return next((found for label in (*named, *declared) if (found := primary_language(label))), None)


def primary_language(label: str | None) -> str | None:
    """The primary subtag of a language tag, None for what is none or names several.

    >>> primary_language("pt-BR"), primary_language("EN_us"), primary_language("de, en"), primary_language("")
    ('pt', 'en', None, None)
    """
    subtag = re.split(r"[-_]", (label or "").strip().lower())[0]
    return subtag if _SUBTAG.fullmatch(subtag) else None


def paragraphs_of(tree: Tree, method: str, language: str | None = None) -> list[str]:
    """The paragraphs of a page's main text in their order, none of them empty, white space normalised.

    method: one of METHODS.  language: a two-letter code, with which jusText finds its stop list; without, or where it
    has none for it, it judges by length and links alone.  The tree stays as it was.

    >>> tree = parse_html("<ul><li>One<li>Two <b>words</b></ul>Three<script>four()</script>")
    >>> paragraphs_of(tree, "site")
    ['One', 'Two words', 'Three']
    """
    if method == "trafilatura":
        return _by_trafilatura(tree)
    from justext.core import ParagraphMaker, classify_paragraphs, preprocessor, revise_paragraph_classification

    found = ParagraphMaker.make_paragraphs(preprocessor(tree))
    if method == "justext":
        stop_list = _stop_list(language)
        densities = {} if stop_list else {"stopwords_low": 0, "stopwords_high": 0}
        for start in range(0, len(found), _STRETCH):
            classify_paragraphs(found[start : start + _STRETCH], stop_list, **densities)
            revise_paragraph_classification(found[start : start + _STRETCH])
        found = [paragraph for paragraph in found if not paragraph.is_boilerplate]
    return [text for paragraph in found if (text := normalised(paragraph.text))]


def paragraphs_of_text(text: str) -> list[str]:
    """The paragraphs of a plain text: its lines, or its blocks between empty lines where lines were broken to fit.

    Lines were broken where there are blocks of several lines and no line has more than 100 characters.

    >>> paragraphs_of_text("One\\nsentence.\\n\\nTwo."), paragraphs_of_text("One\\nTwo")
    (['One sentence.', 'Two.'], ['One', 'Two'])
    """
    lines = [normalised(line) for line in text.splitlines()]
    broken = "" in lines[:-1] and max(map(len, lines)) <= 100
    parts = re.split(r"\n{2,}", "\n".join(lines)) if broken else lines
    return [part.replace("\n", " ").strip() for part in parts if part.strip()]


def normalised(text: str) -> str:
    """The text with each run of white space, no-break spaces too, as one space."""
    return " ".join(text.split())


def _by_trafilatura(tree: Tree) -> list[str]:
    import trafilatura

    # It logs each page without text, which the logging module shows; here that is a reason in the counts.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    found = trafilatura.bare_extraction(tree, favor_recall=True, include_comments=False, include_tables=True)
    body = getattr(found, "body", None)
    return [] if body is None else [text for block in _pieces(body) if (text := normalised("".join(block)))]


def _pieces(body: Tree) -> Iterator[list[str]]:
    """The pieces of text between where blocks begin or end."""
    from lxml.etree import iterwalk

    held: list[str] = []
    for event, element in iterwalk(body, events=("start", "end")):
        block = element.tag in _BLOCKS
        if block:
            yield held
            held = []
        elif event == "start" and element.tag == "lb":
            held.append(" ")
        held.append((element.text if event == "start" else element.tail) or "")
    yield held


@cache
def _stop_list(language: str | None) -> frozenset[str]:
    import justext
    from babel import Locale, UnknownLocaleError

    try:
        name = Locale.parse(language or "").english_name or ""
    except (UnknownLocaleError, ValueError, TypeError):
        return frozenset()
    name = name.replace("å", "a").replace(" ", "_")  # Norwegian Bokmål is Norwegian_Bokmal
    return justext.get_stoplist(name) if name in justext.get_stoplists() else frozenset()
