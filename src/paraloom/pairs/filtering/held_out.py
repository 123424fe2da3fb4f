"""Which texts stand in a test set: hashes of what is held out, so that nothing of it is trained on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from paraloom.pairs.filtering.cleaning import comparable
from paraloom.text import token_kernels as kernels
from paraloom.text.tokens import Texts, text_buffers

IN_HELD_OUT = "in a held-out corpus"
"""The reason for which such a text goes."""


class HeldOut:
    """Remembers texts, eight bytes each; case, punctuation and runs of blanks do not count, and empty ones are none.

    >>> HeldOut([["A dog sleeps."]]).holds(["a dog sleeps", "a dog", ""]).tolist()
    [True, False, False]
    """

    def __init__(self, texts: Iterable[Texts]) -> None:
        """texts: columns of texts, one after the other; read once."""
        parts = [_hashes(part) for part in texts]
        self._hashes = np.unique(np.concatenate([part[part != _EMPTY] for part in parts])) if parts else _NONE

    def __len__(self) -> int:
        return len(self._hashes)

    def holds(self, texts: Texts) -> npt.NDArray[np.bool_]:
        """Whether each text is among those held out: bool (n,)."""
        own = _hashes(texts)
        if not len(self._hashes):
            return np.zeros(len(own), np.bool_)
        places = np.minimum(np.searchsorted(self._hashes, own), len(self._hashes) - 1)
        return self._hashes[places] == own


_NONE = np.empty(0, np.uint64)
_EMPTY = np.uint64(0)


def _hashes(texts: Texts) -> npt.NDArray[np.uint64]:
    """A hash of each text: uint64 (n,); 0 of one without words."""
    data, offsets = text_buffers(comparable(texts))
    found: npt.NDArray[np.uint64] = kernels.hash_spans(data, offsets[:-1], offsets[1:])
    return np.where(np.diff(offsets) > 0, np.where(found == _EMPTY, 1, found), _EMPTY).astype(np.uint64)
