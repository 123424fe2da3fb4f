"""Kernels of the character n-grams within words, marked as `<word>`: their hashes, and the bytes of chosen ones."""

from __future__ import annotations

import numpy as np

from paraloom.core.array_types import Ids, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import PRIME, START, Bytes, Int, mix, point_at

_OPEN, _CLOSE = np.uint8(ord("<")), np.uint8(ord(">"))


@kernel(inline="always")
def _is_syllabic(point: Int) -> bool:
    """True if a character is a syllable or a word by itself: Hangul, Han, hiragana, katakana."""
    return bool(
        0x3041 <= point <= 0x30FF
        or 0x3400 <= point <= 0x4DBF
        or 0x4E00 <= point <= 0x9FFF
        or 0xAC00 <= point <= 0xD7A3
        or 0xF900 <= point <= 0xFAFF
        or 0x20000 <= point <= 0x323AF
    )


@kernel
def _mark(data: Bytes, start: int, end: int, marked: Bytes, begins: Ints) -> tuple[Int, bool]:
    """Write a word with its marks and where its characters begin; returns their number, and whether one is syllabic."""
    marked[0] = _OPEN
    begins[0] = 0
    count, syllabic = 1, False
    i = int(start)
    while i < end:
        point, width = point_at(data, i, int(end))
        syllabic |= _is_syllabic(point)
        begins[count] = i - start + 1
        count += 1
        for j in range(i, i + width):
            marked[j - start + 1] = data[j]
        i += width
    marked[end - start + 1] = _CLOSE
    begins[count] = end - start + 1
    begins[count + 1] = end - start + 2
    return count + 1, syllabic


@kernel
def word_ngrams(
    data: Bytes, starts: Ints, ends: Ints, offsets: Ints, orders: Ints, syllabic_orders: Ints
) -> tuple[Ids, Ints]:
    """Hash the n-grams of all words of n texts."""
    max_bytes, total = 1, 0
    for k in range(len(starts)):
        max_bytes = max(max_bytes, ends[k] - starts[k])
        total += ends[k] - starts[k] + 2
    marked, begins = np.empty(max_bytes + 2, np.uint8), np.empty(max_bytes + 4, np.int64)
    spread = max(orders[1] - orders[0], syllabic_orders[1] - syllabic_orders[0]) + 1
    ids = np.empty(total * spread + len(starts), np.uint64)
    lists = np.zeros(len(offsets), np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        for k in range(offsets[text], offsets[text + 1]):
            characters, syllabic = _mark(data, starts[k], ends[k], marked, begins)
            low, high = syllabic_orders if syllabic else orders
            for first in range(characters):
                value = START
                for n in range(1, min(high, characters - first) + 1):
                    for i in range(begins[first + n - 1], begins[first + n]):
                        value = (value ^ np.uint64(marked[i])) * PRIME
                    # The marks alone say nothing.
                    if n >= low and not (n == 1 and (first == 0 or first == characters - 1)):
                        ids[count] = mix(value)
                        count += 1
            if characters > high:
                value = START
                for i in range(begins[characters]):
                    value = (value ^ np.uint64(marked[i])) * PRIME
                ids[count] = mix(value)
                count += 1
        lists[text + 1] = count
    return ids[:count].copy(), lists


@kernel
def spell_word_ngrams(
    data: Bytes, starts: Ints, ends: Ints, offsets: Ints, orders: Ints, syllabic_orders: Ints, positions: Ints
) -> tuple[Bytes, Ints]:
    """Bytes, concatenated, and offsets of the n-gram at `positions[i]` of those that `word_ngrams` lists for text i."""
    max_bytes = 1
    for k in range(len(starts)):
        max_bytes = max(max_bytes, ends[k] - starts[k])
    marked, begins = np.empty(max_bytes + 2, np.uint8), np.empty(max_bytes + 4, np.int64)
    spelled = np.empty(1024, np.uint8)
    bounds = np.zeros(len(offsets), np.int64)
    for text in range(len(offsets) - 1):
        number, low_byte, high_byte = -1, 0, 0
        for k in range(offsets[text], offsets[text + 1]):
            characters, syllabic = _mark(data, starts[k], ends[k], marked, begins)
            low, high = syllabic_orders if syllabic else orders
            for first in range(characters):
                for n in range(low, min(high, characters - first) + 1):
                    number += not (n == 1 and (first == 0 or first == characters - 1))
                    if number == positions[text]:
                        low_byte, high_byte = begins[first], begins[first + n]
                        break
                if number == positions[text]:
                    break
            if number < positions[text] and characters > high:
                number += 1
                low_byte, high_byte = 0, begins[characters]
            if number == positions[text]:
                break
        size = high_byte - low_byte
        while bounds[text] + size > len(spelled):
            spelled = np.concatenate((spelled, np.empty(len(spelled), np.uint8)))
        spelled[bounds[text] : bounds[text] + size] = marked[low_byte:high_byte]
        bounds[text + 1] = bounds[text] + size
    return spelled[: bounds[-1]].copy(), bounds
