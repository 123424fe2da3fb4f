"""Example pairs: both sides below each other, with the words highlighted that only one side has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from paraloom.web.corpus_stats import Sample
from paraloom.web.formatting import count, number, share
from paraloom.web.markup import Html, Part, element, isolated, join

_PIECES = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]|\s+")
_SHORT_NAMES = {
    "p_paraphrase": "p",
    "trigram_overlap": "trigrams",
    "unigram_overlap": "unigrams",
    "bleu1": "BLEU+1",
    "translation_cost": "cost",
    "length_ratio": "ratio",
}


def pair(row: Mapping[str, Any], note: str = "") -> Html:
    """One pair, with its main scores and a note below it; differing words are marked if both sides are in one language.

    Args:
        row: A row with `src` and `tgt`; language codes and scores are shown where present.
        note: Text before the scores, such as the reason for a rejection.

    Example:
        >>> str(pair({"src": "a dog", "tgt": "a cat"}))[:74]
        '<figure class="pair"><p class="side"><bdi>a <mark>dog</mark></bdi></p><p c'
    """
    texts = [str(row.get(side) or "") for side in ("src", "tgt")]
    languages = {row.get("src_lang"), row.get("tgt_lang")} - {None, "", "und"}
    # Nearly all words of a translation differ.
    src, tgt = differences(*texts) if len(languages) < 2 else (join([text]) for text in texts)
    scores = [f"{short} {number(row[name])}" for name, short in _SHORT_NAMES.items() if row.get(name) is not None]
    caption: list[Part] = [element("span", note, class_="note") if note else None, " · ".join(scores)]
    return element(
        "figure",
        _side(src, row.get("src_lang")),
        _side(tgt, row.get("tgt_lang")),
        element("figcaption", caption) if note or scores else None,
        class_="pair",
    )


def differences(a: str, b: str) -> tuple[Html, Html]:
    """Both texts, with the words marked that are not in their longest matching blocks, ignoring case.

    Example:
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
    """Sample pairs of each range of a score; ranges without pairs are omitted.

    Args:
        name: The score column.
        bounds: The k + 1 bounds of k ranges.
        samples: The pairs of each of the k ranges.
        total: Number of pairs in all ranges.
    """
    groups = [
        element(
            "section",
            element(
                "h4",
                f"{number(low)} to {number(high)}",
                element("span", f" {count(sample.total)} pairs, {share(sample.total, total)}", class_="quiet"),
            ),
            [pair(row) for row in sample.rows],
            class_="range",
        )
        for low, high, sample in zip(bounds[:-1], bounds[1:], samples, strict=True)
        if sample.rows
    ]
    return element("div", groups, class_="ranges", id=f"pairs-{name}")


def _side(text: Html, lang: object) -> Html:
    content = isolated(text, lang=str(lang or "")) if text.strip() else element("span", "empty", class_="quiet")
    return element("p", content, class_="side")


def _marked(pieces: Sequence[str], common: set[int]) -> Html:
    """The text, with each run of words outside `common` in one `<mark>`, including the spaces between them."""
    parts: list[Part] = []
    run: list[str] = []
    spaces: list[str] = []
    word = 0
    for piece in [*pieces, None]:
        if piece is not None and piece.isspace():
            spaces.append(piece)
            continue
        differs = piece is not None and word not in common
        if run and not differs:
            parts.append(element("mark", "".join(run)))
            run = []
        if run:
            run.extend(spaces)
        else:
            parts.append("".join(spaces))
        spaces = []
        if differs and piece is not None:
            run.append(piece)
        elif piece is not None:
            parts.append(piece)
        word += 1
    return join(parts)
