"""Decodings in their text form, with a number of variants."""

from __future__ import annotations

_LIMITS = {"greedy": ("", 1), "beam": ("size", 5), "mbr": ("samples", 16), "diverse": ("samples", 32)}
"""Name → the setting that bounds the number of variants, and its default; others keep all samples by default."""


def with_variants(decode: str, n: int) -> str:
    """A decoding that gives n variants, or as many as its beam has hypotheses, or minimum Bayes risk has samples."""
    if "nbest=" in decode:
        return decode
    head, *settings = decode.strip().split(",")
    name, _, value = head.partition(":")
    setting, limit = _LIMITS.get(name, ("samples", n))
    given = dict(text.split("=", 1) for text in settings if "=" in text).get(setting, value if name == "beam" else "")
    if given.strip().isdecimal():
        limit = int(given) or n
    return f"{decode},nbest={min(n, max(1, limit))}"
