"""Extracts the main text of an HTML page as paragraphs, its title and its declared language."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from paraloom.core.errors import ConfigError, MissingExtraError, nearest
from paraloom.text.normalize import collapse_spaces

METHODS = ("site", "trafilatura", "justext")
"""Methods of extracting the main text. site: all paragraphs, of which repeated ones are dropped later (boilerplate.py).
trafilatura: its extraction, in favor of recall. justext: the paragraphs that jusText classifies as good."""

Tree = Any  # An lxml element: the root of a parsed page

# jusText searches the neighbors of each paragraph over the whole page, in quadratic time.
_MAX_PARAGRAPHS = 500
# Block elements of trafilatura's result, which is in TEI.
_BLOCK_TAGS = frozenset(("ab", "body", "cell", "code", "div", "head", "item", "list", "p", "quote", "row", "table"))

MAX_ATTRIBUTES = 1000  # Attributes of a tag at most: libxml2 compares them in quadratic time
MAX_DEPTH = 512  # Elements within each other at most, as in browsers; libxml2 drops the text of some 2,000
MAX_ELEMENTS = 250_000  # Elements of a page at most; a long one has some 30,000

# Elements whose content is program code, input or output, not prose of some language; or a class that says so.
_IS_CODE = (
    "self::pre or self::code or self::kbd or self::samp or self::tt or self::var "
    "or contains(concat(' ', normalize-space(@class), ' '), ' code ')"
)
_OUTERMOST_CODE = f"//*[{_IS_CODE}][not(ancestor::*[{_IS_CODE}])]"

# A start tag; a quotation mark opens a value only after an equals sign, elsewhere it is a part of a name.
_VALUE = r"""=\s*+(?:"[^"]*+"|'[^']*+')"""
_LONG_TAG = re.compile(rf"<[a-zA-Z](?:{_VALUE}|[^>]){{{2 * MAX_ATTRIBUTES},}}+")
_ATTRIBUTE = re.compile(r"[\s/]++[^\s/]")
_SUBTAG = re.compile(r"[a-z]{2,3}")


def check_method(name: str) -> None:
    if name not in (*METHODS, "auto"):
        raise ConfigError(f"unknown method '{name}' of extracting main text{nearest(name, [*METHODS, 'auto'])}")
    try:
        import justext  # noqa: F401
        import trafilatura  # noqa: F401
    except ImportError:
        raise MissingExtraError.for_verb("extract", "extract") from None


class PageLimitError(ValueError):
    """A page is beyond one of the limits that bound the time and memory it takes; the message says which."""


def check_tags(text: str) -> None:
    """Check the number of attributes of each tag, before a page is parsed."""
    for tag in _LONG_TAG.finditer(text):
        names = re.sub(_VALUE, "= ", tag[0])
        if sum(1 for _ in _ATTRIBUTE.finditer(names)) > MAX_ATTRIBUTES:
            raise PageLimitError(f"a tag has more than {MAX_ATTRIBUTES:,} attributes")


def check_tree(tree: Tree) -> None:
    """Check the size of a parsed page, before its text is extracted."""
    from lxml.etree import iterwalk

    depth = elements = 0
    for event, _ in iterwalk(tree, events=("start", "end")):
        if event == "end":
            depth -= 1
            continue
        depth += 1
        elements += 1
        if depth > MAX_DEPTH:
            raise PageLimitError(f"more than {MAX_DEPTH:,} elements within each other")
        if elements > MAX_ELEMENTS:
            raise PageLimitError(f"more than {MAX_ELEMENTS:,} elements")


def parse_html(text: str) -> Tree | None:
    """Parse a page, whatever is wrong with it."""
    import lxml.html
    from lxml.etree import ParserError

    # As bytes with a given encoding, so that a wrong declaration in the page is ignored; libxml2 stops at NUL.
    data = text.replace("\x00", "\ufffd").encode("utf-8", "replace")
    # Without huge_tree, content deeper than 256 elements or longer than 10 MB is silently dropped.
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return lxml.html.document_fromstring(data, parser=parser)
    except ParserError:
        return None


