"""ROUGE-1, ROUGE-2 and ROUGE-L of texts against references, by words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

from paraloom.text.tokens import words


def rouge(text: str, reference: str) -> tuple[float, float, float]:
    """ROUGE-1, ROUGE-2 and ROUGE-L: F1 of a text, 0 (nothing in common) to 1 (the same words).

    Words are those of `paraloom.text.tokens.words`, lower-cased, without punctuation and without stemming. n-grams that
    occur several times count as often as both sides have them.

    Reference:
        Lin 2004, "ROUGE: A package for automatic evaluation of summaries", §2 and §3.1, with β = 1.
    """
    ours, theirs = words(text, punctuation=False), words(reference, punctuation=False)
    subsequence = LCSseq.similarity(ours, theirs)
    return _ngram_f1(ours, theirs, 1), _ngram_f1(ours, theirs, 2), _f1(subsequence, len(ours), len(theirs))


def _ngram_f1(ours: Sequence[str], theirs: Sequence[str], n: int) -> float:
    one, other = (
        Counter(tuple(side[start : start + n]) for start in range(len(side) - n + 1)) for side in (ours, theirs)
    )
    return _f1((one & other).total(), one.total(), other.total())


def _f1(shared: int, ours: int, theirs: int) -> float:
    return 2 * shared / (ours + theirs) if shared else 0.0
