"""How often an encoder finds the right paraphrase among N sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import digest, signature
from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator

# Rounding may part the cosines of two equal vectors by some 1e-7; what is nearer than this is a tie.
_TIE = 1e-6


@dataclass(frozen=True)
class Choice:
    """accuracy: share of anchors whose own paraphrase came first, 0 to 1.  anchors: how many were asked."""

    accuracy: float
    anchors: int
    signature: str


def choose_among(
    encoder: EncoderLike,
    a: Sequence[str],
    b: Sequence[str],
    n: int = 100,
    seed: int = 1,
    similarity: Literal["cosine", "dot"] = "cosine",
) -> Choice:
    """Ask for each sentence of `a` which of `n` sentences is its paraphrase: its own in `b`, or n − 1 drawn others.

    The others are drawn without repetition from the distinct texts of `b`, the anchor's own left out; the same seed
    draws the same.  The nearest by cosine (or dot product) is the answer, and a tie is an error, so that an encoder
    that says the same of everything scores 0.  Chance is 1/n.
    Raises DataError where the counts differ or `b` has fewer than n distinct sentences.

    >>> choose_among(encoder, anchors, paraphrases).accuracy    # doctest: +SKIP
    """
    if len(a) != len(b):
        raise DataError(f"{len(a)} anchors stand against {len(b)} paraphrases")
    distinct = {text: position for position, text in enumerate(dict.fromkeys(b))}
    if n < 2 or len(distinct) < n:
        raise DataError(
            f"cannot choose among {n}: there are {len(distinct)} distinct paraphrases",
            remedy="Give more pairs, or an n from 2 to that number.",
        )
    anchors, paraphrases = encoder.encode(a), encoder.encode(list(distinct))
    if similarity == "cosine":
        anchors, paraphrases = _unit(anchors), _unit(paraphrases)
    draw = generator(seed)
    right = 0
    for anchor, text in zip(anchors, b, strict=True):
        own = distinct[text]
        others = draw.choice(len(distinct) - 1, n - 1, replace=False)
        others += others >= own
        right += bool(paraphrases[own] @ anchor > (paraphrases[others] @ anchor).max() + _TIE)
    how = signature("choose-among", n=n, by=similarity, ties="error", seed=seed, encoder=digest(encoder.signature)[:12])
    return Choice(right / len(a), len(a), how)


def _unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, np.where(norms > 0, norms, 1), dtype=np.float32)
