"""Subword units: a SentencePiece model that is learned from the training sentences themselves."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import chain

import numpy as np
import pyarrow.compute as pc

from paraloom.core.errors import ModelError
from paraloom.core.lazy import late
from paraloom.embed.vocabulary import RowLists, Vocabulary
from paraloom.text.buffers import Texts
from paraloom.text.normalize import lowercase, normalize

_train_unigrams = late("paraloom.text.unigrams:train_unigrams")

UNIT = "subword"
SPACE = "▁"  # The character that SentencePiece writes for a space


class SubwordVocabulary(Vocabulary):
    """The pieces of a SentencePiece model, piece i in row i, of texts in lower case (Wieting et al. 2021)."""

    def __init__(self, model: bytes) -> None:
        import sentencepiece

        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        except (RuntimeError, OSError) as error:
            raise ModelError(f"not a SentencePiece model: {error}") from None
        self.model = model
        super().__init__(UNIT, [self._processor.id_to_piece(i) for i in range(self._processor.get_piece_size())])

    @cached_property
    def identity(self) -> bytes:
        """The model: it determines how texts are split and numbered."""
        return self.model

    @property
    def scores(self) -> list[float]:
        return [self._processor.get_score(i) for i in range(len(self))]

    def row_lists(self, texts: Texts) -> RowLists:
        pieces: list[list[int]] = self._processor.encode(normalize_for_subwords(texts), out_type=int)
        offsets = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum([len(ids) for ids in pieces], out=offsets[1:])
        return RowLists(np.fromiter(chain.from_iterable(pieces), np.int32, offsets[-1]), offsets)


def normalize_for_subwords(texts: Texts) -> list[str]:
    """Normalize and lower-case texts and replace the character `▁`: the form that models are trained on and split."""
    without_mark = pc.replace_substring(normalize(texts), pattern=SPACE, replacement=" ")
    lines: list[str] = lowercase(normalize(without_mark)).to_pylist()
    return lines


def train_subwords(lines: Iterable[str], size: int, seed: int = 1) -> bytes:
    return bytes(_train_unigrams(lines, size, seed, normalization_rule_name="identity", unk_id=0, eos_id=-1))
