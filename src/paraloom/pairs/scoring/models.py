"""Scores that need a model: each function here takes the model and returns its scorers, for `score`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from paraloom.core.protocols import EncoderLike
from paraloom.pairs.scoring.scorer import Column, PairBatch, Scorer, Side, Values, for_side

if TYPE_CHECKING:
    from paraloom.pairs.scoring.idf import DocumentFrequencies
    from paraloom.text.learned_metrics import Comet, MetricX

_SIDES: tuple[tuple[Side, str], ...] = (("src", "first side"), ("tgt", "second side"))

PARAPHRASE_SCORE = Column(
    name="paraphrase_score",
    description="cosine similarity of the two sides under a sentence encoder",
    direction="higher",
    minimum=-1,
    maximum=1,
    unit="cosine",
    reference="Wieting and Gimpel 2018, §3",
    option="--encoder ENCODER",
)
BILINGUAL_SIMILARITY = Column(
    name="bilingual_similarity",
    description="cosine similarity of a sentence and its translation under an encoder of both languages",
    direction="higher",
    minimum=-1,
    maximum=1,
    unit="cosine",
    option="--with bilingual --encoder ENCODER",
)
REFERENCE_PROBABILITY = Column(
    name="reference_probability",
    description="probability that the second side was written by a person rather than translated, by a classifier",
    direction="higher",
    maximum=1,
    unit="probability",
    reference="Wieting et al. 2017, §5.4",
    option="--classifier CLASSIFIER",
)
IDF = {
    side: Column(
        name=f"{side}_idf",
        description=f"mean inverse document frequency of the words of the {which}",
        unit="nats",
        reference="Wieting et al. 2017, Table 10",
        option="--word-counts COUNTS",
    )
    for side, which in _SIDES
}
PERPLEXITY = {
    side: Column(
        name=f"{side}_perplexity",
        description=f"perplexity of the {which} under an n-gram language model",
        direction="lower",
        minimum=1,
        unit="perplexity",
        reference="Wieting et al. 2017, §5.4",
        option="--language-model MODEL",
    )
    for side, which in _SIDES
}
CHARACTER_PERPLEXITY = {
    side: Column(
        name=f"{side}_character_perplexity",
        description=f"perplexity of the {which} per character under an n-gram model of characters",
        direction="lower",
        minimum=1,
        unit="perplexity",
        option="--language-model MODEL",
    )
    for side, which in _SIDES
}
LANGUAGE_PROBABILITY = {
    side: Column(
        name=f"{side}_language_probability",
        description=f"probability that the {which} is in the language given in {side}_lang",
        direction="higher",
        maximum=1,
        unit="probability",
        option="--languages LANGUAGES",
    )
    for side, which in _SIDES
}
_FORWARD, _REVERSE = "--translator TRANSLATOR", "--reverse-translator TRANSLATOR"

FORWARD_COST = Column(
    name="forward_cost",
    description="cost of the second side as a translation of the pivot",
    direction="lower",
    unit="nats per subword",
    reference="Wieting et al. 2017, §5.4",
    option=_FORWARD,
)
REFERENCE_COST = Column(
    name="reference_cost",
    description="cost of the first side as a translation of the pivot",
    direction="lower",
    unit="nats per subword",
    option=_FORWARD,
)
REVERSE_COST = Column(
    name="reverse_cost",
    description="cost of the pivot as a translation of the second side",
    direction="lower",
    unit="nats per subword",
    option=_REVERSE,
)
REVERSE_COST_GAP = Column(
    name="reverse_cost_gap",
    description="how much more the pivot costs as a translation of the second side than of the first",
    direction="lower",
    minimum=None,
    unit="nats per subword",
    option=_REVERSE,
)
ROUND_TRIP_CHRF = Column(
    name="round_trip_chrf",
    description="chrF of the second side, translated back, against the pivot",
    direction="higher",
    maximum=100,
    unit="chrF",
    option=_REVERSE,
)
REVERSE_OUT_OF_DEPTH = Column(
    name="reverse_out_of_depth",
    description="share of the reverse translator's development text that costs less than translating the second side",
    direction="lower",
    maximum=1,
    unit="share",
    option=_REVERSE,
)
AGREEMENT = Column(
    name="agreement",
    description="mean chrF of the second side against samples of translations of the pivot",
    direction="higher",
    maximum=100,
    unit="chrF",
    reference="Eikema and Aziz 2020, §7",
    option=f"--with agreement {_FORWARD}",
)
DUAL_CROSS_ENTROPY = Column(
    name="dual_cross_entropy",
    description="mean of forward and reverse cost plus their difference",
    direction="lower",
    unit="nats per subword",
    reference="Junczys-Dowmunt 2018, §4",
    option=f"{_FORWARD} {_REVERSE}",
)

TRANSLATION_COLUMNS = (
    *(FORWARD_COST, REFERENCE_COST, REVERSE_COST, REVERSE_COST_GAP),
    *(ROUND_TRIP_CHRF, REVERSE_OUT_OF_DEPTH, AGREEMENT, DUAL_CROSS_ENTROPY),
)
"""Columns of `paraloom.pairs.scoring.translation`, in the order in which reports show them."""
P_PARAPHRASE = Column(
    name="p_paraphrase",
    description="probability that the two sides mean the same, by logistic regression over the other scores",
    direction="higher",
    maximum=1,
    unit="probability",
    option="--paraphrase-model MODEL",
)

JUDGE = Column(
    name="judge",
    description="probability that both sides say the same, by a judge that reads both at once",
    direction="higher",
    maximum=1,
    unit="probability",
)
JUDGE_FORWARD = Column(
    name="judge_forward",
    description="probability that the first side says all that the second says, by the judge",
    direction="higher",
    maximum=1,
    unit="probability",
    option="--with judge",
)
JUDGE_BACKWARD = Column(
    name="judge_backward",
    description="probability that the second side says all that the first says, by the judge",
    direction="higher",
    maximum=1,
    unit="probability",
    option="--with judge",
)

COMET = Column(
    name="comet",
    description="quality of the second side as a translation of the first, by a COMET model",
    direction="higher",
    minimum=None,
    unit="about 0 to 1",
    reference="Rei et al. 2020",
    option="--with comet:FOLDER",
)
METRICX = Column(
    name="metricx",
    description="errors of the second side as a translation of the first, by a MetricX-24 model",
    direction="lower",
    maximum=25,
    unit="errors",
    reference="Juraska et al. 2024",
    option="--with metricx:FOLDER",
)
METRICS = {"comet": COMET, "metricx": METRICX}
"""Columns of learned metrics of translation, by the name before the folder."""

MODEL_GROUPS: dict[str, tuple[Column, ...]] = {
    "bilingual": (BILINGUAL_SIMILARITY,),
    "judge": (JUDGE, JUDGE_FORWARD, JUDGE_BACKWARD),
}
"""Groups of scores that need a model, by name."""

MODEL_COLUMNS: tuple[Column, ...] = (
    PARAPHRASE_SCORE,
    BILINGUAL_SIMILARITY,
    REFERENCE_PROBABILITY,
    *IDF.values(),
    *PERPLEXITY.values(),
    *CHARACTER_PERPLEXITY.values(),
    *LANGUAGE_PROBABILITY.values(),
    *TRANSLATION_COLUMNS,
    *MODEL_GROUPS["judge"],
    *METRICS.values(),
    P_PARAPHRASE,
)
"""All columns that need a model, in the order in which reports show them."""


class PerplexityModel(Protocol):
    """A language model, such as `paraloom.pairs.scoring.language_model.NgramModel`."""

    @property
    def units(self) -> str:
        """Unit of perplexity: 'words' or 'characters'."""

    @property
    def signature(self) -> str:
        """The model, for the metadata of the columns."""

    def perplexity(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Perplexity of each of n sentences, float32 `(n,)`, 1 or more; NaN where it is undefined."""


