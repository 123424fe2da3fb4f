"""A paraphrase lexicon out of sentence pairs: words aligned, phrases counted and scored, with examples (PNMT §6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.pairs.lexicon_kernels import phrase_pairs
from paraloom.text.tokens import Texts, TokenLists, spellings, tokens
from paraloom.text.word_alignment import AlignmentConfig, Words, align_words


@dataclass(frozen=True, kw_only=True)
class LexiconConfig(AlignmentConfig):
    """longest: words of a phrase.  least: times that an entry must have been seen.

    The other fields are those of paraloom.text.word_alignment.AlignmentConfig.
    """

    longest: int = 3
    least: int = 2


def paraphrase_lexicon(src: Texts, tgt: Texts, config: LexiconConfig | None = None) -> pa.Table:
    """Phrases that stand for each other in n pairs, the surest first.

    Columns: phrase, paraphrase (lower-cased words, blanks between), count (how often they were aligned, either way
    round), probability (of the paraphrase given the phrase, 0 to 1), inverse (of the phrase given the paraphrase),
    score (their geometric mean), src, tgt (a pair that has them).  Every entry stands in both directions; a phrase is
    never its own paraphrase, and has a letter at least.  Raises DataError when there is no pair with words.

    >>> table = paraphrase_lexicon(["a big dog", "a big cat", "big men"], ["a large dog", "a large cat", "large men"])
    >>> table.select(["phrase", "paraphrase", "count"]).to_pylist()[0]
    {'phrase': 'big', 'paraphrase': 'large', 'count': 3}
    """
    config = config or LexiconConfig()
    a, b = tokens(src), tokens(tgt)
    if not len(a.ids) or not len(b.ids):
        raise DataError("no pair has words on both sides: there is no lexicon to make")
    forth, back = align_words(a, b, config)
    found = _phrases(forth, a, back, b, config.longest)
    spelled = [spellings(side) for side in (src, tgt)]
    first, second = (
        _texts(spelled[side], found[:, 0], found[:, 1 + 2 * side], found[:, 2 + 2 * side]) for side in (0, 1)
    )
    different = [
        i for i in range(len(found)) if first[i] != second[i] and _has_letter(first[i]) and _has_letter(second[i])
    ]
    entries: dict[tuple[str, str], list[int]] = {}
    totals: dict[str, int] = {}
    for i in range(len(found)):
        for phrase in (first[i], second[i]):
            totals[phrase] = totals.get(phrase, 0) + 1
    for i in different:
        for pair in ((first[i], second[i]), (second[i], first[i])):
            entries.setdefault(pair, []).append(i)
    kept = [(pair, places) for pair, places in entries.items() if len(places) >= config.least]
    rows = [_entry(pair, places, totals, int(found[places[0], 0])) for pair, places in kept]
    rows.sort(key=lambda row: (-row["score"], -row["count"], row["phrase"], row["paraphrase"]))
    return _with_examples(rows, src, tgt)


def _phrases(forth: Words, a: TokenLists, back: Words, b: TokenLists, longest: int) -> Words:
    found = np.empty((4 * len(a.ids) + 16, 5), np.int32)
    while (count := phrase_pairs(forth, a.offsets, back, b.offsets, longest, found)) > len(found):
        found = np.empty((count, 5), np.int32)
    return found[:count]


def _texts(spelled: Any, rows: Words, starts: Words, lengths: Words) -> list[str]:
    offsets = np.asarray(spelled.offsets)
    words = spelled.values.to_pylist()
    return [
        " ".join(words[offsets[row] + start : offsets[row] + start + length])
        for row, start, length in zip(rows, starts, lengths, strict=True)
    ]


def _entry(pair: tuple[str, str], places: list[int], totals: dict[str, int], row: int) -> dict[str, Any]:
    probability, inverse = (len(places) / totals[phrase] for phrase in pair)
    return {
        "phrase": pair[0],
        "paraphrase": pair[1],
        "count": len(places),
        "probability": probability,
        "inverse": inverse,
        "score": (probability * inverse) ** 0.5,
        "row": row,
    }


def _with_examples(rows: list[dict[str, Any]], src: Texts, tgt: Texts) -> pa.Table:
    sides = [side if isinstance(side, list) else side.to_pylist() for side in (src, tgt)]  # type: ignore[union-attr]
    schema = pa.schema(
        [
            *((name, pa.string()) for name in ("phrase", "paraphrase")),
            ("count", pa.int32()),
            *((name, pa.float32()) for name in ("probability", "inverse", "score")),
            *((name, pa.string()) for name in ("src", "tgt")),
        ]
    )
    return pa.Table.from_pylist(
        [{**row, "src": sides[0][row["row"]], "tgt": sides[1][row["row"]]} for row in rows], schema=schema
    )


def _has_letter(phrase: str) -> bool:
    return any(character.isalpha() for character in phrase)
