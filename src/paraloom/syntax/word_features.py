"""What a word looks like: the features by which a grammar guesses the tags of words that it has seldom seen."""

from __future__ import annotations


def features(word: str, first: bool) -> tuple[str, ...]:
    """From the finest to the empty one, which all words share.

    first: at the beginning of a sentence, where a capital says nothing.

    >>> features("Walking", False)
    ('Aa:ing', 'Aa:ng', 'Aa:g', 'Aa', '')
    """
    shape = _shape(word, first)
    ends = tuple(f"{shape}:{word[-length:].lower()}" for length in (3, 2, 1) if len(word) > length)
    return (*ends, shape, "")


def _shape(word: str, first: bool) -> str:
    if any(c.isdigit() for c in word):
        return "1" if all(c.isdigit() or not c.isalnum() for c in word) else "1a"
    if not any(c.isalpha() for c in word):
        return "."
    inner = "-" if "-" in word[1:-1] else ""
    if word.islower() or (first and word[1:].islower()):
        return f"a{inner}"
    return f"A{inner}" if word.isupper() and len(word) > 1 else f"Aa{inner}"
