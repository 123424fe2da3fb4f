"""Which language a sentence is in, by lingua: the probability of the language that it is said to be in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, nearest


class LanguageIdentifier:
    """Tells sentences of some languages apart.

    languages: ISO 639-1 codes of all that may occur, two or more; the fewer, the faster and the surer.  The models
    are loaded when they are first needed, a few megabytes a language.
    long: the texts are of 120 characters or more, for which lingua looks at trigrams alone: a tenth of the memory.
    Raises ConfigError for a language that lingua does not know, and when lingua is not installed.
    """

    def __init__(self, languages: Sequence[str], *, long: bool = False) -> None:
        self.languages = tuple(sorted(set(languages)))
        self.long = long
        if len(self.languages) < 2:
            raise ConfigError(
                "to tell languages apart takes two of them",
                remedy="Name all that may occur, such as ['de', 'en', 'fr'].",
            )
        known = _codes()
        for language in self.languages:
            if language not in known:
                raise ConfigError(f"lingua does not know the language '{language}'{nearest(language, sorted(known))}")
        self._codes = [known[language] for language in self.languages]

    @property
    def signature(self) -> str:
        """lingua's version, its models where they are the small ones, and the languages."""
        from importlib.metadata import version

        by = f"lingua-{version('lingua-language-detector')}{'-trigrams' if self.long else ''}"
        return signature("language", by=by, among="+".join(self.languages))

    def identify(self, texts: list[str]) -> list[str | None]:
        """The language that each text is most probably in, of those known here; None for one without words."""
        found = self._detector.detect_languages_in_parallel_of(texts)
        return [None if each is None else each.iso_code_639_1.name.lower() for each in found]

    def measure_languages(self, sentences: list[str], languages: list[str]) -> npt.NDArray[np.float32]:
        """How probable it is that sentence i is in languages[i]: float32 (n,), 0 to 1, of the languages known here.

        NaN where the sentence is empty, or its language is not among them.
        """
        found = np.full(len(sentences), np.nan, np.float32)
        wanted = dict(zip(self.languages, self._codes, strict=True))
        rows = [i for i, text in enumerate(sentences) if text.strip() and languages[i] in wanted]
        values = self._detector.compute_language_confidence_values_in_parallel([sentences[i] for i in rows])
        for row, confidences in zip(rows, values, strict=True):
            code = wanted[languages[row]]
            found[row] = next(each.value for each in confidences if each.language.iso_code_639_1 == code)
        return found

    @cached_property
    def _detector(self) -> Any:
        builder = _lingua().LanguageDetectorBuilder.from_iso_codes_639_1(*self._codes)
        return (builder.with_low_accuracy_mode() if self.long else builder).build()


def known_languages() -> list[str]:
    """The ISO 639-1 codes of all languages that lingua knows, sorted; ConfigError when it is not installed."""
    return sorted(_codes())


def _codes() -> dict[str, Any]:
    return {code.name.lower(): code for code in _lingua().IsoCode639_1.__dict__.values() if hasattr(code, "name")}


def _lingua() -> Any:
    try:
        import lingua
    except ImportError:
        raise ConfigError("telling languages apart needs lingua", remedy="pip install 'paraloom[language]'") from None
    return lingua
