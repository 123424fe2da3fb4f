"""Where sentences end, by punctuation."""

from __future__ import annotations

import re

SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'»”’)\]]*\s+|(?<=[。！？；।۔])[\"'»”’）」』]*\s*")
"""What is between two sentences, closing quotation marks of the first included."""


def count_sentences(text: str) -> int:
    """Number of sentences; the end of a line ends one, too."""
    return sum(bool(part.strip()) for line in text.split("\n") for part in SENTENCE_END.split(line))
