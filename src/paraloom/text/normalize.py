"""Normalizes texts: Unicode NFC, white space, lower case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.lazy import late

if TYPE_CHECKING:
    from paraloom.text.buffers import Texts

_string_array = late("paraloom.text.buffers:string_array")

_ODD_SPACE = r"[\pZ\p{Cc}\x{200B}\x{FEFF}]+"


def normalize(texts: Texts) -> pa.Array:
    """Normalize to NFC with single spaces, also for control characters, zero-width spaces and byte order marks."""
    composed = pc.utf8_normalize(_string_array(texts), form="NFC")
    return pc.utf8_trim(pc.replace_substring_regex(composed, pattern=_ODD_SPACE, replacement=" "), characters=" ")


def lowercase(texts: Texts) -> pa.Array:
    """Lowercase character by character, without context ('Σ' is always 'σ')."""
    return pc.utf8_lower(_string_array(texts))


def lowercase_in_context(texts: Texts) -> pa.Array:
    """Lowercase as `str.lower` does, which sacreBLEU uses: 'Σ' at the end of a word becomes 'ς'."""
    return pa.array([text.lower() for text in _string_array(texts).to_pylist()], pa.large_string())


def collapse_spaces(text: str | None) -> str:
    """The text without line breaks, tabs and repeated spaces."""
    return " ".join((text or "").split())


def is_copy(text: str, other: str) -> bool:
    """True if two texts are equal but for case, spaces and punctuation."""
    return letters_and_digits(text) == letters_and_digits(other)


def letters_and_digits(text: str) -> str:
    """What is left of a text without case, spaces and punctuation."""
    return "".join(character for character in text.lower() if character.isalnum())
