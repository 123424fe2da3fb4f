"""Reasons of rows that a filter did not keep: rows that a random sample leaves out are not sampled, not rejected."""

from __future__ import annotations

SAMPLE_REASON = "not: in the sample of "  # Prefix of the reason of a row that a random sample leaves out
NOT_SAMPLED = "not sampled"  # Name of rows that meet the conditions of a filter, but are left out by its random sample


def not_sampled(sample: float) -> str:
    """The reason of a row that a random sample leaves out."""
    return f"{SAMPLE_REASON}{sample}"


def is_not_sampled(reason: object) -> bool:
    """True if a reason is that of a row that a random sample leaves out."""
    return isinstance(reason, str) and reason.startswith(SAMPLE_REASON)


DISTINCT = "distinct"  # Criterion of a filter that keeps one of equal pairs
IN_HELD_OUT = "in a held-out corpus"  # Reason for which a text of a test set is rejected

LEVELS = ("", "equal", "13 words in a row", "8 words in a row", "near-duplicate")
"""How near a text is to a test set, the surest first; index 0: not at all."""

HELD_OUT = ("", IN_HELD_OUT, *(f"{level}: near a held-out text" for level in LEVELS[2:]))
"""Why a text of each level is rejected."""


_NOT_BEST = "not the best"


def not_best(count: int, by: str) -> str:
    """The reason of a row whose source has enough better ones."""
    return f"{_NOT_BEST}{'' if count == 1 else f' {count}'} of its source by {by}"


def is_not_best(reason: object) -> bool:
    """True if a reason is that of a row whose source has better ones."""
    return isinstance(reason, str) and reason.startswith(_NOT_BEST)
