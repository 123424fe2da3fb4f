"""Numbers as people read them: counts, scores, shares, times, and round marks for an axis."""

from __future__ import annotations

import math

THIN = "\u202f"

_SPELLED = {
    "bleu": "BLEU",
    "bleu1": "BLEU+1",
    "chrf": "chrF",
    "ibleu": "i-BLEU",
    "ichrf": "i-chrF",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "sts": "STS",
}


def spoken(name: str) -> str:
    """A column's or a figure's name as the field writes it.

    >>> spoken("dev_loss"), spoken("bleu1")
    ('dev loss', 'BLEU+1')
    """
    return " ".join(_SPELLED.get(word.lower(), word) for word in name.replace("_", " ").split())


def count(n: int) -> str:
    """A row count, grouped by thin spaces.

    >>> count(29000).replace(THIN, "_")
    '29_000'
    """
    return f"{n:,}".replace(",", THIN)


def number(value: float | None, digits: int = 3) -> str:
    """A score in `digits` significant digits, without an exponent unless it must; a dash where there is none.

    >>> number(0.66667), number(12.0), number(None), number(1234.6)
    ('0.667', '12', '–', '1235')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if magnitude < -4 or magnitude > 8:
        return f"{value:.{digits - 1}e}"
    text = f"{value:.{max(0, digits - 1 - magnitude)}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


def share(part: float, whole: float) -> str:
    """A share in per cent; '<1' where it would round to nothing.

    >>> share(1, 3), share(1, 1000), share(0, 9)
    ('33\\u202f%', '<1\\u202f%', '0\\u202f%')
    """
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 1:
        return f"<1{THIN}%"
    return f"{min(99, round(percent)) if part < whole else round(percent)}{THIN}%"


def duration(seconds: float | None) -> str:
    """A time span in its two largest units.

    >>> duration(0.42), duration(75), duration(3725)
    ('0.4\\u202fs', '1\\u202fmin 15\\u202fs', '1\\u202fh 2\\u202fmin')
    """
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f}{THIN}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}{THIN}min {rest}{THIN}s"
    return f"{minutes // 60}{THIN}h {minutes % 60}{THIN}min"


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round marks (1, 2 or 5 times a power of ten apart) within [low, high].

    >>> ticks(0, 1), ticks(3, 28)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [5, 10, 15, 20, 25])
    """
    if not high > low:
        return [low]
    raw = (high - low) / about
    power = 10 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]
