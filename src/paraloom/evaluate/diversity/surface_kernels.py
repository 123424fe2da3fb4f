"""Words between white space, with their lengths and folded spellings, over code points."""

from __future__ import annotations

import numpy as np

from paraloom.core.array_types import Bools, Ids, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import PRIME, START, Points, mix

Numbers = Int32s


@kernel
def spaced_words(points: Points, offsets: Ints, white: Bools) -> tuple[Ids, Ids, Numbers, Ints]:
    capacity = (offsets[-1] - offsets[0]) // 2 + len(offsets)  # a word has a character, and white space after it
    ids, folded = np.empty(capacity, np.uint64), np.empty(capacity, np.uint64)
    characters = np.empty(capacity, np.int32)
    counts = np.zeros(len(offsets) - 1, np.int64)
    count = 0
    for text in range(len(counts)):
        word, plain, size, left = START, START, 0, False
        for i in range(offsets[text], offsets[text + 1] + 1):
            if i == offsets[text + 1] or white[points[i]]:
                if size:
                    ids[count], folded[count], characters[count] = mix(word), mix(plain) if left else np.uint64(0), size
                    count += 1
                    counts[text] += 1
                    word, plain, size, left = START, START, 0, False
                continue
            point = np.int64(points[i])
            word = (word ^ np.uint64(point)) * PRIME
            size += 1
            lower = point + 32 if 65 <= point <= 90 else point
            if not (33 <= lower <= 126) or 48 <= lower <= 57 or 97 <= lower <= 122:
                plain = (plain ^ np.uint64(lower)) * PRIME
                left = True
    return ids[:count].copy(), folded[:count].copy(), characters[:count].copy(), counts
