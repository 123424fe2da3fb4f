"""Words as white space cuts them, with their lengths and two spellings, compiled by numba over code points.

Import it inside functions only.  Texts come as core.text.code_points gives them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.text.token_kernels import PRIME, START, Ids, Ints, Points, mix

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]


@njit(cache=True, nogil=True)
def spaced_words(points: Points, offsets: Ints, white: Flags) -> tuple[Ids, Ids, Numbers, Ints]:
    """Words of all texts: ids, ids of what is folded (0 where nothing is left), characters; then words of each text.

    Folded: without ASCII punctuation, ASCII capitals made small.  The first three (words,), the last (n,).
    """
    room = (offsets[-1] - offsets[0]) // 2 + len(offsets)  # words have a character or more and stand apart
    ids, folded, characters = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.int32)
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
            small = point + 32 if 65 <= point <= 90 else point
            if not (33 <= small <= 126) or 48 <= small <= 57 or 97 <= small <= 122:
                plain = (plain ^ np.uint64(small)) * PRIME
                left = True
    return ids[:count].copy(), folded[:count].copy(), characters[:count].copy(), counts
