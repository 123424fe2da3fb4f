"""Kernels of the tokenizer, over UTF-8 bytes `data` and offsets of texts, as in Arrow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Bools, Ids, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.text.characters import DIGIT, DIGIT_JOINER, LETTER, LETTER_JOINER, OTHER, SPACE

Bytes = npt.NDArray[np.uint8]
Int = int | np.int64
Points = Int32s

# FNV-1a over the bytes, then the finalizer of SplitMix64, so that any bits of an id serve as a hash table index.
START = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)

_BLANK = np.uint64(32)

EMPTY_SLOT = np.uint64(0)  # Marks a free slot of a hash table; a key of 0 would be lost, one in 2⁶⁴


@kernel(inline="always")
def mix(value: np.uint64) -> np.uint64:
    """Apply the finalizer of SplitMix64, after which each bit depends on every bit of the value."""
    value = (value ^ (value >> np.uint64(30))) * _MIX_1
    value = (value ^ (value >> np.uint64(27))) * _MIX_2
    return value ^ (value >> np.uint64(31))


@kernel
def slot_of(table: Ids, key: np.uint64) -> Int:
    """Find the slot of a key in a hash table of 2ⁿ slots, or the free slot to insert it."""
    mask = len(table) - 1
    slot = np.int64(key & np.uint64(mask))
    while table[slot] != EMPTY_SLOT and table[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def max_list_length(offsets: Ints) -> Int:
    """Number of entries of the longest list; 0 without lists."""
    size = 0
    for row in range(len(offsets) - 1):
        size = max(size, offsets[row + 1] - offsets[row])
    return size


@kernel(inline="always")
def _hash_on(value: np.uint64, data: Bytes, start: int, end: int) -> np.uint64:
    """The hash of some bytes, before `mix`, with further ones."""
    for i in range(start, end):
        value = (value ^ np.uint64(data[i])) * PRIME
    return value


@kernel
def _hash_bytes(data: Bytes, start: int, end: int) -> np.uint64:
    return mix(_hash_on(START, data, start, end))


@kernel(inline="always")
def _width(byte: Int) -> int:
    """Length in bytes of the character that starts with this byte."""
    if byte < 0x80:
        return 1
    if byte < 0xE0:
        return 2
    return 3 if byte < 0xF0 else 4


@kernel
def point_at(data: Bytes, i: int, end: int) -> tuple[Int, int]:
    """Code point and length of the character at i; the code point is -1 for a truncated or invalid one."""
    byte = np.int64(data[i])
    if byte < 0x80:
        return byte, 1
    width = _width(byte)
    if i + width > end:
        return -1, end - i
    if width == 2:
        point = (byte & 0x1F) << 6 | (np.int64(data[i + 1]) & 0x3F)
    elif width == 3:
        point = (byte & 0x0F) << 12 | (np.int64(data[i + 1]) & 0x3F) << 6 | (np.int64(data[i + 2]) & 0x3F)
    else:
        point = (byte & 0x07) << 18 | (np.int64(data[i + 1]) & 0x3F) << 12
        point |= (np.int64(data[i + 2]) & 0x3F) << 6 | (np.int64(data[i + 3]) & 0x3F)
        if point > 0x10FFFF:
            return -1, width
    return point, width


@kernel(inline="always")
def _class_at(data: Bytes, i: int, end: int, table: Bytes) -> tuple[Int, int]:
    """Class and length of the character at i; a truncated or invalid one is OTHER."""
    point, width = point_at(data, i, end)
    return (OTHER if point < 0 else np.int64(table[point])), width


@kernel
def code_points(data: Bytes, offsets: Ints) -> tuple[Points, Ints]:
    """Code points of all characters and offsets of the texts; an invalid one becomes U+FFFD."""
    points = np.empty(offsets[-1] - offsets[0], np.int32)
    starts = np.zeros(len(offsets), np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        i, end = offsets[text], offsets[text + 1]
        while i < end:
            point, width = point_at(data, i, end)
            points[count] = point if point >= 0 else 0xFFFD
            count += 1
            i += width
        starts[text + 1] = count
    return points[:count].copy(), starts


@kernel
def segment(data: Bytes, offsets: Ints, table: Bytes, punctuation: bool, starts: Ints, ends: Ints) -> Ints:
    """Find the tokens of each text: words and, with `punctuation`, single other characters."""
    lists = np.zeros(len(offsets), np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        i, end = offsets[text], offsets[text + 1]
        begin = -1  # start of the current word; -1 outside of words
        last: Int = SPACE  # class of the character before i
        while i < end:
            kind, width = _class_at(data, i, end, table)
            inside = kind in (LETTER, DIGIT)
            joins = (kind == LETTER_JOINER and last == LETTER) or (kind == DIGIT_JOINER and last == DIGIT)
            if joins and i + width < end:
                inside = _class_at(data, i + width, end, table)[0] == last
            if inside:
                if begin < 0:
                    begin = i
            else:
                if begin >= 0:
                    starts[count], ends[count] = begin, i
                    count += 1
                    begin = -1
                if punctuation and kind != SPACE:
                    starts[count], ends[count] = i, i + width
                    count += 1
            last = kind
            i += width
        if begin >= 0:
            starts[count], ends[count] = begin, end
            count += 1
        lists[text + 1] = count
    return lists


@kernel
def hash_spans(data: Bytes, starts: Ints, ends: Ints) -> Ids:
    """Hash each span of bytes to its id, uint64 `(spans,)`."""
    ids = np.empty(len(starts), np.uint64)
    for k in range(len(starts)):
        ids[k] = _hash_bytes(data, starts[k], ends[k])
    return ids


@kernel
def copy_spans(data: Bytes, starts: Ints, ends: Ints) -> tuple[Bytes, Ints]:
    """Concatenate the bytes of the spans; returns them and their offsets."""
    offsets = np.zeros(len(starts) + 1, np.int64)
    for k in range(len(starts)):
        offsets[k + 1] = offsets[k] + ends[k] - starts[k]
    copied = np.empty(offsets[-1], np.uint8)
    for k in range(len(starts)):
        copied[offsets[k] : offsets[k + 1]] = data[starts[k] : ends[k]]
    return copied, offsets


@kernel
def hash_bigrams(data: Bytes, starts: Ints, ends: Ints, offsets: Ints) -> tuple[Ids, Ints]:
    """Hash the bytes of each two consecutive spans of a list with a space between; returns flat ids and offsets."""
    lists = np.zeros(len(offsets), np.int64)
    for i in range(len(offsets) - 1):
        lists[i + 1] = lists[i] + max(0, offsets[i + 1] - offsets[i] - 1)
    ids = np.empty(lists[-1], np.uint64)
    for i in range(len(offsets) - 1):
        for position in range(lists[i + 1] - lists[i]):
            k = offsets[i] + position
            first = (_hash_on(START, data, starts[k], ends[k]) ^ _BLANK) * PRIME
            ids[lists[i] + position] = mix(_hash_on(first, data, starts[k + 1], ends[k + 1]))
    return ids, lists


@kernel
def ngrams(ids: Ids, offsets: Ints, n: int) -> tuple[Ids, Ints]:
    """Hash each n consecutive ids of each list; returns flat ids and offsets."""
    lists = np.zeros(len(offsets), np.int64)
    for i in range(len(offsets) - 1):
        lists[i + 1] = lists[i] + max(0, offsets[i + 1] - offsets[i] - n + 1)
    grams = np.empty(lists[-1], np.uint64)
    for i in range(len(offsets) - 1):
        for k in range(lists[i + 1] - lists[i]):
            value = START
            for j in range(offsets[i] + k, offsets[i] + k + n):
                value = mix((value ^ ids[j]) * PRIME)
            grams[lists[i] + k] = value
    return grams, lists


@kernel
def character_ngrams(data: Bytes, offsets: Ints, n: int, boundary: bool) -> tuple[Ids, Ints]:
    """Hash each n consecutive characters of each text, with a space added at both ends where `boundary`."""
    max_bytes = max_list_length(offsets)
    padded = np.empty(max_bytes + 2, np.uint8)
    begins = np.empty(max_bytes + 3, np.int64)
    lists = np.zeros(len(offsets), np.int64)
    grams = np.empty(offsets[-1] - offsets[0] + 2 * len(offsets), np.uint64)
    count = 0
    for i in range(len(offsets) - 1):
        size = offsets[i + 1] - offsets[i]
        shift = 1 if boundary else 0
        padded[0] = 32
        padded[shift : shift + size] = data[offsets[i] : offsets[i + 1]]
        size += shift
        if boundary:
            padded[size] = 32
            size += 1
        characters = 0
        at = 0
        while at < size:
            begins[characters] = at
            characters += 1
            at += _width(padded[at])
        begins[characters] = size
        for k in range(characters - n + 1):
            grams[count] = _hash_bytes(padded, begins[k], begins[k + n])
            count += 1
        lists[i + 1] = count
    return grams[:count].copy(), lists


@kernel
def insert(ids: Ids, table: Ids) -> Bools:
    """Insert ids into a hash table with enough free slots; returns whether each id was new, bool `(n,)`."""
    new = np.zeros(len(ids), np.bool_)
    for k in range(len(ids)):
        slot = slot_of(table, ids[k])
        if table[slot] == EMPTY_SLOT:
            table[slot] = ids[k]
            new[k] = True
    return new


@kernel
def build_table(keys: Ids, room: int = 0) -> tuple[Ids, Int32s]:
    """Hash table of keys, at most half full with `room` or all of them, and the position of each slot's key, from 1."""
    slots = 2
    while slots < 2 * max(room, len(keys)):
        slots *= 2
    table, rows = np.zeros(slots, np.uint64), np.zeros(slots, np.int32)
    for k in range(len(keys)):
        slot = slot_of(table, keys[k])
        table[slot], rows[slot] = keys[k], k + 1
    return table, rows
