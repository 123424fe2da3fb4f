"""Scores that need a model: each function here takes the model and returns its scorers, for `score`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from paraloom.core.array_types import Float32s
from paraloom.core.protocols import EncoderLike
from paraloom.pairs.scoring.scorer import SIDES, Column, PairBatch, Scorer, Side, Values, side_columns

if TYPE_CHECKING:
    from paraloom.pairs.scoring.idf import DocumentFrequencies
    from paraloom.pairs.scoring.language_model import NgramModel
    from paraloom.text.languages import LanguageIdentifier
    from paraloom.text.learned_metrics import Comet, MetricX

_FORWARD, _REVERSE = "--translator TRANSLATOR", "--reverse-translator TRANSLATOR"
_W17 = "Wieting et al. 2017, §5.4"

_probability = partial(Column, direction="higher", maximum=1, unit="probability")
_cost = partial(Column, direction="lower", unit="nats per subword")
_similarity = partial(Column, direction="higher", minimum=-1, maximum=1, unit="cosine")
_side_perplexity = partial(
    side_columns, direction="lower", minimum=1, unit="perplexity", option="--language-model MODEL"
)

PARAPHRASE_SCORE = _similarity(
    "paraphrase_score",
    "cosine similarity of the two sides under a sentence encoder",
    reference="Wieting and Gimpel 2018, §3",
    option="--encoder ENCODER",
)
BILINGUAL_SIMILARITY = _similarity(
    "bilingual_similarity",
    "cosine similarity of a sentence and its translation under an encoder of both languages",
    option="--with bilingual --encoder ENCODER",
)
REFERENCE_PROBABILITY = _probability(
    "reference_probability",
    "probability that the second side was written by a person rather than translated, by a classifier",
    reference=_W17,
    option="--classifier CLASSIFIER",
)
IDF = side_columns(
    "idf",
    "mean inverse document frequency of the words of the {}",
    unit="nats",
    reference="Wieting et al. 2017, Table 10",
    option="--word-counts COUNTS",
)
PERPLEXITY = _side_perplexity("perplexity", "perplexity of the {} under an n-gram language model", reference=_W17)
CHARACTER_PERPLEXITY = _side_perplexity(
    "character_perplexity", "perplexity of the {} per character under an n-gram model of characters"
)
LANGUAGE_PROBABILITY = side_columns(
    "language_probability",
    "probability that the {0} is in the language given in {1}_lang",
    direction="higher",
    maximum=1,
    unit="probability",
    option="--languages LANGUAGES",
)
FORWARD_COST = _cost(
    "forward_cost", "cost of the second side as a translation of the pivot", reference=_W17, option=_FORWARD
)
REFERENCE_COST = _cost("reference_cost", "cost of the first side as a translation of the pivot", option=_FORWARD)
REVERSE_COST = _cost("reverse_cost", "cost of the pivot as a translation of the second side", option=_REVERSE)
REVERSE_COST_GAP = _cost(
    "reverse_cost_gap",
    "how much more the pivot costs as a translation of the second side than of the first",
    minimum=None,
    option=_REVERSE,
)
ROUND_TRIP_CHRF = Column(
    "round_trip_chrf",
    "chrF of the second side, translated back, against the pivot",
    direction="higher",
    maximum=100,
    unit="chrF",
    option=_REVERSE,
)
REVERSE_OUT_OF_DEPTH = Column(
    "reverse_out_of_depth",
    "share of the reverse translator's development text that costs less than translating the second side",
    direction="lower",
    maximum=1,
    unit="share",
    option=_REVERSE,
)
AGREEMENT = Column(
    "agreement",
    "mean chrF of the second side against samples of translations of the pivot",
    direction="higher",
    maximum=100,
    unit="chrF",
    reference="Eikema and Aziz 2020, §7",
    option=f"--with agreement {_FORWARD}",
)
DUAL_CROSS_ENTROPY = _cost(
    "dual_cross_entropy",
    "mean of forward and reverse cost plus their difference",
    reference="Junczys-Dowmunt 2018, §4",
    option=f"{_FORWARD} {_REVERSE}",
)

TRANSLATION_COLUMNS = (
    *(FORWARD_COST, REFERENCE_COST, REVERSE_COST, REVERSE_COST_GAP),
    *(ROUND_TRIP_CHRF, REVERSE_OUT_OF_DEPTH, AGREEMENT, DUAL_CROSS_ENTROPY),
)
"""Columns of `paraloom.pairs.scoring.translation`, in the order in which reports show them."""
P_PARAPHRASE = _probability(
    "p_paraphrase",
    "probability that the two sides mean the same, by logistic regression over the other scores",
    option="--paraphrase-model MODEL",
)
JUDGE = _probability("judge", "probability that both sides say the same, by a judge that reads both at once")
JUDGE_FORWARD = _probability(
    "judge_forward",
    "probability that the first side says all that the second says, by the judge",
    option="--with judge",
)
JUDGE_BACKWARD = _probability(
    "judge_backward",
    "probability that the second side says all that the first says, by the judge",
    option="--with judge",
)
COMET = Column(
    "comet",
    "quality of the second side as a translation of the first, by a COMET model",
    direction="higher",
    minimum=None,
    unit="about 0 to 1",
    reference="Rei et al. 2020",
    option="--with comet:FOLDER",
)
METRICX = Column(
    "metricx",
    "errors of the second side as a translation of the first, by a MetricX-24 model",
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


class Signed(Protocol):
    """A model that says what it is."""

    @property
    def signature(self) -> str:
        """The model, for the metadata of the columns."""


class ReferenceClassifier(Signed, Protocol):
    """A classifier of sentences, such as `paraloom.papers.w17.classifier.Classifier`."""

    def reference_probability(self, sentences: list[str]) -> Float32s:
        """Probability that each of n sentences is a reference, float32 `(n,)`; NaN where it is undefined."""


class MeaningJudge(Signed, Protocol):
    """A judge of meaning, such as `paraloom.pairs.scoring.judge.Judge`."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the outputs: 'same', and 'forward' and 'backward' where it tells them apart."""

    def probabilities(self, firsts: list[str], seconds: list[str]) -> Float32s:
        """Probability of each output for n ordered pairs, float32 `(n, outputs)`; NaN where a text is empty."""


