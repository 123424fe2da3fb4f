"""The language of a sample of a text, by function words and scripts: no model, and no answer where it is unsure."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

FUNCTION_WORDS: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("function_words.toml").read_text(encoding="utf-8")
)
"""Language → its most frequent function words, for languages in the Latin script."""

SCRIPTS = {
    "ko": "\uac00-\ud7a3\u1100-\u11ff",
    "ja": "\u3040-\u30ff",
    "zh": "\u4e00-\u9fff",
    "ru": "\u0400-\u04ff",
    "el": "\u0370-\u03ff",
    "ar": "\u0600-\u06ff",
    "he": "\u0590-\u05ff",
    "hi": "\u0900-\u097f",
    "th": "\u0e00-\u0e7f",
}
"""Language → the characters that only it has, of those that are identified here."""

_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTED = {language: re.compile(f"[{characters}]") for language, characters in SCRIPTS.items()}

_MIN_EVIDENCE = 12.0
_MIN_SHARE = 0.05
_MIN_RATIO = 1.6
_MIN_TYPES = 6  # a name that is a word elsewhere, such as Tom, may be in every sentence
_MIN_SCRIPT = 0.3


def sample_language(texts: Iterable[str]) -> str | None:
    """Identify the language that most of a sample is in, by all its words together; None where it is unsure."""
    evidence: dict[str, float] = defaultdict(float)
    types: dict[str, set[str]] = defaultdict(set)
    letters = words = 0
    scripted: Counter[str] = Counter()
    for text in texts:
        for word in _WORD.findall(text.lower()):
            words += 1
            letters += len(word)
            for language, weight in _languages_of(word):
                evidence[language] += weight
                types[language].add(word)
            if not word.isascii():
                for language, pattern in _SCRIPTED.items():
                    scripted[language] += len(pattern.findall(word))
    if scripted["ja"]:
        scripted["ja"] += scripted.pop("zh", 0)
    for script, count in scripted.most_common(1):
        if letters and count / letters >= _MIN_SCRIPT and count >= _MIN_EVIDENCE:
            return script
    ranking = sorted(evidence.items(), key=lambda item: -item[1])
    (first, highest), (_, second) = [*ranking, ("", 0.0), ("", 0.0)][:2]
    if highest < max(_MIN_EVIDENCE, _MIN_SHARE * words, _MIN_RATIO * second) or len(types[first]) < _MIN_TYPES:
        return None
    return first


def suspected_language(texts: Iterable[str], expected: str) -> str | None:
    """The language that a few words point to, where no function word of the expected one stands beside them."""
    if expected not in FUNCTION_WORDS:
        return None
    evidence: dict[str, float] = defaultdict(float)
    types: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        for word in _WORD.findall(text.lower()):
            for language, weight in _languages_of(word):
                if language == expected:
                    return None
                evidence[language] += weight
                types[language].add(word)
    several = [language for language, words in types.items() if len(words) > 1]
    return max(several, key=lambda language: (evidence[language], language), default=None)


def likeness(text: str, language: str) -> float:
    """Share of the words of a text that are function words of a language, or of its letters in the script of one."""
    words = _WORD.findall(text.lower())
    if language in _SCRIPTED:
        letters = sum(map(len, words))
        return len(_SCRIPTED[language].findall(text.lower())) / letters if letters else 0.0
    known = sum(weight for word in words for other, weight in _languages_of(word) if other == language)
    return known / len(words) if words else 0.0


def known_function_words() -> Sequence[str]:
    """The languages that `sample_language` knows, sorted."""
    return sorted([*FUNCTION_WORDS, *SCRIPTS])


@lru_cache(maxsize=1)
def _table() -> dict[str, tuple[tuple[str, float], ...]]:
    languages: dict[str, list[str]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in dict.fromkeys(words.split()):
            languages.setdefault(word, []).append(language)
    return {word: tuple((language, 1 / len(of)) for language in of) for word, of in languages.items()}


def _languages_of(word: str) -> tuple[tuple[str, float], ...]:
    return _table().get(word, ())
