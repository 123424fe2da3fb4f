"""Trains unigram models of subwords with SentencePiece."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from paraloom.core.errors import DataError


def train_unigrams(lines: Iterable[str], size: int, seed: int, **settings: int | str | Sequence[str]) -> bytes:
    """Train a unigram model; the same lines give the same bytes (Kudo 2018, "Subword Regularization")."""
    import sentencepiece

    sentencepiece.set_random_generator_seed(seed)
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=1.0,
            bos_id=-1,
            pad_id=-1,
            input_sentence_size=500_000,
            shuffle_input_sentence=True,  # a random sample of a larger corpus
            num_threads=1,  # more threads would sum in another order
            minloglevel=2,
            **settings,
        )
    except (RuntimeError, OSError) as error:
        raise DataError(
            f"a subword model cannot be trained: {error}", remedy="Give more or longer sentences."
        ) from None
    return model.getvalue()
