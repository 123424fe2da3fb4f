"""A paraphrase lexicon from sentence pairs: words aligned, phrase pairs counted and scored, with examples (PNMT §6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from paraloom.core.config import Config, check_range
from paraloom.core.errors import DataError
from paraloom.text.buffers import Texts
from paraloom.text.phrase_kernels import phrase_pairs
from paraloom.text.tokens import TokenLists, token_strings, tokenize
from paraloom.text.word_alignment import WordAlignmentConfig, Words, align_words


@dataclass(frozen=True, kw_only=True)
class LexiconConfig(WordAlignmentConfig, Config):
    """Configuration of a lexicon: which phrase pairs it keeps, and how words are aligned.

    Args:
        max_phrase_length: Maximum number of words of a phrase.
        min_count: Minimum number of times that a phrase pair must occur.
        iterations: Iterations of EM in each direction.
        tension: Strength of the diagonal prior of the word alignment, 0 or more.
        null: Probability that a word is aligned to none, 0 to 1.

    Raises:
        ConfigError: A value is out of range.
    """

    renamed_fields: ClassVar[Mapping[str, str]] = {"longest": "max_phrase_length", "least": "min_count"}

    max_phrase_length: int = 3
    min_count: int = 2

    def validate(self) -> None:
        check_range(self, "max_phrase_length", "min_count", low=1)


def paraphrase_lexicon(src: Texts, tgt: Texts, config: LexiconConfig | None = None) -> pa.Table:
    """Extract phrases that paraphrase each other from sentence pairs.

    Reference:
        Wieting and Gimpel 2018 (PNMT), §6.
    """
    config = config or LexiconConfig()
    a, b = tokenize(src), tokenize(tgt)
    if not len(a.ids) or not len(b.ids):
        raise DataError("cannot extract a lexicon: no pair has words on both sides")
    a_of_b, b_of_a = align_words(a, b, config)
    spans = _phrase_pairs(a_of_b, a, b_of_a, b, config.max_phrase_length)
    strings = [token_strings(side) for side in (src, tgt)]
    first, second = (
        _phrases(strings[side], spans[:, 0], spans[:, 1 + 2 * side], spans[:, 2 + 2 * side]) for side in (0, 1)
    )
    totals: dict[str, int] = {}
    occurrences: dict[tuple[str, str], list[int]] = {}
    for i in range(len(spans)):
        for phrase in (first[i], second[i]):
            totals[phrase] = totals.get(phrase, 0) + 1
        if first[i] != second[i] and _has_letter(first[i]) and _has_letter(second[i]):
            for pair in ((first[i], second[i]), (second[i], first[i])):
                occurrences.setdefault(pair, []).append(i)
    rows = [
        _entry(pair, len(indices), totals, int(spans[indices[0], 0]))
        for pair, indices in occurrences.items()
        if len(indices) >= config.min_count
    ]
    rows.sort(key=lambda row: (-row["score"], -row["count"], row["phrase"], row["paraphrase"]))
    return _with_examples(rows, src, tgt)


def _phrase_pairs(a_of_b: Words, a: TokenLists, b_of_a: Words, b: TokenLists, max_length: int) -> Words:
    spans = np.empty((4 * len(a.ids) + 16, 5), np.int32)
    while (count := phrase_pairs(a_of_b, a.offsets, b_of_a, b.offsets, max_length, spans)) > len(spans):
        spans = np.empty((count, 5), np.int32)
    return spans[:count]


def _phrases(strings: pa.LargeListArray, rows: Words, starts: Words, lengths: Words) -> list[str]:
    offsets = np.asarray(strings.offsets)
    words = strings.values.to_pylist()
    return [
        " ".join(words[offsets[row] + start : offsets[row] + start + length])
        for row, start, length in zip(rows, starts, lengths, strict=True)
    ]


def _entry(pair: tuple[str, str], count: int, totals: dict[str, int], row: int) -> dict[str, Any]:
    probability, inverse = (count / totals[phrase] for phrase in pair)
    return {
        "phrase": pair[0],
        "paraphrase": pair[1],
        "count": count,
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
