"""What a sentence is cut into for averaging: words, or character trigrams; a new kind is one line in UNITS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.text.buffers import Texts
from paraloom.text.ngrams import character_ngrams
from paraloom.text.normalize import lowercase
from paraloom.text.tokens import TokenLists, token_strings, tokenize

_N = 3


@dataclass(frozen=True)
class Unit:
    """cut: sentences to their units' ids, `core.text.token_hash` of each.

    spell: of some sentences, the unit at one position each, as people read it.
    """

    cut: Callable[[Texts], TokenLists]
    spell: Callable[[Texts, npt.NDArray[np.int64]], list[str]]


def _cut_trigrams(texts: Texts) -> TokenLists:
    return character_ngrams(texts, _N)


def _spell_words(texts: Texts, positions: npt.NDArray[np.int64]) -> list[str]:
    lists = token_strings(texts)
    offsets = lists.offsets.to_numpy()
    return lists.values.take(pa.array(offsets[:-1] + positions)).to_pylist()


def _spell_trigrams(texts: Texts, positions: npt.NDArray[np.int64]) -> list[str]:
    bounded: Sequence[str] = lowercase(texts).to_pylist()
    return [f" {text} "[at : at + _N] for text, at in zip(bounded, positions.tolist(), strict=True)]


UNITS: dict[str, Unit] = {
    "word": Unit(tokenize, _spell_words),
    "trigram": Unit(_cut_trigrams, _spell_trigrams),
}
"""By the name that a spec uses: PNMT's WORD and TRIGRAM (§4.1), lower-cased, marks of punctuation kept."""