def without_bilingual(names: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Split what is asked of an encoder off names of scores."""
    others = tuple(name for name in names if name not in ("bilingual", BILINGUAL_SIMILARITY.name))
    return others, len(others) < len(names)


def encoder_scorers(encoder: EncoderLike, *, bilingual: bool = False) -> tuple[Scorer, ...]:
    def cosine(pairs: PairBatch) -> Values:
        vectors = [encoder.encode(pairs.texts(side)) for side, _ in SIDES]
        norms = np.linalg.norm(vectors[0], axis=1) * np.linalg.norm(vectors[1], axis=1)
        products = np.einsum("nd,nd->n", *vectors)
        empty = (pairs.src.lengths == 0) | (pairs.tgt.lengths == 0)
        return np.where((norms > 0) & ~empty, products / np.where(norms > 0, norms, 1), np.nan).astype(np.float32)

    return ((BILINGUAL_SIMILARITY if bilingual else PARAPHRASE_SCORE).computed(cosine, encoder.signature),)


def idf_scorers(frequencies: DocumentFrequencies) -> tuple[Scorer, ...]:
    return _of_sides(IDF, lambda pairs, side: frequencies.mean_idf(pairs.texts(side)), frequencies.signature)


def perplexity_scorers(model: NgramModel) -> tuple[Scorer, ...]:
    """Make the scorers of perplexity, or of the perplexity of characters, of both sides."""
    columns = CHARACTER_PERPLEXITY if model.units == "characters" else PERPLEXITY
    return _of_sides(columns, lambda pairs, side: model.perplexity(pairs.texts(side)), model.signature)


def classifier_scorers(classifier: ReferenceClassifier) -> tuple[Scorer, ...]:
    compute = lambda pairs: classifier.reference_probability(pairs.texts("tgt"))  # noqa: E731
    return (REFERENCE_PROBABILITY.computed(compute, classifier.signature, input_columns=("tgt",)),)


def judge_scorers(judge: MeaningJudge) -> tuple[Scorer, ...]:
    """Make the scorers of `judge` and, if the judge has them, `judge_forward` and `judge_backward`."""

    def probability(pairs: PairBatch, label: str) -> Values:
        judged = pairs.once("judge", lambda: judge.probabilities(pairs.texts("src"), pairs.texts("tgt")))
        return judged[:, judge.labels.index(label)]

    columns = ((JUDGE, "same"), (JUDGE_FORWARD, "forward"), (JUDGE_BACKWARD, "backward"))
    return tuple(
        column.computed(partial(probability, label=label), judge.signature)
        for column, label in columns
        if label in judge.labels
    )


def metric_scorers(name: str, metric: Comet | MetricX) -> tuple[Scorer, ...]:
    """Make the scorer of `comet` or `metricx`; a model with references gets the pivot as source, `src` as reference."""
    sides = ("pivot", "tgt", "src") if metric.needs_reference else ("src", "tgt")
    compute = lambda pairs: metric.predict(*map(pairs.texts, sides))  # noqa: E731
    return (METRICS[name].computed(compute, metric.signature, input_columns=sides),)


def language_scorers(identifier: LanguageIdentifier) -> tuple[Scorer, ...]:
    compute = lambda pairs, side: identifier.probabilities(pairs.texts(side), pairs.texts(f"{side}_lang"))  # noqa: E731
    return _of_sides(LANGUAGE_PROBABILITY, compute, identifier.signature, "{}", "{}_lang")


def _of_sides(
    columns: Mapping[Side, Column], compute: Callable[..., Values], model: str, *reads: str
) -> tuple[Scorer, ...]:
    """The scorers of both sides, which read the columns of their side."""
    return tuple(
        column.computed(
            partial(compute, side=side), model, input_columns=tuple(name.format(side) for name in reads or ("{}",))
        )
        for side, column in columns.items()
    )


def split_metrics(names: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Path]]:
    """Split `comet:FOLDER` and `metricx:FOLDER` off names of scores."""
    folders = {
        name: Path(folder).expanduser().absolute()
        for name, colon, folder in (one.partition(":") for one in names)
        if colon and name in METRICS
    }
    return tuple(name for name in names if name.partition(":")[0] not in folders), folders
