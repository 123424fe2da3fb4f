"""Normalizes texts: Unicode NFC, white space, lower case."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.text.buffers import Texts, string_array

_ODD_SPACE = r"[\pZ\p{Cc}\x{200B}\x{FEFF}]+"


def normalize(texts: Texts) -> pa.Array:
    """Normalize to Unicode NFC with single spaces.

    Every run of spaces, control characters, zero-width spaces and byte order marks becomes one space; none is left at
    the ends.

    Args:
        texts: n texts.

    Returns:
        n large strings.

    Example:
        >>> normalize(["  a\\u00a0\\tb\\u2028 "]).to_pylist()
        ['a b']
    """
    composed = pc.utf8_normalize(string_array(texts), form="NFC")
    return pc.utf8_trim(pc.replace_substring_regex(composed, pattern=_ODD_SPACE, replacement=" "), characters=" ")


def lowercase(texts: Texts) -> pa.Array:
    """Lowercase character by character, without context ('Σ' is always 'σ').

    Args:
        texts: n texts.

    Returns:
        n large strings.
    """
    return pc.utf8_lower(string_array(texts))


def lowercase_in_context(texts: Texts) -> pa.Array:
    """Lowercase as `str.lower` does, which sacreBLEU uses: 'Σ' at the end of a word becomes 'ς'.

    Args:
        texts: n texts.

    Returns:
        n large strings.

    Example:
        >>> lowercase_in_context(["ΌΣΟΣ"]).to_pylist(), lowercase(["ΌΣΟΣ"]).to_pylist()
        (['όσος'], ['όσοσ'])
    """
    return pa.array([text.lower() for text in string_array(texts).to_pylist()], pa.large_string())


def is_copy(text: str, other: str) -> bool:
    """Whether two texts are equal but for case, spaces and punctuation.

    Args:
        text: A text.
        other: Another one.

    Example:
        >>> is_copy("It rains.", "it  rains"), is_copy("It rains.", "It rained.")
        (True, False)
    """
    return _letters_and_digits(text) == _letters_and_digits(other)


def _letters_and_digits(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())
