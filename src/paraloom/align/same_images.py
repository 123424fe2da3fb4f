"""Which pictures are the same: equal bytes, or perceptual hashes that differ in a few bits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from paraloom.core.errors import DataError

# Bits of 64 that may differ.  Up to 7 one byte of eight is equal at least, which is how near ones are found.
NEAR = 6


class Picture(NamedTuple):
    """sha256: of the bytes, hexadecimal.  phash: 64 bits, hexadecimal; None or '' where none could be taken."""

    sha256: str | None
    phash: str | None


def same_pictures(pictures: Iterable[Picture], near: int = NEAR) -> dict[Picture, int]:
    """A number for each picture, equal for those that are the same; those of which nothing is known are left out.

    near: bits of the perceptual hash that may differ, 7 at most.  Likeness is handed on: a picture near to two others
    joins them.  Raises DataError for a perceptual hash that is none.

    >>> found = same_pictures([Picture("a", "00ff"), Picture("b", "00fe"), Picture("c", "ff00"), Picture(None, None)])
    >>> list(found.values())
    [0, 0, 1]
    """
    known = [each for each in dict.fromkeys(pictures) if each.sha256 or each.phash]
    parents = list(range(len(known)))

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    def join(a: int, b: int) -> None:
        first, second = sorted((root(a), root(b)))
        parents[second] = first

    by_bytes: dict[str, int] = {}
    by_piece: dict[tuple[int, int], list[int]] = defaultdict(list)
    hashes: dict[int, int] = {}
    by_hash: dict[int, int] = {}
    for place, picture in enumerate(known):
        if picture.sha256:
            join(by_bytes.setdefault(picture.sha256, place), place)
        if not picture.phash:
            continue
        value = _bits(picture.phash)
        if value in by_hash:
            join(by_hash[value], place)
            continue
        by_hash[value], hashes[place] = place, value
        for piece in range(8):
            key = (piece, value >> (8 * piece) & 0xFF)
            for other in by_piece[key]:
                if (hashes[other] ^ value).bit_count() <= near:
                    join(other, place)
            by_piece[key].append(place)
    numbers: dict[int, int] = {}
    return {picture: numbers.setdefault(root(place), len(numbers)) for place, picture in enumerate(known)}


def _bits(phash: str) -> int:
    try:
        value = int(phash, 16)
    except ValueError:
        value = -1
    if not 0 <= value < 1 << 64:
        raise DataError(
            f"'{phash[:40]}' is no perceptual hash of a picture",
            remedy="'phash' holds 64 bits as 16 hexadecimal digits, or null.",
        )
    return value
