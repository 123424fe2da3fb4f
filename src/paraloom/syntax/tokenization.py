"""Tokens of the Penn Treebank, for parsers that were trained on it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from paraloom.core.errors import MissingExtraError

if TYPE_CHECKING:
    from nltk.tokenize import NLTKWordTokenizer

_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"})


def penn_tokens(sentence: str) -> list[str]:
    tokens: list[str] = _tokenizer().tokenize(sentence)
    return tokens


def without_brackets(word: str) -> str:
    """The word as trees spell it, where brackets have another meaning."""
    return word.translate(_BRACKETS)


@cache
def _tokenizer() -> NLTKWordTokenizer:
    try:
        from nltk.tokenize import NLTKWordTokenizer
    except ImportError:
        raise MissingExtraError.for_verb("parsing", "syntax") from None
    return NLTKWordTokenizer()
