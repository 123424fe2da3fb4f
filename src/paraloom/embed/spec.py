"""How an encoder is put together, in words: `word,trigram` joins two parts end to end, `word+trigram` sums them."""

from __future__ import annotations

from dataclasses import dataclass

from paraloom.core.errors import ConfigError, nearest
from paraloom.embed.parts import PARTS


@dataclass(frozen=True)
class Spec:
    """Blocks of the vector from left to right, each the sum of its parts (PNMT §5.6: all are trained jointly).

    >>> parse_spec("Word, trigram").blocks
    (('word',), ('trigram',))
    >>> str(parse_spec("word + trigram"))
    'word+trigram'
    """

    blocks: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return ",".join("+".join(block) for block in self.blocks)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, each once, in the order they are written."""
        return tuple(part for block in self.blocks for part in block)

    @property
    def units(self) -> tuple[str, ...]:
        """The kinds of unit that the parts read, each once."""
        return tuple(dict.fromkeys(PARTS[part].unit for part in self.parts))

    def columns(self, dimension: int) -> dict[str, int]:
        """Column of the whole vector at which each part's `dimension` numbers begin."""
        return {part: position * dimension for position, block in enumerate(self.blocks) for part in block}

    def width(self, dimension: int) -> int:
        """Width of the whole vector when each part has `dimension`."""
        return len(self.blocks) * dimension


def parse_spec(text: str) -> Spec:
    """Read a composition: `,` concatenates, `+` adds and binds tighter, case and blanks do not matter.

    Raises ConfigError for a part that does not exist (and names the nearest), is missing, or is there twice.

    >>> parse_spec("word,trigam")
    Traceback (most recent call last):
    paraloom.core.errors.ConfigError: there is no encoder part 'trigam' in 'word,trigam'; did you mean 'trigram'?
    """
    spec = Spec(tuple(tuple(part.strip().lower() for part in block.split("+")) for block in text.split(",")))
    for part in spec.parts:
        if not part:
            raise ConfigError(f"a part is missing in the encoder '{text}'", remedy="Write 'word,trigram', say.")
        if part not in PARTS:
            raise ConfigError(f"there is no encoder part '{part}' in '{text}'{nearest(part, list(PARTS))}")
        if spec.parts.count(part) > 1:
            raise ConfigError(f"the part '{part}' is there twice in the encoder '{text}'")
    return spec
