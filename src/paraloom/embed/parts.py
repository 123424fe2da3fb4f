"""The parts that an encoder may be put together of: which units each one reads, and whether their order counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """unit: a name in paraloom.embed.units.UNITS, or subword, or token.  ordered: read one after the other by a network
    of that name (paraloom.embed.networks), where other parts take the mean."""

    unit: str
    ordered: bool = False


PARTS: dict[str, Kind] = {
    "word": Kind("word"),
    "trigram": Kind("trigram"),
    "subword": Kind("subword"),
    "token": Kind("token"),
    "lstm": Kind("word", ordered=True),
    "blstm": Kind("word", ordered=True),
    "gran": Kind("word", ordered=True),
    "gru": Kind("word", ordered=True),
}
"""By the name that a spec uses; `token` is that of static models of others (embed.static)."""
