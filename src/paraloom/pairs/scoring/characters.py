"""How alike two texts are letter by letter: chrF (Popović 2015), edit distance; and what repeats itself on the spot."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring import character_kernels
from paraloom.text.characters import white_table
from paraloom.text.chrf import Points, chrf_from_points
from paraloom.text.tokens import Texts, code_points

REPEAT_LENGTHS = (3, 100)
REPEAT_THRESHOLD = 2


def chrf(translations: Texts, references: Texts) -> npt.NDArray[np.float32]:
    """chrF2 of each translation against its reference, 0 (nothing in common) to 100 (the same); higher is more alike.

    Returns float32 (n,); NaN where a side has no visible character.  Character n-grams up to 6, recall counted twice
    as much as precision, white space and case as sacreBLEU's default has them: the same figure.

    >>> chrf(["the cat"], ["the cats"]).round(2)
    array([77.57], dtype=float32)
    """
    return chrf_from_points(code_points(translations), code_points(references))


def edit_distance(a: Texts, b: Texts) -> npt.NDArray[np.float32]:
    """Levenshtein distance in characters over the longer side's length: 0 (the same) to 1 (nothing kept).

    Returns float32 (n,); NaN where a side is empty.  By rapidfuzz.

    >>> edit_distance(["kitten"], ["sitting"]).round(3)
    array([0.429], dtype=float32)
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    first, second = _strings(a), _strings(b)
    if not first:
        return np.empty(0, np.float32)
    distances = np.asarray(cpdist(first, second, scorer=Levenshtein.normalized_distance, dtype=np.float32))
    # Only where one side is empty is the distance 1 for want of letters, and 0 where both are.
    for row in np.flatnonzero((distances == 1) | (distances == 0)):
        if not first[row] or not second[row]:
            distances[row] = np.nan
    return distances


def repeats(points: Points) -> npt.NDArray[np.int32]:
    """How often a stretch of 3 to 100 characters comes again at once, when that is twice or more: int32 (n,), else 0.

    The figure of OpusFilter's RepetitionFilter at its default threshold; decoders that are stuck say "the the the".

    >>> repeats(code_points(["we go and go and go and stop", "we go and go"])).tolist()
    [2, 0]
    """
    return character_kernels.repeats(*points, white_table(), *REPEAT_LENGTHS, REPEAT_THRESHOLD)


def white_words(points: Points) -> npt.NDArray[np.int32]:
    """Words as white space cuts them, punctuation stuck to them: what OpusFilter counts.  int32 (n,).

    >>> white_words(code_points(["Well, I never!", ""])).tolist()
    [3, 0]
    """
    return character_kernels.white_words(*points, white_table())


def _strings(texts: Texts) -> list[str]:
    values = texts if isinstance(texts, list) else texts.to_pylist()  # type: ignore[union-attr]
    return values if None not in values else [value or "" for value in values]
