"""Pages of HTML: nothing but their sentences changes, and no tag of a sentence is lost."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import lxml.html
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paraloom.core.errors import DataError
from paraloom.text.html import html_in_place, html_segments, html_words
from paraloom.text.segments import CODE, LAYOUT, MARKUP, WORDLESS

PARTS = ["<p>", "</p>", "<b>", "</b>", "<a href='x. Y'>", "</a>", "<code>", "</code>", "<pre>", "</pre>", "<br/>",
         "<!--", "-->", "<script>", "</script>", "<svg", "<![x", "<?x", "<p translate=no>", "A dog. ", "sleeps",
         "&amp;", "&lt;b>", "&nbsp;", "&", "<", ">", "</>", "\n", "\r\n", '"', "É.", "\ue000", "”"]  # fmt: skip


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>A <b>dog</b> sleeps. It\n<a href='x. Y'>rains</a>.</p>",
         [("A <b>dog</b> sleeps.", None), ("It\n<a href='x. Y'>rains</a>.", None)]),
        ("<p><b>Note.</b> It rains.<br>Yes &amp; no.", [("Note.", None), ("It rains.", None), ("Yes &amp; no.", None)]),
        ("<h1 title='A dog.'><a id=t></a>Title<a href='#t'>¶</a></h1>", [("Title", None)]),
        ("<p>Run <code>ls. X</code> now.<pre>A dog.</pre>", [("Run <code>ls. X</code> now.", None),
                                                            ("<pre>A dog.</pre>", CODE)]),
        ("<style>a {b: c}</style><script>'A <p>dog.'</script>", [("<style>a {b: c}</style><script>'A <p>dog.'</script>",
                                                                 CODE)]),
        ("<p translate=no>A <i>dog</i>.</p><p>See <q>it.</q> Yes.", [("<p translate=no>A <i>dog</i>.</p>", MARKUP),
                                                                  ("See <q>it.</q>", None), ("Yes.", None)]),
        ("<td>42</td><td><code>x</code></td>", [("42", WORDLESS), ("<code>x</code>", WORDLESS)]),
        ("<!DOCTYPE html><!-- A dog. --><p>", []),
        ("<p><i>A dog. A cat.</i> <b>42</b> bones", [("A dog.", None), ("A cat.", None), ("<b>42</b> bones", None)]),
    ],
)  # fmt: skip
def test_sentences_of_a_page(page: str, expected: list[tuple[str, str | None]]) -> None:
    assert [tuple(one) for one in html_segments(page) if one.reason != LAYOUT] == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("A <b>dog</b> &amp; a cat", "Ein <b>Hund</b> & 2 < 3", "Ein <b>Hund</b> &amp; 2 &lt; 3"),
        ("A <b>dog</b>, <i>cat</i>", "<i>Katze</i>, <b>Hund</b>", "<i>Katze</i>, <b>Hund</b>"),
        ("A\n<a\n  href='x'>dog</a>", "Ein <a href='x'>Hund</a>", "Ein <a\n  href='x'>Hund</a>"),
        ("A&nbsp;dog &#38; &copy; x", "A dog & © x", "A&nbsp;dog &#38; &copy; x"),
        ("Run <code>a &lt; b</code>", "Los: <code>a &lt; b</code>", "Los: <code>a &lt; b</code>"),
        ("Press &lt;Tab&gt; now", "Jetzt <Tab>", "Jetzt &lt;Tab&gt;"),
        ("Press &lt;Tab&gt; now", "Jetzt", None),
        ("Run <code>a</code>", "Los: <code>b</code>", None),
        ("A <b>dog</b>", "Ein Hund", None),
        ("A <b>dog</b>", "Ein </b>Hund<b>", None),
        ("A <b>dog</b>", "Ein Hund <b></b>", None),
        ("A <b>dog</b>", "Ein <b>Hund</b> <b>da</b>", None),
        ("A dog", "Ein <b>Hund</b>", None),
        ("A &lt;b&gt; <b>dog</b>", "Ein <b> <b>Hund</b>", None),
        ("one</b> two <b>three", "<b>drei</b> zwei", None),
        ("one</b> two", "eins</b> zwei", "eins</b> zwei"),
    ],
)
def test_what_replaces_a_sentence(before: str, after: str, expected: str | None) -> None:
    assert html_in_place(before, after) == expected


def shape(page: str) -> list[object]:
    """The elements of a page as lxml reads them, with attributes and code, and whether text is in and behind them."""
    return [
        (str(one.tag), sorted(one.attrib.items()), one.text if one.tag in ("script", "style", "pre", "code") else "")
        for one in lxml.html.document_fromstring(page).iter()
    ]


def changed(page: str) -> str:
    """A page, its words in upper case in place of a translation."""
    parts = []
    for one in html_segments(page):
        words = re.sub(r"<code.*?</code>|<[^>]*>|[^<]+", lambda m: m[0].upper() if m[0][0] != "<" else m[0],
                       html_words(one.text), flags=re.DOTALL)  # fmt: skip
        parts.append(one.text if one.reason is not None else html_in_place(one.text, words) or one.text)
    return "".join(parts)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(st.sampled_from(PARTS), st.text("aé<>&;#x3/!?-='\x00\u2028", max_size=5)), max_size=30))
def test_a_page_that_is_not_changed_is_the_same(parts: list[str]) -> None:
    page = "<p>" + "".join(parts)
    segments = html_segments(page)
    assert "".join(one.text for one in segments) == page
    for one in segments:
        if one.reason is None:
            assert html_in_place(one.text, html_words(one.text)) == one.text


def test_real_pages(data: Path) -> None:
    with tarfile.open(data / "documents/libreoffice-help/pages.de.tar.xz") as pages:
        names = (member for member in pages if member.isfile())
        texts = [pages.extractfile(next(names)).read().decode() for _ in range(20)]  # type: ignore[union-attr]
    for text in texts:
        assert "".join(one.text for one in html_segments(text)) == text
        assert changed(text) != text
        assert shape(changed(text)) == shape(text)


def test_a_file_without_tags_is_no_page() -> None:
    with pytest.raises(DataError, match="no tags of HTML found"):
        html_segments("A dog & a cat: 1 < 2.")
