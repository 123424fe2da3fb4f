"""Kernels that count the n-grams that two lists share, for BLEU and chrF."""

from __future__ import annotations

import numpy as np

from paraloom.core.array_types import Bools, Ids, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import EMPTY_SLOT, PRIME, Int, Points, max_list_length, mix

Counts = Int32s

# Odd, so that multiplication modulo 2⁶⁴ loses no bit of an entry.
_BASE = np.uint64(0x9E3779B97F4A7C15)

# Knuth's multiplicative hashing: the top bits of the product depend on all bits of the key.
_SPREAD = np.uint64(0xD6E8FEB86659FD93)


@kernel
def visible(points: Points, offsets: Ints, white: Bools) -> tuple[Ids, Ints]:
    """List the characters of each text that are not white space."""
    ids = np.empty(offsets[-1] - offsets[0] + 1, np.uint64)
    lists = np.zeros(len(offsets), np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        for i in range(offsets[text], offsets[text + 1]):
            # Always written, sometimes overwritten: a branch here would be mispredicted at every space.
            ids[count] = np.uint64(points[i])
            count += not white[points[i]]
        lists[text + 1] = count
    return ids[:count], lists


@kernel
def prefixes_of(ids: Ids) -> Ids:
    """Compute prefix sums of a rolling hash, from which the hash of any n-gram follows."""
    prefixes = np.zeros(len(ids) + 1, np.uint64)
    for k in range(len(ids)):
        prefixes[k + 1] = prefixes[k] * _BASE + mix(ids[k] * PRIME + _BASE)
    return prefixes


@kernel
def shared_ngrams(prefixes: Ids, offsets: Ints, left: Ints, right: Ints, max_order: int) -> Counts:
    """Count the n-grams that pairs of lists share, as multisets; equal left lists in a row are counted once."""
    pairs = len(left)
    shared = np.zeros((pairs, max_order), np.int32)
    max_size = max(1, max_list_length(offsets))
    slots = 1 << _bits(max_size * max_order)
    keys, counts = np.empty(slots, np.uint64), np.empty(slots, np.int32)
    taken = np.empty(max_size * max_order, np.int64)
    within = np.empty(max_size + 1, np.bool_)
    first = 0
    while first < pairs:
        end = first + 1
        while end < pairs and left[end] == left[first]:
            end += 1
        begin, size = offsets[left[first]], offsets[left[first] + 1] - offsets[left[first]]
        bits = _bits(size * max_order)
        _count_ngrams(prefixes, begin, begin + size, max_order, bits, keys, counts)
        for pair in range(first, end):
            begin, size = offsets[right[pair]], offsets[right[pair] + 1] - offsets[right[pair]]
            within[:size] = True
            total = 0
            power = np.uint64(1)
            for order in range(1, min(size, max_order) + 1):
                power *= _BASE
                before = total
                for i in range(size - order + 1):
                    # An n-gram can be in the left list only if both of its (n - 1)-grams are.
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


@kernel
def _count_ngrams(prefixes: Ids, begin: Int, end: Int, max_order: int, bits: int, keys: Ids, counts: Counts) -> None:
    """Fill a hash table with the n-grams of a list."""
    keys[: 1 << bits] = EMPTY_SLOT
    power = np.uint64(1)
    for order in range(1, max_order + 1):
        power *= _BASE
        for k in range(begin, end - order + 1):
            key = _key(prefixes, k, order, power)
            slot = _slot(keys, key, bits)
            if keys[slot] == EMPTY_SLOT:
                keys[slot], counts[slot] = key, 0
            counts[slot] += 1


@kernel
def shared_in_groups(
    prefixes: Ids, offsets: Ints, groups: Ints, left: Ints, right: Ints, bounds: Ints, max_order: int
) -> Counts:
    """As `shared_ngrams`, for lists in many pairs of a group, whose n-grams are numbered once; one group in memory."""
    shared = np.zeros((len(left), max_order), np.int32)
    max_entries, max_lists = max(1, max_order * max_list_length(offsets[groups])), max(1, max_list_length(groups))
    keys, numbers = np.empty(1 << _bits(max_entries), np.uint64), np.empty(1 << _bits(max_entries), np.int32)
    # Of each distinct n-gram of each list: its number in the group, and how often the list has it.
    ngrams, counts = np.empty(max_entries, np.int32), np.empty(max_entries, np.int32)
    starts = np.empty(max_lists * max_order + 1, np.int64)
    latest = np.empty(max_entries, np.int64)  # of each number, the latest entry of it
    in_left = np.zeros(max_entries, np.int32)
    for group in range(len(groups) - 1):
        first = groups[group]
        bounds_of_lists = offsets[first : groups[group + 1] + 1]
        _number_ngrams(prefixes, bounds_of_lists, max_order, keys, numbers, latest, ngrams, counts, starts)
        last = -1
        for pair in range(bounds[group], bounds[group + 1]):
            if left[pair] != last:
                if last >= 0:
                    _forget(in_left, ngrams, starts, (last - first) * max_order, max_order)
                last = left[pair]
                for i in range(starts[(last - first) * max_order], starts[(last - first + 1) * max_order]):
                    in_left[ngrams[i]] = counts[i]
            for order in range(max_order):
                row = (right[pair] - first) * max_order + order
                total = np.int32(0)
                for i in range(starts[row], starts[row + 1]):
                    total += min(in_left[ngrams[i]], counts[i])
                shared[pair, order] = total
                if total == 0:
                    break
        if last >= 0:
            _forget(in_left, ngrams, starts, (last - first) * max_order, max_order)
    return shared


@kernel
def _number_ngrams(
    prefixes: Ids,
    offsets: Ints,
    max_order: int,
    keys: Ids,
    numbers: Int32s,
    latest: Ints,
    ngrams: Int32s,
    counts: Counts,
    starts: Ints,
) -> None:
    """Number the n-grams of a group, and count those of each list, whose entries begin at `starts` for each order."""
    bits = _bits(max_order * (offsets[-1] - offsets[0]))
    keys[: 1 << bits] = EMPTY_SLOT
    distinct, entries, row = 0, 0, 0
    for index in range(len(offsets) - 1):
        power = np.uint64(1)
        for order in range(1, max_order + 1):
            power *= _BASE
            starts[row] = entries
            for k in range(offsets[index], offsets[index + 1] - order + 1):
                key = _key(prefixes, k, order, power)
                slot = _slot(keys, key, bits)
                if keys[slot] == EMPTY_SLOT:
                    keys[slot], numbers[slot] = key, distinct
                    latest[distinct] = -1
                    distinct += 1
                number = numbers[slot]
                if latest[number] < starts[row]:
                    ngrams[entries], counts[entries] = number, 0
                    latest[number] = entries
                    entries += 1
                counts[latest[number]] += 1
            row += 1
    starts[row] = entries


@kernel
def _forget(in_left: Int32s, ngrams: Int32s, starts: Ints, row: int, rows: int) -> None:
    """Set the counts of the n-grams of a list to 0."""
    for i in range(starts[row], starts[row + rows]):
        in_left[ngrams[i]] = 0


@kernel(inline="always")
def _key(prefixes: Ids, k: Int, order: Int, power: np.uint64) -> np.uint64:
    """Hash of the n-gram that starts at entry k; `power` is the base to the power of the order."""
    return np.uint64(prefixes[k + order] - prefixes[k] * power + np.uint64(order))


@kernel(inline="always")
def _slot(keys: Ids, key: np.uint64, bits: Int) -> Int:
    """Slot of a key in a table of 2^bits slots, or the free slot to insert it."""
    slot = np.int64((key * _SPREAD) >> np.uint64(64 - bits))
    while keys[slot] != EMPTY_SLOT and keys[slot] != key:
        slot = (slot + 1) & ((1 << bits) - 1)
    return slot


@kernel
def _bits(entries: Int) -> int:
    """Binary logarithm of the size of a hash table: a power of two, at least twice the entries."""
    bits = 1
    while 1 << bits < 2 * entries:
        bits += 1
    return bits