def extract_title(tree: Tree) -> str:
    """The title of a page: <title>, else the first <h1>, else '', with white space collapsed."""
    for path in (".//head/title", ".//title", ".//h1"):
        for element in tree.iterfind(path):
            if title := collapse_spaces("".join(element.itertext())):
                return title
    return ""


def declared_language(tree: Tree) -> str | None:
    """The language that a page declares: <html lang>, xml:lang or <meta http-equiv=Content-Language>."""
    declared = tree.xpath("//meta[translate(@http-equiv, 'CONTELAGU', 'contelagu') = 'content-language']/@content")
    attributes = (tree.get("lang"), tree.get("xml:lang"), tree.get("{http://www.w3.org/XML/1998/namespace}lang"))
    return next((lang for label in (*attributes, *declared) if (lang := primary_language(label))), None)


def primary_language(label: str | None) -> str | None:
    """The primary subtag of a language tag, None for an invalid tag or several."""
    subtag = re.split(r"[-_]", (label or "").strip().lower())[0]
    return subtag if _SUBTAG.fullmatch(subtag) else None


def extract_paragraphs(tree: Tree, method: str, language: str | None = None) -> list[str]:
    """Extract the paragraphs of the main text of a page."""
    if method == "trafilatura":
        return _by_trafilatura(tree)
    from justext.core import ParagraphMaker, classify_paragraphs, preprocessor, revise_paragraph_classification

    paragraphs = ParagraphMaker.make_paragraphs(preprocessor(tree))
    if method == "justext":
        stop_list = _stop_list(language)
        densities = {} if stop_list else {"stopwords_low": 0, "stopwords_high": 0}
        for start in range(0, len(paragraphs), _MAX_PARAGRAPHS):
            part = paragraphs[start : start + _MAX_PARAGRAPHS]
            classify_paragraphs(part, stop_list, **densities)
            revise_paragraph_classification(part)
        paragraphs = [paragraph for paragraph in paragraphs if not paragraph.is_boilerplate]
    return [text for paragraph in paragraphs if (text := collapse_spaces(paragraph.text))]


def code_texts(tree: Tree) -> frozenset[str]:
    """The texts of a page's elements of program code, and their lines: their language is not the page's."""
    texts: set[str] = set()
    for element in tree.xpath(_OUTERMOST_CODE):
        text = "".join(element.itertext())
        texts.add(collapse_spaces(text))
        texts.update(map(collapse_spaces, text.splitlines()))
    return frozenset(texts - {""})


def split_paragraphs(text: str) -> list[str]:
    """Split a plain text into lines, or blocks between empty lines if it has these and no line above 100 characters."""
    lines = [collapse_spaces(line) for line in text.splitlines()]
    wrapped = "" in lines[:-1] and max(map(len, lines)) <= 100
    parts = re.split(r"\n{2,}", "\n".join(lines)) if wrapped else lines
    return [part.replace("\n", " ").strip() for part in parts if part.strip()]


def _by_trafilatura(tree: Tree) -> list[str]:
    import trafilatura

    # It logs an error for each page without text; here that page is rejected with a reason.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    result = trafilatura.bare_extraction(tree, favor_recall=True, include_comments=False, include_tables=True)
    body = getattr(result, "body", None)
    return [] if body is None else [text for block in _blocks(body) if (text := collapse_spaces("".join(block)))]


def _blocks(body: Tree) -> Iterator[list[str]]:
    from lxml.etree import iterwalk

    pieces: list[str] = []
    for event, element in iterwalk(body, events=("start", "end")):
        block = element.tag in _BLOCK_TAGS
        if block:
            yield pieces
            pieces = []
        elif event == "start" and element.tag == "lb":
            pieces.append(" ")
        pieces.append((element.text if event == "start" else element.tail) or "")
    yield pieces


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
