"""Sub-words for averaging: a SentencePiece model learned from the training's own sentences (Wieting et al. 2021)."""

from __future__ import annotations

import io
from collections.abc import Iterable
from functools import cached_property
from itertools import chain

import numpy as np
import pyarrow.compute as pc
import sentencepiece

from paraloom.core.errors import DataError, ModelError
from paraloom.embed.vocabulary import Rows, Vocabulary
from paraloom.text.buffers import Texts
from paraloom.text.normalize import lowercase, normalize

UNIT = "subword"
MARK = "▁"
"""What SentencePiece writes for a space."""


class SubwordVocabulary(Vocabulary):
    """The pieces of a SentencePiece model, piece i in row i; unknown characters are a piece of their own.

    Texts are normalised and lower-cased first, as for words.  model: the bytes of the model's file.
    """

    def __init__(self, model: bytes) -> None:
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        except (RuntimeError, OSError) as error:
            raise ModelError(f"this is not a SentencePiece model: {error}") from None
        self.model = model
        super().__init__(UNIT, [self._processor.id_to_piece(i) for i in range(self._processor.get_piece_size())])

    @cached_property
    def identity(self) -> bytes:
        """What decides how texts are cut: the model itself."""
        return self.model

    @property
    def scores(self) -> list[float]:
        """Log-probability of each piece."""
        return [self._processor.get_score(i) for i in range(len(self))]

    def lists(self, texts: Texts) -> Rows:
        """The rows of each text's pieces."""
        found: list[list[int]] = self._processor.encode(plain(texts), out_type=int)
        offsets = np.zeros(len(found) + 1, np.int64)
        np.cumsum([len(each) for each in found], out=offsets[1:])
        return Rows(np.fromiter(chain.from_iterable(found), np.int32, offsets[-1]), offsets)


def plain(texts: Texts) -> list[str]:
    """Normalised, lower-cased, and without the mark that stands for a space: what is learned from, and cut."""
    unmarked = pc.replace_substring(normalize(texts), pattern=MARK, replacement=" ")
    found: list[str] = lowercase(normalize(unmarked)).to_pylist()
    return found


def learn_subwords(lines: Iterable[str], size: int, seed: int = 1) -> bytes:
    """Learn a unigram model of at most `size` pieces (Kudo 2018) from `plain` lines; the bytes of its file.

    The same lines give the same bytes.  Raises DataError where there is nothing to learn from.
    """
    sentencepiece.set_random_generator_seed(seed)
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=1.0,
            normalization_rule_name="identity",
            unk_id=0,
            bos_id=-1,
            eos_id=-1,
            pad_id=-1,
            input_sentence_size=500_000,
            shuffle_input_sentence=True,  # of a larger corpus a fair sample, by the seed
            num_threads=1,  # more threads would sum in another order
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        raise DataError(f"sub-words cannot be learned: {error}", remedy="Give more or longer sentences.") from None
    return model.getvalue()
