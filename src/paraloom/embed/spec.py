"""Parts of an encoder and how they combine: `word,trigram` concatenates two parts, `word+trigram` sums them."""

from __future__ import annotations

from dataclasses import dataclass

from paraloom.core.errors import ConfigError, nearest


@dataclass(frozen=True)
class PartKind:
    """A kind of part: the token types that it reads, and how."""

    unit: str
    network: str = ""
    own_dimension: bool = False

    @property
    def recurrent(self) -> bool:
        """True if a network reads the tokens in order."""
        return bool(self.network)


_NETWORKS = "paraloom.papers.recurrent_encoders:RecurrentParts"

PARTS: dict[str, PartKind] = {
    "word": PartKind("word"),
    "trigram": PartKind("trigram"),
    "bigram": PartKind("bigram"),
    "ngram": PartKind("ngram"),
    "subword": PartKind("subword"),
    "token": PartKind("token"),
    "lstm": PartKind("word", _NETWORKS),
    "blstm": PartKind("word", _NETWORKS),
    "gran": PartKind("word", _NETWORKS),
    "gru": PartKind("word", _NETWORKS),
    "pgru": PartKind("word", _NETWORKS, own_dimension=True),
}
"""Kinds of part by name; `token` is the part of static models of other libraries (`embed.static`)."""


@dataclass(frozen=True)
class Spec:
    """Composition of an encoder: blocks that are concatenated, each the sum of its parts (PNMT §5.6)."""

    blocks: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return ",".join("+".join(block) for block in self.blocks)

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for block in self.blocks for part in block)

    @property
    def units(self) -> tuple[str, ...]:
        """Kinds of token that the parts read, each once."""
        return tuple(dict.fromkeys(PARTS[part].unit for part in self.parts))

    def columns(self, dimension: int) -> dict[str, int]:
        """First column of each part in the whole vector, where each part has `dimension` columns."""
        return {part: index * dimension for index, block in enumerate(self.blocks) for part in block}

    def width(self, dimension: int) -> int:
        """Dimension of the whole vector where each part has `dimension` columns."""
        return len(self.blocks) * dimension


def parse_spec(text: str) -> Spec:
    """Parse a composition: `,` concatenates, `+` adds and binds tighter; case and spaces are ignored."""
    spec = Spec(tuple(tuple(part.strip().lower() for part in block.split("+")) for block in text.split(",")))
    for part in spec.parts:
        if not part:
            raise ConfigError(f"empty part in the architecture '{text}'", remedy="Write 'word,trigram', for example.")
        if part not in PARTS:
            raise ConfigError(f"unknown encoder part '{part}' in '{text}'{nearest(part, list(PARTS))}")
        if spec.parts.count(part) > 1:
            raise ConfigError(f"the part '{part}' is repeated in the architecture '{text}'")
    return spec
