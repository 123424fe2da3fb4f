"""Numbers in addresses, forms and names of folders: `int` and `float` accept more than a person means by a number."""

from __future__ import annotations

import math
import re

_WHOLE = re.compile(r"[0-9]{1,20}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?")


def whole_number(text: str, low: int, high: int) -> int | None:
    """The number that ASCII digits spell, None for any other text and for a number out of bounds."""
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and low <= number <= high else None


def finite_number(text: str) -> float | None:
    """The decimal number that ASCII digits spell, None for any other text, infinity and NaN."""
    number = float(text) if _DECIMAL.fullmatch(text) else math.nan
    return number if math.isfinite(number) else None