class ReferenceClassifier(Protocol):
    """A classifier of sentences, such as `paraloom.papers.w17.classifier.Classifier`."""

    @property
    def signature(self) -> str:
        """The model, for the metadata of the column."""

    def reference_probability(self, sentences: list[str]) -> npt.NDArray[np.float32]:
        """Probability that each of n sentences is a reference, float32 `(n,)`; NaN where it is undefined."""


class LanguageClassifier(Protocol):
    """A language identifier, such as `paraloom.text.languages.LanguageIdentifier`."""

    @property
    def signature(self) -> str:
        """The identifier and its languages, for the metadata of the columns."""

    def probabilities(self, texts: list[str], languages: list[str]) -> npt.NDArray[np.float32]:
        """Probability that text i is in `languages[i]`, float32 `(n,)`; NaN for an unknown language."""


class MeaningJudge(Protocol):
    """A judge of meaning, such as `paraloom.pairs.scoring.judge.Judge`."""

    @property
    def signature(self) -> str:
        """The model, for the metadata of the columns."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the outputs: 'same', and 'forward' and 'backward' where it tells them apart."""

    def probabilities(self, firsts: list[str], seconds: list[str]) -> npt.NDArray[np.float32]:
        """Probability of each output for n ordered pairs, float32 `(n, outputs)`; NaN where a text is empty."""


