"""Codes and English names of languages."""

from __future__ import annotations

_NAMES = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nb": "Norwegian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "zh": "Chinese",
}
_CODES = {
    **{"ara": "ar", "ces": "cs", "cze": "cs", "dan": "da", "deu": "de", "ger": "de", "ell": "el", "eng": "en"},
    **{"spa": "es", "fin": "fi", "fra": "fr", "fre": "fr", "heb": "he", "hin": "hi", "hun": "hu", "isl": "is"},
    **{"ice": "is", "ita": "it", "jpn": "ja", "kor": "ko", "nob": "nb", "no": "nb", "nor": "nb", "nld": "nl"},
    **{"dut": "nl", "pol": "pl", "por": "pt", "ron": "ro", "rum": "ro", "rus": "ru", "swe": "sv", "tha": "th"},
    **{"tur": "tr", "zho": "zh", "chi": "zh", "cmn": "zh"},
}
_BY_NAME = {name.lower(): code for code, name in _NAMES.items()}


def language_code(language: str | None) -> str | None:
    """The ISO 639-1 code of a language, None where it is unknown or not stated."""
    plain = (language or "").lower().replace("_", "-").split("-")[0]
    return None if plain in ("", "und") else _CODES.get(plain, plain)


def known_language(name: str) -> str | None:
    """The ISO 639-1 code of a language that is named by its code or in English, None where the name is not known."""
    plain = name.strip().lower()
    return plain if plain in _NAMES else _CODES.get(plain) or _BY_NAME.get(plain)


def language_name(language: str | None) -> str:
    return _NAMES.get(language or "", language or "unknown")
