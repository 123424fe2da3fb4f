"""Any Python function from texts to translations as a translator."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from paraloom.core.digests import signature
from paraloom.core.errors import DataError
from paraloom.core.protocols import TranslatorLike, Variant

TranslatingFunction: TypeAlias = Callable[[list[str]], Sequence[str] | Sequence[Sequence[str]]]
"""Takes a list of n texts, and returns a list of n translations, or of n lists of translations."""


class CallableTranslator:
    """A translator that calls a function; the log-probabilities of its translations are unknown (NaN)."""

    def __init__(self, function: TranslatingFunction, *, allow_none: bool = False) -> None:
        if not callable(function):
            raise TypeError(f"expected a function, got {type(function).__name__}")
        self.function = function
        self.allow_none = allow_none
        self.name = getattr(function, "__qualname__", type(function).__name__)

    @property
    def signature(self) -> str:
        """The name of the function: what it does is not known."""
        return signature("function", function=self.name)

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        """Call the function once with all sentences that have text."""
        rows = [row for row, text in enumerate(sentences) if text.strip()]
        texts = [sentences[row] for row in rows]
        variants = [[Variant("", 0.0, 0)] for _ in sentences]
        if not texts:
            return variants
        results = self._listed(self.function(list(texts)))
        if len(results) != len(texts):
            raise DataError(
                f"the function {self.name} returned {len(results)} results for {len(texts)} texts",
                remedy="It must return one for each text, in their order.",
            )
        for row, result in zip(rows, results, strict=True):
            variants[row] = [Variant(text, math.nan, 1) for text in self._texts(result, sentences[row])]
        return variants

    def _listed(self, results: object) -> list[object]:
        if isinstance(results, (str, bytes)) or not hasattr(results, "__iter__"):
            raise DataError(
                f"the function {self.name} returned {type(results).__name__}, expected a list of texts",
                remedy="It must return one text, or one list of texts, for each text.",
            )
        return list(results)

    def _texts(self, result: Any, sentence: str) -> list[str]:
        texts = [result] if isinstance(result, str) else list(result) if hasattr(result, "__iter__") else [result]
        for text in texts:
            if not isinstance(text, str):
                raise DataError(
                    f"the function {self.name} returned {type(text).__name__} for {sentence!r}, expected text",
                    remedy="It must return one text, or one list of texts, for each text.",
                )
        if not texts and not self.allow_none:
            raise DataError(f"the function {self.name} returned nothing for {sentence!r}")
        return texts


def as_translator(translator: object) -> TranslatorLike:
    """A translator, or a function as one."""
    if hasattr(translator, "translate") and not isinstance(
        translator, (str, bytes, bytearray)
    ):  # texts have such a method
        return translator  # type: ignore[return-value]
    if callable(translator) and not isinstance(translator, type):
        return CallableTranslator(translator)
    raise TypeError(f"expected a translator, its name or folder, or a function, got {type(translator).__name__}")