def without_bilingual(names: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Split what is asked of an encoder off names of scores."""
    others = tuple(name for name in names if name not in ("bilingual", BILINGUAL_SIMILARITY.name))
    return others, len(others) < len(names)


def encoder_scorers(encoder: EncoderLike, *, bilingual: bool = False) -> tuple[Scorer, ...]:
    """Make the scorer of `paraphrase_score`, or of `bilingual_similarity`.

    Reference:
        Wieting and Gimpel 2018 (PNMT), §3.
    """

    def cosine(pairs: PairBatch) -> Values:
        vectors = [encoder.encode(pairs.texts(side)) for side, _ in _SIDES]
        norms = np.linalg.norm(vectors[0], axis=1) * np.linalg.norm(vectors[1], axis=1)
        products = np.einsum("nd,nd->n", *vectors)
        empty = (pairs.src.lengths == 0) | (pairs.tgt.lengths == 0)
        return np.where((norms > 0) & ~empty, products / np.where(norms > 0, norms, 1), np.nan).astype(np.float32)

    column = BILINGUAL_SIMILARITY if bilingual else PARAPHRASE_SCORE
    return (_scorer(column, cosine, model=encoder.signature),)


def idf_scorers(frequencies: DocumentFrequencies) -> tuple[Scorer, ...]:
    """Make the scorers of `src_idf` and `tgt_idf`.

    Reference:
        Wieting, Mallinson, Gimpel 2017 (W17), Table 10.
    """
    return tuple(
        _scorer(
            IDF[side],
            for_side(lambda pairs, side: frequencies.mean_idf(pairs.texts(side)), side),
            (side,),
            model=frequencies.signature,
        )
        for side, _ in _SIDES
    )


def perplexity_scorers(model: PerplexityModel) -> tuple[Scorer, ...]:
    """Make the scorers of `src_perplexity` and `tgt_perplexity`; for a model of characters, `src_character_perplexity`.

    Reference:
        Wieting, Mallinson, Gimpel 2017 (W17), §5.4.
    """
    columns = CHARACTER_PERPLEXITY if model.units == "characters" else PERPLEXITY
    return tuple(
        _scorer(
            columns[side],
            for_side(lambda pairs, side: model.perplexity(pairs.texts(side)), side),
            (side,),
            model=model.signature,
        )
        for side, _ in _SIDES
    )


def classifier_scorers(classifier: ReferenceClassifier) -> tuple[Scorer, ...]:
    """Make the scorer of `reference_probability`.

    Reference:
        Wieting, Mallinson, Gimpel 2017 (W17), §5.4.
    """
    return (
        _scorer(
            REFERENCE_PROBABILITY,
            lambda pairs: classifier.reference_probability(pairs.texts("tgt")),
            ("tgt",),
            model=classifier.signature,
        ),
    )


def judge_scorers(judge: MeaningJudge) -> tuple[Scorer, ...]:
    """Make the scorers of `judge` and, if the judge has them, `judge_forward` and `judge_backward`."""

    def value(label: str) -> Callable[[PairBatch], Values]:
        index = judge.labels.index(label)

        def compute(pairs: PairBatch) -> Values:
            judged = pairs.once("judge", lambda: judge.probabilities(pairs.texts("src"), pairs.texts("tgt")))
            return judged[:, index]

        return compute

    columns = ((JUDGE, "same"), (JUDGE_FORWARD, "forward"), (JUDGE_BACKWARD, "backward"))
    return tuple(
        _scorer(column, value(label), model=judge.signature) for column, label in columns if label in judge.labels
    )


def metric_scorers(name: str, metric: Comet | MetricX) -> tuple[Scorer, ...]:
    """Make the scorer of `comet` or `metricx`; a model with references gets the pivot as source, `src` as reference."""
    sides = ("pivot", "tgt", "src") if metric.needs_reference else ("src", "tgt")
    compute = lambda pairs: metric.predict(*map(pairs.texts, sides))  # noqa: E731
    return (_scorer(METRICS[name], compute, sides, model=metric.signature),)


def language_scorers(identifier: LanguageClassifier) -> tuple[Scorer, ...]:
    """Make the scorers of `src_language_probability` and `tgt_language_probability`."""
    return tuple(
        _scorer(
            LANGUAGE_PROBABILITY[side],
            for_side(
                lambda pairs, side: identifier.probabilities(pairs.texts(side), pairs.texts(f"{side}_lang")), side
            ),
            (side, f"{side}_lang"),
            model=identifier.signature,
        )
        for side, _ in _SIDES
    )


def _scorer(column: Column, compute: object, input_columns: tuple[str, ...] = ("src", "tgt"), *, model: str) -> Scorer:
    description = {field.name: getattr(column, field.name) for field in fields(Column)}
    # The signature of the model has separators of its own; here it is one part.
    parameters = (("model", model.replace("|", "/")),)
    return Scorer(**description, compute=compute, input_columns=input_columns, parameters=parameters)  # type: ignore[arg-type]
