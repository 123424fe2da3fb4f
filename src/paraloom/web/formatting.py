"""Numbers and names as text: counts, scores, percentages, durations, names of scores, and round axis ticks."""

from __future__ import annotations

import math

from paraloom.pairs.scoring.table import COLUMNS

THIN = "\u202f"  # A narrow no-break space: between groups of digits, and before units

_SPELLINGS = {
    "bleu": "BLEU",
    "bleu1": "BLEU+1",
    "chrf": "chrF",
    "ibleu": "i-BLEU",
    "ichrf": "i-chrF",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "sts": "STS",
}


def label(name: str) -> str:
    """The name of a column or figure as a reader expects it."""
    return " ".join(_SPELLINGS.get(word.lower(), word) for word in name.replace("_", " ").split())


def count(n: int) -> str:
    """An integer with thin spaces between groups of three digits."""
    return f"{n:,}".replace(",", THIN)


def plural(n: int, noun: str) -> str:
    return f"{count(n)} {noun}{'' if n == 1 else 's'}"


def score_name(name: str) -> str:
    for prefix, side in (("src_", "first side"), ("tgt_", "second side")):
        if name.startswith(prefix):
            return f"{label(name.removeprefix(prefix))}, {side}"
    return label(name)


def column_tooltip(name: str) -> str:
    """The name of a score in conditions, and the paper that defines it."""
    scorer = COLUMNS.get(name)
    return f"Column {name}. {scorer.reference}" if scorer and scorer.reference else f"Column {name}"


def number(value: float | None, digits: int = 3) -> str:
    """A number in `digits` significant digits, exponents below 0.0001 and from a billion; a dash for None, NaN, ∞."""
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
    """A part of a whole as a percentage; `<1 %` instead of a percentage that rounds to zero."""
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 1:
        return f"<1{THIN}%"
    return f"{min(99, round(percent)) if part < whole else round(percent)}{THIN}%"


def duration(seconds: float | None) -> str:
    """A duration in its two largest units; a dash for None."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f}{THIN}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}{THIN}min {rest}{THIN}s"
    return f"{minutes // 60}{THIN}h {minutes % 60}{THIN}min"


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round axis ticks within [low, high], 1, 2 or 5 times a power of ten apart; one tick where the range is empty."""
    if not high > low:
        return [low]
    raw = (high - low) / about
    power = 10 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]
