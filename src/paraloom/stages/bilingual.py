"""The stage that trains an encoder of two or more languages on bitext."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from paraloom.core.errors import DataError
from paraloom.core.stage import Json, StageContext
from paraloom.embed.bilingual import BITEXT_SETTINGS, check_bitext, language_facts
from paraloom.io import Corpus
from paraloom.stages.encoders import TrainEncoder


@dataclass(frozen=True, kw_only=True)
class TrainBilingualEncoder(TrainEncoder):
    """Trains a sentence encoder of two or more languages on bitext: translations get similar vectors.

    As :class:`TrainEncoder`, with defaults for bitext: words and n-grams of all languages in one table, and
    cross-entropy over large mini-batches, whose other pairs, of whatever language, are the negatives. Before training,
    a warning says if the sides of a bitext are in one language or swapped.

    Args:
        pairs: Bitexts.

    For the other fields see :class:`TrainEncoder` and :class:`~paraloom.embed.config.EncoderConfig`.

    Raises:
        ConfigError: A setting is out of range.
        DataError: When it runs: a bitext has equal sides throughout, or no pair can be used.

    Example:
        >>> TrainBilingualEncoder(pairs=["de-en", "cs-en"]).spec
        'ngram'
    """

    spec: str = BITEXT_SETTINGS["spec"]
    dimension: int = BITEXT_SETTINGS["dimension"]
    loss: Literal["margin", "softmax"] = BITEXT_SETTINGS["loss"]
    temperature: float = BITEXT_SETTINGS["temperature"]
    softmax_margin: float = BITEXT_SETTINGS["softmax_margin"]
    batch_size: int = BITEXT_SETTINGS["batch_size"]
    learning_rate: float = BITEXT_SETTINGS["learning_rate"]
    relative_learning_rate: float = BITEXT_SETTINGS["relative_learning_rate"]
    epochs: int = BITEXT_SETTINGS["epochs"]
    max_tokens: int = BITEXT_SETTINGS["max_tokens"]

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Check the bitexts, then train and save the encoder; the figures have `bitexts`, one entry each."""
        checks: list[dict[str, Any]] = []
        for path in context.paths("pairs"):
            corpus = Corpus.open(path)
            columns = [name for name in ("src", "tgt", "src_lang", "tgt_lang") if name in corpus.schema.names]
            try:
                checks.append(check_bitext(_origin(corpus, path), corpus.batches(columns)))
            except DataError as error:
                raise error.at(file=_origin(corpus, path)) from None
        return {**self._train(folder, context, language_facts(checks)), "bitexts": checks}


def _origin(corpus: Corpus, path: Path) -> str:
    """What the pairs of a corpus say that they come from; else its folder."""
    if "origin" in corpus.schema.names:
        for batch in corpus.batches(["origin", "src_lang", "tgt_lang"]):
            if batch.num_rows:
                origin, src_lang, tgt_lang = (column[0].as_py() for column in batch.columns)
                return origin if origin.endswith(f"{src_lang}-{tgt_lang}") else f"{origin}.{src_lang}-{tgt_lang}"
    return str(path)
