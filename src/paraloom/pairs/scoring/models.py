"""Scores that a model gives: each function here receives the model and returns the scorers for `score`.

Whoever composes them (a stage, a recipe) brings the model: this room loads no encoder and no translator.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Protocol

import numpy as np
import numpy.typing as npt

from paraloom.core.protocols import EncoderLike
from paraloom.pairs.scoring.rarity import WordRarity
from paraloom.pairs.scoring.scorer import Column, Scorer, Values, of_side
from paraloom.pairs.scoring.statistics import PairStatistics, Side

_SIDES: tuple[tuple[Side, str], ...] = (("src", "first side"), ("tgt", "second side"))

PARAPHRASE_SCORE = Column(
    name="paraphrase_score",
    what="cosine of the two sides under an encoder (PNMT §3)",
    better="higher",
    low=-1,
    high=1,
    unit="cosine",
)
REFERENCE_PROBABILITY = Column(
    name="reference_probability",
    what="p(reference) of the second side: how much it reads like a person's sentence (W17 §5.4)",
    better="higher",
    high=1,
    unit="probability",
)
IDF = {
    side: Column(name=f"{side}_idf", what=f"mean inverse document frequency of the words of the {which}", unit="nats")
    for side, which in _SIDES
}
PERPLEXITY = {
    side: Column(
        name=f"{side}_perplexity",
        what=f"perplexity of the {which} under an n-gram language model (W17 §5.4)",
        better="lower",
        low=1,
        unit="per word",
    )
    for side, which in _SIDES
}
LANGUAGE_PROBABILITY = {
    side: Column(
        name=f"{side}_language_probability",
        what=f"probability that the {which} is in the language that it is said to be in",
        better="higher",
        high=1,
        unit="probability",
    )
    for side, which in _SIDES
}

MODEL_COLUMNS: tuple[Column, ...] = (
    PARAPHRASE_SCORE,
    REFERENCE_PROBABILITY,
    *IDF.values(),
    *PERPLEXITY.values(),
    *LANGUAGE_PROBABILITY.values(),
)
"""Every column that a model makes, in the order in which reports show them."""


class SentenceModel(Protocol):
    """One number for each sentence: a language model's perplexity, a classifier's probability."""

    @property
    def signature(self) -> str:
        """The model and how it was made, for field metadata."""

    def measure(self, sentences: list[str]) -> npt.NDArray[np.float32]:
        """float32 (n,); NaN where a sentence has no such figure."""


class LanguageModelOfLanguages(Protocol):
    """How likely each sentence is to be in the language that it is said to be in."""

    @property
    def signature(self) -> str:
        """The identifier and its languages, for field metadata."""

    def measure_languages(self, sentences: list[str], languages: list[str]) -> npt.NDArray[np.float32]:
        """Probabilities, float32 (n,); NaN for a language that is not known."""


def by_encoder(encoder: EncoderLike) -> tuple[Scorer, ...]:
    """`paraphrase_score` under an encoder."""

    def cosine(pairs: PairStatistics) -> Values:
        vectors = [encoder.encode(_texts(pairs, side)) for side, _ in _SIDES]
        norms = np.linalg.norm(vectors[0], axis=1) * np.linalg.norm(vectors[1], axis=1)
        products = np.einsum("nd,nd->n", *vectors)
        empty = (pairs.src.lengths == 0) | (pairs.tgt.lengths == 0)
        return np.where((norms > 0) & ~empty, products / np.where(norms > 0, norms, 1), np.nan).astype(np.float32)

    return (_scorer(PARAPHRASE_SCORE, cosine, model=encoder.signature),)


def by_rarity(rarity: WordRarity) -> tuple[Scorer, ...]:
    """`src_idf` and `tgt_idf` by a table of document frequencies."""
    return tuple(
        _scorer(
            IDF[side],
            of_side(lambda pairs, side: rarity.mean_idf(pairs.lists(side)), side),
            (side,),
            model=rarity.signature,
        )
        for side, _ in _SIDES
    )


def by_language_model(model: SentenceModel) -> tuple[Scorer, ...]:
    """`src_perplexity` and `tgt_perplexity` under one language model."""
    return tuple(
        _scorer(
            PERPLEXITY[side],
            of_side(lambda pairs, side: model.measure(_texts(pairs, side)), side),
            (side,),
            model=model.signature,
        )
        for side, _ in _SIDES
    )


def by_classifier(classifier: SentenceModel) -> tuple[Scorer, ...]:
    """`reference_probability` of the second side by a reference-or-translation classifier."""
    return (
        _scorer(
            REFERENCE_PROBABILITY,
            lambda pairs: classifier.measure(_texts(pairs, "tgt")),
            ("tgt",),
            model=classifier.signature,
        ),
    )


def by_languages(identifier: LanguageModelOfLanguages) -> tuple[Scorer, ...]:
    """`src_language_probability` and `tgt_language_probability`, of the languages in src_lang and tgt_lang."""
    return tuple(
        _scorer(
            LANGUAGE_PROBABILITY[side],
            of_side(
                lambda pairs, side: identifier.measure_languages(_texts(pairs, side), _texts(pairs, f"{side}_lang")),
                side,
            ),
            (side, f"{side}_lang"),
            model=identifier.signature,
        )
        for side, _ in _SIDES
    )


def _scorer(column: Column, function: object, input_columns: tuple[str, ...] = ("src", "tgt"), *, model: str) -> Scorer:
    described = {field.name: getattr(column, field.name) for field in fields(Column)}
    # A model's signature has bars of its own; in ours it is one part.
    made = (("model", model.replace("|", "/")),)
    return Scorer(**described, function=function, input_columns=input_columns, made=made)  # type: ignore[arg-type]


def _texts(pairs: PairStatistics, column: str) -> list[str]:
    return [value or "" for value in pairs.batch.column(column).to_pylist()]
