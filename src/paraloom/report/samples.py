"""Pairs to look at: both sides under each other, the words that only one of them has marked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from paraloom.report.facts import Sample
from paraloom.report.figures import count, number, share
from paraloom.report.markup import Html, Part, element, foreign, join

_PIECES = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]|\s+")
_SHOWN = {
    "trigram_overlap": "trigrams",
    "unigram_overlap": "unigrams",
    "bleu1": "BLEU+1",
    "translation_cost": "cost",
    "length_ratio": "ratio",
}


def pair(row: Mapping[str, Any], note: str = "") -> Html:
    """One pair: its sides, words of its own marked on each, then its scores and a note.

    >>> str(pair({"src": "a dog", "tgt": "a cat"}))[:74]
    '<figure class="pair"><p class="side"><bdi>a <mark>dog</mark></bdi></p><p c'
    """
    src, tgt = differences(str(row.get("src") or ""), str(row.get("tgt") or ""))
    scores = [f"{short} {number(row[name])}" for name, short in _SHOWN.items() if row.get(name) is not None]
    told: list[Part] = [element("span", note, class_="note") if note else None, " · ".join(scores)]
    return element(
        "figure",
        _side(src, row.get("src_lang")),
        _side(tgt, row.get("tgt_lang")),
        element("figcaption", told) if note or scores else None,
        class_="pair",
    )


def differences(a: str, b: str) -> tuple[Html, Html]:
    """Both texts, the words marked that the other has not in the same order (letter case aside).

    >>> [str(side) for side in differences("The red car.", "the car")]
    ['The <mark>red</mark> car<mark>.</mark>', 'the car']
    """
    left, right = (_PIECES.findall(text) for text in (a, b))
    left_words, right_words = ([piece.lower() for piece in side if not piece.isspace()] for side in (left, right))
    matches = SequenceMatcher(None, left_words, right_words, autojunk=False).get_matching_blocks()
    common_left = {match.a + i for match in matches for i in range(match.size)}
    common_right = {match.b + i for match in matches for i in range(match.size)}
    return _marked(left, common_left), _marked(right, common_right)


def by_range(name: str, bounds: Sequence[float], samples: Sequence[Sample], total: int) -> Html:
    """Sample pairs of each range of a score; ranges without a pair are left out."""
    groups = [
        element(
            "section",
            element(
                "h4",
                f"{number(low)} to {number(high)}",
                element("span", f" {count(sample.of)} pairs, {share(sample.of, total)}", class_="quiet"),
            ),
            [pair(row) for row in sample.rows],
            class_="range",
        )
        for low, high, sample in zip(bounds[:-1], bounds[1:], samples, strict=True)
        if sample.rows
    ]
    return element("div", groups, class_="ranges", id=f"pairs-{name}")


def _side(text: Html, lang: object) -> Html:
    shown = foreign(text, lang=str(lang or "")) if text.strip() else element("span", "empty", class_="quiet")
    return element("p", shown, class_="side")


def _marked(pieces: Sequence[str], common: set[int]) -> Html:
    """Runs of words that are not in `common` go into one mark, with the blanks between them."""
    parts: list[Part] = []
    run: list[str] = []
    blanks: list[str] = []
    word = 0
    for piece in [*pieces, None]:
        if piece is not None and piece.isspace():
            blanks.append(piece)
            continue
        differs = piece is not None and word not in common
        if run and not differs:
            parts.append(element("mark", "".join(run)))
            run = []
        if run:
            run.extend(blanks)
        else:
            parts.append("".join(blanks))
        blanks = []
        if differs and piece is not None:
            run.append(piece)
        elif piece is not None:
            parts.append(piece)
        word += 1
    return join(parts)
