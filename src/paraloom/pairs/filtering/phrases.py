"""Which pairs of phrases are fit to learn from: the four filters of PGRU §2.1."""

from __future__ import annotations

from collections.abc import Container

from paraloom.text.tokens import words


def phrase_fault(phrase: str, paraphrase: str, known: Container[str] | None = None) -> str | None:
    """Why a pair of phrases is no good for training, None where it is good.

    known: words with a vector, lower-cased; None leaves that filter out.

    >>> phrase_fault("the united states", "america"), phrase_fault("a dog", "a dog"), phrase_fault("dog", "hound")
    (None, 'identical', 'two single words')
    >>> phrase_fault("24 hours", "one day"), phrase_fault("a qzx", "one day", {"a", "one", "day"})
    ('other than letters', 'unknown word')
    """
    if phrase == paraphrase:
        return "identical"
    if not all(character.isalpha() or character == " " for character in phrase + paraphrase):
        return "other than letters"
    pieces = words(phrase), words(paraphrase)
    if not all(pieces):
        return "empty"
    if known is not None and not all(word in known for side in pieces for word in side):
        return "unknown word"
    return "two single words" if len(pieces[0]) == len(pieces[1]) == 1 else None
