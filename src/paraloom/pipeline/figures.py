"""Figures that stages report, in words."""

from __future__ import annotations

from collections.abc import Mapping

_MEANINGS = {
    "violations": ("pairs that still violate the margin", True),
    "loss": ("loss in the last epoch", False),
    "dev": ("on development text", False),
    "f1": ("F1", False),
    "bleu": ("BLEU", False),
    "chrf": ("chrF", False),
}
"""Name of a figure → what it is, and whether it is a share of 1 that is printed in percent."""


def describe_figures(figures: Mapping[str, object]) -> list[str]:
    """A line for each figure; those without a value are left out."""
    lines = []
    for name, value in figures.items():
        label, share = _MEANINGS.get(name, (name.replace("_", " "), False))
        if isinstance(value, Mapping):
            text = ", ".join(_figure(key, part) for key, part in value.items() if part not in (None, {}, []))
        elif isinstance(value, list | tuple):
            text = ", ".join(map(_value, value))
        elif share and isinstance(value, float):
            text = f"{value:.1%}".replace("%", " %")
        else:
            text = "" if value is None else _value(value)
        if text:
            lines.append(f"{label}: {text}")
    return lines


def _figure(name: str, value: object) -> str:
    """One of several figures: a count before its name, another number after it."""
    label = name.replace("_", " ")
    if isinstance(value, Mapping):
        return f"{label} ({', '.join(_figure(key, part) for key, part in value.items())})"
    return f"{value:,} {label}" if isinstance(value, int) else f"{label} {_value(value)}"


def _value(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
