"""How many n-grams two lists have in common, compiled by numba: chrF of pairs, BLEU and chrF of variants.

Lists come flat: `ids` uint64 (entries,) and `offsets` int64 (n + 1,), list i is ids[offsets[i] : offsets[i + 1]].
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.text.token_kernels import EMPTY_SLOT, PRIME, Ids, Int, Ints, Points, mix

Flags = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int32]

# Odd: no bit of an entry is lost, however often it is multiplied within an n-gram.
_BASE = np.uint64(0x9E3779B97F4A7C15)

# The topmost bits of a key's multiple hang on all bits of the key (Knuth's multiplicative hashing).
_SPREAD = np.uint64(0xD6E8FEB86659FD93)


@njit(cache=True, nogil=True)
def visible(points: Points, offsets: Ints, white: Flags) -> tuple[Ids, Ints]:
    """The characters of each text that are no white space, as lists of ids; white: of every code point."""
    ids = np.empty(offsets[-1] - offsets[0] + 1, np.uint64)
    lists = np.zeros(len(offsets), np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        for i in range(offsets[text], offsets[text + 1]):
            # Written always and kept sometimes: a branch here is guessed wrong at every blank.
            ids[count] = np.uint64(points[i])
            count += not white[points[i]]
        lists[text + 1] = count
    return ids[:count], lists


@njit(cache=True, nogil=True)
def prefixes_of(ids: Ids) -> Ids:
    """uint64 (entries + 1,): polynomials of all entries before each; two of them give any n-gram's, modulo 2⁶⁴."""
    prefixes = np.zeros(len(ids) + 1, np.uint64)
    for k in range(len(ids)):
        prefixes[k + 1] = prefixes[k] * _BASE + mix(ids[k] * PRIME + _BASE)
    return prefixes


@njit(cache=True, nogil=True)
def shared_ngrams(prefixes: Ids, offsets: Ints, left: Ints, right: Ints, longest: int) -> Counts:
    """n-grams that list left[p] and list right[p] share, as multisets: int32 (pairs, longest).

    prefixes: of the entries of all lists.  Column n − 1 has the n-grams of n entries.  Pairs with one left list that
    follow each other count it once, into a small hash table; each right list is taken out of it, and put back for the
    next.  Memory is that of two lists.
    """
    pairs = len(left)
    shared = np.zeros((pairs, longest), np.int32)
    most = 1
    for row in range(len(offsets) - 1):
        most = max(most, offsets[row + 1] - offsets[row])
    slots = 1 << _bits(most * longest)
    keys, counts = np.empty(slots, np.uint64), np.empty(slots, np.int32)
    taken = np.empty(most * longest, np.int64)
    within = np.empty(most + 1, np.bool_)
    first = 0
    while first < pairs:
        end = first + 1
        while end < pairs and left[end] == left[first]:
            end += 1
        begin, size = offsets[left[first]], offsets[left[first] + 1] - offsets[left[first]]
        bits = _bits(size * longest)
        keys[: 1 << bits] = EMPTY_SLOT
        power = np.uint64(1)
        for order in range(1, longest + 1):
            power *= _BASE
            for k in range(begin, begin + size - order + 1):
                key = _key(prefixes, k, order, power)
                slot = _slot(keys, key, bits)
                if keys[slot] == EMPTY_SLOT:
                    keys[slot], counts[slot] = key, 0
                counts[slot] += 1
        for pair in range(first, end):
            begin, size = offsets[right[pair]], offsets[right[pair] + 1] - offsets[right[pair]]
            within[:size] = True
            total = 0
            power = np.uint64(1)
            for order in range(1, min(size, longest) + 1):
                power *= _BASE
                before = total
                for i in range(size - order + 1):
                    # An n-gram can only be in the left list if both of its (n - 1)-grams are.
                    if not (within[i] and (order == 1 or within[i + 1])):
                        within[i] = False
                        continue
                    key = _key(prefixes, begin + i, order, power)
                    slot = _slot(keys, key, bits)
                    within[i] = keys[slot] == key
                    if within[i] and counts[slot] > 0:
                        counts[slot] -= 1
                        taken[total] = slot
                        total += 1
                shared[pair, order - 1] = total - before
                if total == before:
                    break
            for i in range(total):
                counts[taken[i]] += 1
        first = end
    return shared


@njit(cache=True, nogil=True, inline="always")
def _key(prefixes: Ids, k: Int, order: Int, power: np.uint64) -> np.uint64:
    """The key of the n-gram from entry k on; power: of the base, to the order."""
    return np.uint64(prefixes[k + order] - prefixes[k] * power + np.uint64(order))


@njit(cache=True, nogil=True, inline="always")
def _slot(keys: Ids, key: np.uint64, bits: Int) -> Int:
    """Where a key is in a table of 2^bits slots, or the free slot where it would be."""
    slot = np.int64((key * _SPREAD) >> np.uint64(64 - bits))
    while keys[slot] != EMPTY_SLOT and keys[slot] != key:
        slot = (slot + 1) & ((1 << bits) - 1)
    return slot


@njit(cache=True, nogil=True)
def _bits(entries: Int) -> int:
    """Of the size of a hash table: a power of two, at least twice the entries."""
    bits = 1
    while 1 << bits < 2 * entries:
        bits += 1
    return bits
