"""A translator and a parser for tests of paraphrasers: fixed answers, and a record of what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paraloom.core.protocols import Variant
from paraloom.paraphrasing.linearization import template_of

LABELS = (".", ",", "ADVP", "NP", "S", "SQ", "VP", "NN")
FIRST = {"now": "ADVP", "it": "NP", "rains": "VP", ",": ",", ".": "."}


class ToyTranslator:
    """Gives candidates that are fixed, as many as the decoding asks for; splits texts at '|'."""

    signature = "toy"

    def __init__(self, candidates: Sequence[str]) -> None:
        self.candidates = candidates
        self.calls: list[dict[str, Any]] = []

    def translate(
        self, sentences: Sequence[str], *, decode: Any = None, seed: int = 0, prefixes: Sequence[str] | None = None
    ) -> list[list[Variant]]:
        self.calls.append({"sources": list(sentences), "decode": decode, "seed": seed, "prefixes": prefixes})
        n = int(decode.partition("nbest=")[2] or 1)
        variants = [Variant(text, -1.0 - rank, 4) for rank, text in enumerate(self.candidates)]
        return [variants[:n] if text else [Variant("", 0.0, 0)] for text in sentences]

    def split(self, sentences: Sequence[str], *, reserve: int = 0) -> list[list[str]]:
        return [text.split("|") for text in sentences]


class ToyParser:
    """Parses 'now , it rains .' to a flat S of phrases; a text with another word cannot be parsed."""

    signature = "toy-parser"

    def parse(self, sentences: Sequence[str]) -> list[str | None]:
        return [self._tree(text.split()) for text in sentences]

    def _tree(self, words: list[str]) -> str | None:
        if not words or not set(words) <= set(FIRST):
            return None
        return f"(S {' '.join(f'({FIRST[word]} (NN {word}))' for word in words)})"


def asked_template(prefix: str) -> str:
    """The template that a prefix forces."""
    return template_of(prefix.removesuffix("<sep>").replace("><", "> <").split())
