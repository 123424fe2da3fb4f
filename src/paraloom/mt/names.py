"""Names of translators on the Hugging Face hub: short ones such as `opus-mt-de-en`, and the languages that they say."""

from __future__ import annotations

import re
from pathlib import Path

from paraloom.core.errors import ConfigError
from paraloom.mt.languages import find_language, same_language

SHORT_NAMES: dict[str, str] = {
    "nllb-600m": "facebook/nllb-200-distilled-600M",
    "nllb-1.3b": "facebook/nllb-200-distilled-1.3B",
    "nllb-3.3b": "facebook/nllb-200-3.3B",
    "m2m100-418m": "facebook/m2m100_418M",
    "m2m100-1.2b": "facebook/m2m100_1.2B",
    "madlad-3b": "google/madlad400-3b-mt",
    "madlad-7b": "google/madlad400-7b-mt",
    "madlad-10b": "google/madlad400-10b-mt",
}
"""Short name → OWNER/NAME on the hub; those of OPUS-MT begin with `opus-mt-` and are not listed."""

_OPUS = "Helsinki-NLP"
_PAIR = re.compile(r"opus-mt-(?:tc-(?:base-|big-|bible-big-)?)?([a-z]{2,3})-([a-z]{2,3})(?![A-Za-z_])")


def is_short_name(name: str) -> bool:
    """True if a name is short for one of the hub."""
    return name.lower() in SHORT_NAMES or re.fullmatch(r"opus-mt-[\w.-]+", name) is not None


def hub_name(name: str) -> str | None:
    """OWNER/NAME of a name of the hub, short or not; None for other names, and for paths."""
    if is_short_name(name):
        return SHORT_NAMES.get(name.lower(), f"{_OPUS}/{name}")
    return name if re.fullmatch(r"[\w.-]+/[\w.-]+", name) and not Path(name).parent.exists() else None


def short_name(name: str) -> str:
    """The short name of an OWNER/NAME, or the name itself."""
    if name.startswith(f"{_OPUS}/opus-mt-"):
        return name.removeprefix(f"{_OPUS}/")
    return next((short for short, known in SHORT_NAMES.items() if known == name), name)


def pair_of(name: str) -> tuple[str, str] | None:
    """The languages that a name of OPUS-MT says; None of other names and of groups of languages."""
    match = _PAIR.search(name)
    return (match[1], match[2]) if match and find_language(match[1]) and find_language(match[2]) else None


def check_pair(name: str, source: str | None, target: str | None) -> None:
    """Check that languages are those that a name says, before anything is downloaded."""
    pair = pair_of(name)
    if pair is None:
        return
    given = (source or pair[0], target or pair[1])
    if all(same_language(one, other) for one, other in zip(given, pair, strict=True)):
        return
    is_reversed = all(same_language(one, other) for one, other in zip(given, reversed(pair), strict=True))
    other = short_name(name).replace("-".join(pair), "-".join(reversed(pair)))
    raise ConfigError(
        f"{name} translates {pair[0]} → {pair[1]}, not {given[0]} → {given[1]}",
        remedy=f"The other direction is {other}." if is_reversed else "Name a model of these languages.",
    )


def stronger_translator(source: str, target: str) -> str:
    """What to say to users of a bundled translator whose text it does not know."""
    name = f"opus-mt-{source}-{target}"
    return f"a stronger translator: paraloom models fetch {name}, then --translator {name}"
