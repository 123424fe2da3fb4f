"""Paraphrasers as users name them: trained ones, round trips, language models behind endpoints."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from paraloom.core.errors import ConfigError
from paraloom.core.references import split_reference
from paraloom.paraphrasing.round_trip import PIVOTS

ROUND_TRIP = "round-trip:"
"""Beginning of a reference to a round trip."""


class RoundTripReference(NamedTuple):
    """The translators of a round trip, by name.

    >>> str(RoundTripReference.parse("round-trip:en-de,de-en"))
    'round-trip:en-de,de-en,pivots=3'
    """

    forward: str
    backward: str
    pivots: int = PIVOTS

    @classmethod
    def parse(cls, reference: str) -> RoundTripReference:
        """Read `round-trip:THERE,BACK,pivots=N`."""
        translators, pivots = [], PIVOTS
        for part in reference.removeprefix(ROUND_TRIP).split(","):
            key, equals, value = part.partition("=")
            if not (equals and key == "pivots"):
                translators.append(part)
            elif not value.isdecimal() or not int(value):
                raise ConfigError(f"pivots of '{reference}': expected a whole number from 1, got '{value}'")
            else:
                pivots = int(value)
        if len(translators) != 2 or not all(translators):
            raise ConfigError(
                f"'{reference}': a round trip needs a translator for each direction",
                remedy="Write round-trip:THERE,BACK, such as round-trip:en-de,de-en,pivots=3.",
            )
        return cls(translators[0], translators[1], pivots)

    def __str__(self) -> str:
        return f"{ROUND_TRIP}{self.forward},{self.backward},pivots={self.pivots}"


def endpoint_reference(reference: str, *, answers: str = "") -> str:
    """The reference to an endpoint as one to a translator from a language into itself, by default in other words."""
    address, settings = split_reference(reference)
    language = settings.pop("language", "en")
    kept = {"answers": answers} if answers else {}
    return f"{address}?{urlencode({'prompt': 'rewrite', 'from': language, 'to': language, **kept, **settings})}"
