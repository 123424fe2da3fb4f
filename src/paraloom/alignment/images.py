"""Images that are the same: equal bytes, or perceptual hashes that differ in a few bits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from paraloom.core.errors import DataError

MAX_BITS = 6
"""Bits of 64 in which the perceptual hashes of the same image may differ.  Up to 7, at least one of the eight bytes is
equal, by which candidates are looked up."""


class ImageKey(NamedTuple):
    """Identity of an image: digests of its bytes and of its content."""

    sha256: str | None
    phash: str | None


def group_images(images: Iterable[ImageKey]) -> dict[ImageKey, int]:
    """Number images so that the same ones have the same number; sameness is transitive."""
    known = [image for image in dict.fromkeys(images) if image.sha256 or image.phash]
    parents = list(range(len(known)))

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    def join(a: int, b: int) -> None:
        first, second = sorted((root(a), root(b)))
        parents[second] = first

    by_sha256: dict[str, int] = {}
    by_byte: dict[tuple[int, int], list[int]] = defaultdict(list)
    hashes: dict[int, int] = {}
    by_hash: dict[int, int] = {}
    for index, image in enumerate(known):
        if image.sha256:
            join(by_sha256.setdefault(image.sha256, index), index)
        if not image.phash:
            continue
        value = _bits(image.phash)
        if value in by_hash:
            join(by_hash[value], index)
            continue
        by_hash[value], hashes[index] = index, value
        for byte in range(8):
            key = (byte, value >> (8 * byte) & 0xFF)
            for other in by_byte[key]:
                if (hashes[other] ^ value).bit_count() <= MAX_BITS:
                    join(other, index)
            by_byte[key].append(index)
    numbers: dict[int, int] = {}
    return {image: numbers.setdefault(root(index), len(numbers)) for index, image in enumerate(known)}


def _bits(phash: str) -> int:
    try:
        value = int(phash, 16)
    except ValueError:
        value = -1
    if not 0 <= value < 1 << 64:
        raise DataError(
            f"invalid perceptual hash '{phash[:40]}'", remedy="'phash' holds 64 bits as 16 hexadecimal digits, or null."
        )
    return value
