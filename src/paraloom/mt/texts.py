"""Texts to translate, as callers have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def as_texts(sentences: Any) -> list[str]:
    """A sequence or column of texts as a list."""
    expected = "'sentences' must be a text or a sequence of texts"
    for method in ("to_pylist", "tolist", "to_list"):  # Arrow, NumPy and pandas, polars
        if hasattr(sentences, method):
            sentences = getattr(sentences, method)()
            break
    if not isinstance(sentences, Sequence) or isinstance(sentences, (str, bytes, bytearray)):
        raise TypeError(f"{expected}, got {type(sentences).__name__}")
    for row, text in enumerate(sentences):
        if not isinstance(text, str):
            raise TypeError(f"{expected}, got {type(text).__name__} at index {row}")
    return list(sentences)
