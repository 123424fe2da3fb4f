"""Example pairs: both sides below each other, with the words highlighted that only one side has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from markupsafe import Markup

from paraloom.web.formatting import number
from paraloom.web.templates import draw

_PIECES = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]|\s+")
_SHORT_NAMES = {
    "p_paraphrase": "p",
    "trigram_overlap": "trigrams",
    "unigram_overlap": "unigrams",
    "bleu1": "BLEU+1",
    "translation_cost": "cost",
    "length_ratio": "ratio",
}


def pair(row: Mapping[str, Any], note: str = "", figure: str = "") -> Markup:
    """One pair, its differing words marked in one language, with scores and a note below, and a figure before it."""
    texts = [str(row.get(side) or "") for side in ("src", "tgt")]
    languages = {row.get("src_lang"), row.get("tgt_lang")} - {None, "", "und"}
    # Nearly all words of a translation differ.
    shown: Sequence[str] = differences(*texts) if len(languages) < 2 else texts
    scores = [f"{short} {number(row[name])}" for name, short in _SHORT_NAMES.items() if row.get(name) is not None]
    sides = [(text, str(row.get(f"{side}_lang") or "")) for side, text in zip(("src", "tgt"), shown, strict=True)]
    return draw("pair", sides, note, " · ".join(scores), figure)


def differences(a: str, b: str) -> tuple[Markup, Markup]:
    """Both texts, with the words marked that are not in their longest matching blocks, ignoring case."""
    left, right = (_PIECES.findall(text) for text in (a, b))
    left_words, right_words = ([piece.lower() for piece in side if not piece.isspace()] for side in (left, right))
    matches = SequenceMatcher(None, left_words, right_words, autojunk=False).get_matching_blocks()
    common_left = {match.a + i for match in matches for i in range(match.size)}
    common_right = {match.b + i for match in matches for i in range(match.size)}
    return draw("marked", _runs(left, common_left)), draw("marked", _runs(right, common_right))


def _runs(pieces: Sequence[str], common: set[int]) -> list[tuple[str, bool]]:
    """The text in runs of words outside `common`, including the spaces between them, and of other words."""
    runs: list[tuple[str, bool]] = []
    spaces, word = "", 0
    for piece in pieces:
        if piece.isspace():
            spaces += piece
            continue
        differs = word not in common
        word += 1
        if runs and runs[-1][1] and differs:
            runs[-1] = (runs[-1][0] + spaces + piece, True)
        else:
            runs += [(spaces, False), (piece, differs)]
        spaces = ""
    return [*runs, (spaces, False)]
