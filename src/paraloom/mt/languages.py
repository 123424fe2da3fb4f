"""Languages by any of their codes, and the code that a model has for each: one table, languages.tsv."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import NamedTuple

from paraloom.core.errors import ConfigError

_NEAREST = 8


class Language(NamedTuple):
    """A language and its codes."""

    flores: str
    iso1: str
    iso3: str
    also: tuple[str, ...]
    m2m100: str
    mbart50: str
    name: str

    @property
    def code(self) -> str:
        """The shortest code that means it: of ISO 639-1, else of 639-3; with the script where it is not the default."""
        code = self.iso1 or self.iso3
        return code if _by_key()[code] is self else self.flores

    @property
    def forms(self) -> tuple[str, ...]:
        """Every code that a model may have for it, the likeliest first."""
        script = self.flores.partition("_")[2]
        forms = (self.m2m100, self.mbart50, self.flores, self.iso1, self.iso3)
        scripted = tuple(f"{form}_{script}" for form in (self.iso1, *self.also) if form and "-" not in form)
        return tuple(dict.fromkeys(form for form in (*forms, *scripted, *self.also) if form))


@cache
def all_languages() -> tuple[Language, ...]:
    """Every language of the table; of two scripts of a language, the default one is first."""
    lines = Path(__file__).with_name("languages.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return tuple(
        Language(flores, iso1, iso3, tuple(also.split()), m2m100, mbart50, name)
        for flores, iso1, iso3, also, m2m100, mbart50, name in rows[1:]
    )


def find_language(text: str) -> Language | None:
    """The language of a code or an English name; None if the table does not have it."""
    key = _key(text)
    known = _by_key()
    parts = key.split("-")
    # A region of two letters or three digits may be left out; another script is another language here.
    region = len(parts) == 2 and (len(parts[1]) == 2 or parts[1].isdigit())
    return known.get(key) or (known.get(parts[0]) if region else None)


def language_of(text: str | None) -> str | None:
    """The shortest code of a language, the text itself if the table does not have it."""
    language = find_language(text) if text else None
    return language.code if language else text


def same_language(one: str, other: str) -> bool:
    """True if two codes mean the same language."""
    return language_of(one) == language_of(other)


def model_code(text: str, codes: Mapping[str, str], *, side: str, model: str) -> str:
    """A model's own code of a language."""
    folded = {_key(code): value for code, value in codes.items()}
    language = find_language(text)
    for form in (text, *(language.forms if language else ())):
        if _key(form) in folded:
            return folded[_key(form)]
    raise ConfigError(
        f"unknown {side} language '{text}' of {model}",
        remedy=f"It knows {len(codes)} languages; nearest: {', '.join(_nearest(text, language, codes))}.",
    )


def _nearest(text: str, language: Language | None, codes: Mapping[str, str]) -> list[str]:
    """Codes that look like a text, or whose language does; else the first ones."""
    spelled: dict[str, str] = {}
    for code in codes:
        known = find_language(code)
        for form in (code, *((known.name, *known.forms) if known else ())):
            spelled.setdefault(_key(form), f"{code} ({known.name})" if known else code)
    wanted = [_key(text), *((_key(language.name), _key(language.flores)) if language else ())]
    close = [match for name in wanted for match in get_close_matches(name, spelled, n=_NEAREST, cutoff=0.5)]
    names = list(dict.fromkeys(spelled[name] for name in close)) or list(dict.fromkeys(spelled.values()))
    return names[:_NEAREST]


def _key(text: str) -> str:
    return text.strip().lower().replace("_", "-")


@cache
def _by_key() -> dict[str, Language]:
    known: dict[str, Language] = {}
    rows = all_languages()
    # Stronger codes first: one of ISO 639-1 before the same letters as an older code of another language.
    for forms in (
        lambda row: (row.flores,),
        lambda row: (row.iso1,),
        lambda row: (row.iso3,),
        lambda row: (*row.also, row.m2m100, row.mbart50, row.name),
    ):
        for row in rows:
            for form in forms(row):
                known.setdefault(_key(form), row)
    known.pop("", None)
    return known
