"""Texts that are longer than a model takes, in parts: at sentences, then at clauses, then at words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, cast, get_args

from paraloom.core.errors import ConfigError, nearest
from paraloom.core.protocols import Variant
from paraloom.mt.languages import language_of
from paraloom.text.segments import SENTENCE_END

Long: TypeAlias = Literal["error", "split", "truncate", "reject"]
"""Treatment of a text that is longer than the model takes."""

LONG: tuple[str, ...] = get_args(Long)

_CLAUSE = re.compile(r"(?<=[,;:–—])\s+|\s+(?=[–—-]\s)|(?<=[，、：،])\s*")
_WORD = re.compile(r"\s+")

WITHOUT_SPACES = frozenset({"zh", "yue", "ja", "th", "lo", "km", "my", "bo", "dz"})
"""Languages, by their shortest codes, whose sentences and words are not separated by spaces."""

Measure: TypeAlias = Callable[[list[str]], list[int]]
_Span: TypeAlias = tuple[int, int]


def check_long(long: str) -> Long:
    if long in LONG:
        return cast(Long, long)
    raise ConfigError(f"unknown treatment of long lines '{long}'{nearest(long, LONG)}")


def split_text(text: str, limit: int, measure: Measure) -> list[str]:
    """Split a text into parts that a model takes: sentences; of long ones clauses, then words, then characters."""
    if measure([text])[0] <= limit:
        return [text]

    def lengths(spans: Sequence[_Span]) -> list[int]:
        return measure([text[start:end].strip() for start, end in spans])

    def split(span: _Span, level: int) -> list[_Span]:
        cut = _cut(text, span, level)
        parts: list[_Span] = []
        for part, length in zip(cut, lengths(cut), strict=True):
            whole = length <= limit or part[1] - part[0] == 1
            parts += [part] if whole else split(part, min(level + 1, len(_SEPARATORS)))
        return parts if level == 0 else _packed(parts, limit, lengths)

    return [text[start:end].strip() for start, end in split((0, len(text)), 0)]


def join_variants(groups: Sequence[Sequence[Variant]], target: str | None) -> list[Variant]:
    """The variants of a text from those of its parts: the first of each together, the second of each …"""
    space = "" if language_of(target) in WITHOUT_SPACES else " "
    variants = []
    for rank in range(max(map(len, groups))):
        row = [group[min(rank, len(group) - 1)] for group in groups]
        utilities = [variant.utility for variant in row if variant.utility is not None]
        variants.append(
            Variant(
                space.join(variant.text for variant in row if variant.text),
                sum(variant.logprob for variant in row),
                sum(variant.tokens for variant in row),
                any(variant.cut for variant in row),
                sum(utilities) / len(utilities) if utilities else None,
                pieces=len(row),
            )
        )
    return variants


def _cut(text: str, span: _Span, level: int) -> list[_Span]:
    """The parts of a span that end where its separators do; beyond the last kind of separators, two halves."""
    start, end = span
    if level == len(_SEPARATORS):
        middle = (start + end) // 2
        return [(start, middle), (middle, end)]
    parts = []
    for match in _SEPARATORS[level].finditer(text, start, end):
        parts.append((start, match.end()))
        start = match.end()
    parts.append((start, end))
    return [(start, end) for start, end in parts if text[start:end].strip()]


def _packed(parts: list[_Span], limit: int, lengths: Callable[[Sequence[_Span]], list[int]]) -> list[_Span]:
    """Neighbors together, as far as they fit."""
    groups: list[list[_Span]] = []
    total = 0
    for part, length in zip(parts, lengths(parts), strict=True):
        total = total + length if groups and total + length <= limit else length
        if total == length:
            groups.append([])
        groups[-1].append(part)
    wholes = [(group[0][0], group[-1][1]) for group in groups]
    packed: list[_Span] = []
    for group, whole, length in zip(groups, wholes, lengths(wholes), strict=True):
        # Subwords of a whole are hardly ever more than those of its parts.
        packed += [whole] if length <= limit else group
    return packed


_SEPARATORS = (SENTENCE_END, _CLAUSE, _WORD)
