"""Inner loops of MinHash, compiled by numba: texts without punctuation, minimum hashes of a set, bands and buckets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Bools, Ids, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import EMPTY_SLOT, PRIME, START, Bytes, mix, slot_of

Sketches = npt.NDArray[np.uint32]

_EMPTY_TEXT = np.uint32(0xFFFFFFFF)


@kernel
def minhash(ids: Ids, offsets: Ints, size: int) -> Sketches:
    """For each list the minimum of `size` (even) different hashes of its ids: uint32 (n, size); all ones if empty."""
    sketches = np.full((len(offsets) - 1, size), _EMPTY_TEXT, np.uint32)
    # One call of mix gives two hashes, its upper and its lower half: apart, both loops below work on vectors.
    half = size // 2
    upper, lower, added = np.empty(half, np.uint32), np.empty(half, np.uint32), np.empty(half, np.uint64)
    for k in range(half):
        added[k] = np.uint64(2 * k + 1) * PRIME
    for row in range(len(sketches)):
        upper[:] = _EMPTY_TEXT
        lower[:] = _EMPTY_TEXT
        for i in range(offsets[row], offsets[row + 1]):
            for k in range(half):
                value = mix(ids[i] + added[k])
                upper[k] = min(upper[k], np.uint32(value >> np.uint64(32)))
                lower[k] = min(lower[k], np.uint32(value))
        for k in range(half):
            sketches[row, 2 * k], sketches[row, 2 * k + 1] = upper[k], lower[k]
    return sketches


@kernel
def hash_bands(sketches: Sketches, width: int) -> Ids:
    """One hash for each `width` consecutive values of a sketch: uint64 (n, size // width)."""
    count = sketches.shape[1] // width
    hashes = np.empty((len(sketches), count), np.uint64)
    for row in range(len(sketches)):
        for band in range(count):
            value = START
            for k in range(band * width, (band + 1) * width):
                value = mix((value ^ np.uint64(sketches[row, k])) * PRIME)
            hashes[row, band] = value
    return hashes


@kernel
def earlier_rows(entries: Ids, limit: int, table: Ids) -> Ints:
    """The rows whose hash an earlier row has, and the first of these, if at most so many bits differ: int64 (m, 2).

    entries: uint64 (n, 3): hash, row and bits, in order of the rows.
    table: uint64 (2ⁿ, 3): the first entry of each hash, in a hash table with room for them all.
    """
    candidates = np.empty((len(entries), 2), np.int64)
    count = 0
    for i in range(len(entries)):
        slot = slot_of(table[:, 0], entries[i, 0])
        if table[slot, 0] == EMPTY_SLOT:
            table[slot] = entries[i]
            continue
        different, bits = 0, entries[i, 2] ^ table[slot, 2]
        while bits:
            bits &= bits - np.uint64(1)
            different += 1
        if different <= limit:
            candidates[count, 0], candidates[count, 1] = entries[i, 1], table[slot, 1]
            count += 1
    return candidates[:count].copy()


@kernel
def letters_and_digits(data: Bytes, offsets: Ints) -> tuple[Bytes, Ints, Bools]:
    """ASCII texts in which other characters are replaced by single blanks, none at the ends; others are left empty.

    Returns: the texts as bytes and offsets, and which ones are ASCII.
    """
    plain = np.empty(offsets[-1] - offsets[0], np.uint8)
    bounds = np.zeros(len(offsets), np.int64)
    ascii_only = np.ones(len(offsets) - 1, np.bool_)
    end = 0
    for row in range(len(ascii_only)):
        begin, gap = end, False
        for i in range(offsets[row], offsets[row + 1]):
            byte = data[i]
            if byte >= 0x80:
                ascii_only[row], end = False, begin
                break
            if 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122:
                if gap and end > begin:
                    plain[end] = 32
                    end += 1
                plain[end] = byte
                end += 1
                gap = False
            else:
                gap = True
        bounds[row + 1] = end
    return plain[:end].copy(), bounds, ascii_only


@kernel
def mark_similar(sketches, bands, known_bands, starts, shift, rows, known, similarity, marked):
    """Whether a known sketch agrees with each of n in a share of `similarity` or more: bool (n,).

    known_bands: uint64 (m,), ascending, those of the known sketches `rows`; the ones whose bits from `shift` on are b
    begin at starts[b].
    marked: bool (known,), set True for the sketches that agree.
    """
    size = sketches.shape[1]
    enough = similarity * size
    similar = np.zeros(len(sketches), np.bool_)
    for i in range(len(sketches)):
        for band in bands[i]:
            first = np.int64(band >> shift)
            for position in range(starts[first], starts[first + 1]):
                if known_bands[position] != band:
                    continue
                row = rows[position]
                agree = 0
                for k in range(size):
                    agree += sketches[i, k] == known[row, k]
                if agree >= enough:
                    similar[i] = marked[row] = True
    return similar
