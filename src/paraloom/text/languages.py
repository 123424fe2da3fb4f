"""Identifies the language of texts with lingua."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from paraloom.core.array_types import Float32s
from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, nearest

if TYPE_CHECKING:
    from types import ModuleType

    from lingua import IsoCode639_1, LanguageDetector


def check_candidates(languages: Sequence[str]) -> None:
    """Check the key `languages` of a stage: none, or two languages or more to choose among."""
    if len(languages) == 1:
        raise ConfigError(
            f"key 'languages' must have two languages or more, not only '{languages[0]}'",
            remedy="List all languages that may occur, or none.",
        )


class LanguageIdentifier:
    """Identifies languages of texts among candidates; models load on first use, a few megabytes per language."""

    def __init__(self, languages: Sequence[str], *, long_texts: bool = False) -> None:
        self.languages = tuple(sorted(set(languages)))
        self.long_texts = long_texts
        if len(self.languages) < 2:
            raise ConfigError(
                f"language identification needs two languages or more, got {len(self.languages)}",
                remedy="Name all languages that may occur, such as ['de', 'en', 'fr'].",
            )
        known = _codes()
        for language in self.languages:
            if language not in known:
                raise ConfigError(f"unknown language '{language}' for lingua{nearest(language, sorted(known))}")
        self._codes = [known[language] for language in self.languages]

    @property
    def signature(self) -> str:
        """Version of lingua, size of its models and the languages."""
        from importlib.metadata import version

        by = f"lingua-{version('lingua-language-detector')}{'-trigrams' if self.long_texts else ''}"
        return signature("language", by=by, among="+".join(self.languages))

    def identify(self, texts: list[str]) -> list[str | None]:
        detected = self._detector.detect_languages_in_parallel_of(texts)
        return [None if language is None else language.iso_code_639_1.name.lower() for language in detected]

    def probabilities(self, texts: list[str], languages: list[str]) -> Float32s:
        """Measure how probable it is that text i is in `languages[i]`, among the candidates."""
        probabilities = np.full(len(texts), np.nan, np.float32)
        codes = dict(zip(self.languages, self._codes, strict=True))
        rows = [i for i, text in enumerate(texts) if text.strip() and languages[i] in codes]
        values = self._detector.compute_language_confidence_values_in_parallel([texts[i] for i in rows])
        for row, confidences in zip(rows, values, strict=True):
            code = codes[languages[row]]
            probabilities[row] = next(value.value for value in confidences if value.language.iso_code_639_1 == code)
        return probabilities

    @cached_property
    def _detector(self) -> LanguageDetector:
        builder = _lingua().LanguageDetectorBuilder.from_iso_codes_639_1(*self._codes)
        return (builder.with_low_accuracy_mode() if self.long_texts else builder).build()


def known_languages() -> list[str]:
    """List the ISO 639-1 codes of all languages that lingua knows, sorted."""
    return sorted(_codes())


def _codes() -> dict[str, IsoCode639_1]:
    return {code.name.lower(): code for code in _lingua().IsoCode639_1.__dict__.values() if hasattr(code, "name")}


def _lingua() -> ModuleType:
    try:
        import lingua
    except ImportError:
        raise ConfigError(
            "language identification needs lingua, which is not installed",
            remedy="Run: pip install 'paraloom[language]'",
        ) from None
    return lingua
