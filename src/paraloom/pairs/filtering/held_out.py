"""Texts of test sets, remembered as hashes, so that none of them ends up in training data."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.text import token_kernels as kernels
from paraloom.text.buffers import Texts, text_buffers
from paraloom.text.normalize import lowercase, normalize
from paraloom.text.tokens import token_hash

_EMPTY = np.uint64(0)


class HeldOut:
    """A set of texts at eight bytes each; case, punctuation and runs of white space do not matter."""

    def __init__(self, texts: Iterable[Texts]) -> None:
        hashes = [_hashes(column) for column in texts]
        known = np.concatenate(hashes) if hashes else np.empty(0, np.uint64)
        self._hashes = np.unique(known[known != _EMPTY])

    def __len__(self) -> int:
        return len(self._hashes)

    def contains(self, texts: Texts) -> npt.NDArray[np.bool_]:
        """Look up texts in the set."""
        hashes = _hashes(texts)
        if not len(self._hashes):
            return np.zeros(len(hashes), np.bool_)
        positions = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        contained: npt.NDArray[np.bool_] = self._hashes[positions] == hashes
        return contained


def comparable(texts: Texts) -> pa.Array:
    """Texts as they are compared: in lower case, without punctuation, words separated by single blanks."""
    return lowercase(without_punctuation(texts))


def without_punctuation(texts: Texts) -> pa.Array:
    """Texts in which punctuation, symbols and white space between words are replaced by single blanks."""
    words = pc.replace_substring_regex(normalize(texts), pattern=r"[\pP\pS\s]+", replacement=" ")
    return pc.utf8_trim(words, characters=" ")


def _hashes(texts: Texts) -> npt.NDArray[np.uint64]:
    """A hash of each text: uint64 (n,); 0 for a text without words."""
    data, offsets = text_buffers(comparable(texts))
    hashes: npt.NDArray[np.uint64] = kernels.hash_spans(data, offsets[:-1], offsets[1:])
    return np.where(np.diff(offsets) > 0, np.where(hashes == _EMPTY, 1, hashes), _EMPTY).astype(np.uint64)


def is_held_out(text: str, share: float) -> bool:
    """True if a text is among the share of all texts that is held out, by its hash alone."""
    return token_hash(text) < share * 2.0**64
