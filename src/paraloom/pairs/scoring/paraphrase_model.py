"""The probability that a pair is a paraphrase: logistic regression over other scores, in a readable file."""

from __future__ import annotations

import json
import warnings
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from paraloom.core.array_types import Bools, Floats
from paraloom.core.config import Config, check_range
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.core.lazy import late
from paraloom.pairs.scoring.models import (
    MODEL_GROUPS,
    P_PARAPHRASE,
    REVERSE_COST,
    REVERSE_OUT_OF_DEPTH,
    TRANSLATION_COLUMNS,
    judge_scorers,
)
from paraloom.pairs.scoring.scorer import PairBatch, Scorer, Values
from paraloom.pairs.scoring.surface import SURFACE

FILE = "paraphrase_model.json"
FORMAT = 2


SIMILARITIES = frozenset(["unigram_overlap", "bigram_overlap", "trigram_overlap", "bleu1", "chrf"])
"""Scores that are higher the more alike both sides are."""

CHANGES = ("src_content_missing", "tgt_content_missing", "order_inversions")
"""Scores that are 0 together where both sides have the same content words in the same order."""

DIFFERENCES = frozenset(["edit_distance", "order_inversions", "src_content_missing", "tgt_content_missing"])
"""Scores that are lower the more alike both sides are."""


LOG_ODDS = frozenset(column.name for column in MODEL_GROUPS["judge"])
"""Scores that are probabilities of the same kind: a regression reads their log-odds."""

COSTS = frozenset([*(column.name for column in TRANSLATION_COLUMNS), "translation_cost"])
"""Scores that only pairs have that a translator made or read."""

IN_DEPTH = 0.85
"""A reverse translator knows a text that costs it less than this share of its development text costs at most."""

# A probability of 0 or 1 would have infinite log-odds.
_NEVER = 1e-4

# Values beyond these percentiles of the training pairs count as these percentiles: one odd value decides nothing.
_CLIP = (0.5, 99.5)

_BOUNDS = {0: (None, None), 1: (0.0, None), -1: (None, 0.0)}

# Scores of smaller weights are left out: they would only have to be computed.
_MIN_WEIGHT = 0.01


@dataclass(frozen=True)
class Feature:
    """A score, or its log-odds, in a regression: weight · (value − center) / scale, value within [low, high]."""

    name: str
    weight: float
    center: float
    scale: float
    low: float
    high: float


@dataclass(frozen=True)
class LogisticModel:
    features: tuple[Feature, ...]
    intercept: float

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    def probability(self, scores: Mapping[str, npt.ArrayLike]) -> Floats:
        from scipy.special import expit

        logits: Floats = np.asarray(self.intercept, np.float64)
        for feature in self.features:
            values = feature_values(feature.name, scores[feature.name])
            values = np.where(np.isnan(values), feature.center, np.clip(values, feature.low, feature.high))
            logits = logits + feature.weight * (values - feature.center) / feature.scale
        return cast(Floats, expit(logits))


def feature_values(name: str, values: npt.ArrayLike) -> Floats:
    """The values of a score as a regression reads them."""
    given = np.asarray(values, np.float64)
    if name not in LOG_ODDS:
        return given
    clipped = np.clip(given, _NEVER, 1 - _NEVER)
    return cast(Floats, np.log(clipped / (1 - clipped)))


@dataclass(frozen=True)
class Preset:
    """A filter: a threshold of `p_paraphrase`, in a condition that leaves out near copies, too."""

    threshold: float
    where: str


@dataclass(frozen=True)
class ParaphraseModel:
    """Regressions over fewer and fewer scores; the first one counts that has all it needs. Presets, and a card."""

    models: tuple[LogisticModel, ...]
    presets: Mapping[str, Preset]
    card: Mapping[str, Any]
    digest: str = ""

    def find(self, columns: Sequence[str]) -> LogisticModel:
        """The first regression all of whose scores are among the columns."""
        for model in self.models:
            if set(model.names) <= set(columns):
                return model
        missing = [name for name in self.models[-1].names if name not in columns]
        raise ConfigError(
            f"p_paraphrase needs the score{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            remedy=f"Add {'them' if len(missing) > 1 else 'it'} with "
            f"`paraloom score PAIRS --with {','.join(missing)} -o SCORED`.",
        )

    def save(self, folder: Path) -> None:
        """Write the model as JSON into a folder, which is created if needed."""
        folder.mkdir(parents=True, exist_ok=True)
        content = {
            "format": FORMAT,
            "card": dict(self.card),
            "presets": {name: asdict(preset) for name, preset in self.presets.items()},
            "models": [asdict(model) for model in self.models],
        }
        (folder / FILE).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> ParaphraseModel:
        path = Path(folder) / FILE
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ModelError(
                f"no paraphrase model: {FILE} not found",
                file=folder,
                remedy="Give the name of a bundled one, or train one with `paraloom train paraphrase-model`.",
            ) from None
        except (OSError, ValueError) as error:
            raise ModelError(f"the paraphrase model cannot be read: {error}", file=path) from None
        try:
            if content["format"] > FORMAT:
                raise ModelError("written by a newer version of Paraloom", file=path, remedy="Update Paraloom.")
            models = tuple(
                LogisticModel(tuple(Feature(**feature) for feature in model["features"]), float(model["intercept"]))
                for model in content["models"]
            )
            presets = {
                # Format 1 had the threshold in the condition only, and a second condition.
                name: Preset(preset.get("threshold") or float(preset["where"].split()[2]), preset["where"])
                for name, preset in content["presets"].items()
            }
            return cls(models, presets, dict(content["card"]), file_digest(path))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"the paraphrase model is damaged: {error!r}", file=path) from None


def paraphrase_scorers(model: ParaphraseModel) -> tuple[Scorer, ...]:
    """Make the scorer of `p_paraphrase`.

    Scores that need no model, and the judge's, are computed where the pairs lack them. Each pair is scored by the first
    regression whose scores of models, such as the costs of translators, it has; the cost of a reverse translator that
    does not know such text does not count.
    """

    surface = {scorer.name: scorer for scorer in SURFACE}
    needed = {name for part in model.models for name in part.names}
    if needed & LOG_ODDS:
        surface |= {scorer.name: scorer for scorer in judge_scorers(_bundled_judge())}
    of_text = {name for name, scorer in surface.items() if "logprob" not in scorer.input_columns}

    def values(pairs: PairBatch, name: str) -> npt.ArrayLike:
        scorer = surface.get(name)
        if name in pairs.batch.schema.names or scorer is None:
            given = pairs.numbers(name)
            known = name == REVERSE_COST.name and REVERSE_OUT_OF_DEPTH.name in pairs.batch.schema.names
            return within_depth(given, pairs.numbers(REVERSE_OUT_OF_DEPTH.name)) if known else given
        return pairs.once(f"score {name}", lambda: scorer.compute(pairs))

    def compute(pairs: PairBatch) -> Values:
        columns = pairs.batch.schema.names
        computable = [name for name, scorer in surface.items() if set(scorer.input_columns) <= set(columns)]
        model.find([*columns, *computable])  # raises an error if no regression can be used
        usable = [part for part in model.models if set(part.names) <= {*columns, *computable}]
        names = {name for part in usable for name in part.names}
        scores = {name: np.asarray(values(pairs, name), np.float64) for name in names}
        probabilities = row_probabilities(usable, scores, optional=of_text)
        # Without text, all scores would be undefined, and count as those of an average pair.
        return np.where(_has_text(pairs, "src") & _has_text(pairs, "tgt"), probabilities, np.nan).astype(np.float32)

    return (P_PARAPHRASE.computed(compute, signature("logistic", digest=model.digest or "none")),)


_bundled_judge = late("paraloom.pairs.scoring.judge:bundled_judge")


def within_depth(reverse_costs: Floats, out_of_depth: Floats) -> Floats:
    """The costs of a reverse translator, NaN where it does not know such text."""
    return np.where(out_of_depth > IN_DEPTH, np.nan, reverse_costs)


def _has_text(pairs: PairBatch, column: str) -> Bools:
    texts = pc.utf8_trim_whitespace(pc.fill_null(pairs.batch.column(column), ""))
    return np.asarray(pc.greater(pc.utf8_length(texts), 0).to_numpy(zero_copy_only=False), bool)


@dataclass(frozen=True, kw_only=True)
class ParaphraseModelConfig(Config):
    """Configuration of the training of a paraphrase model.

    Args:
        features: The scores of the first regression.
        fallbacks: Scores of further regressions, in this order, for pairs that lack a score of those before, such as
            those of a translator.
        l2: Weight of the squared weights, relative to that of one pair.
        strict, balanced, loose: Share of right pairs among the kept ones that the threshold of each preset aims at, on
            the training pairs without near copies.
        max_chrf: Pairs whose chrF is higher are near copies, which every preset rejects; so are, if the scores are
            given, pairs with the same content words in the same order.

    Raises:
        ConfigError: A value is out of range, or a regression has no scores.

    Example:
        >>> ParaphraseModelConfig(features=["bleu1", "paraphrase_score"], fallbacks=[["bleu1"]]).l2
        1.0
    """

    features: tuple[str, ...]
    fallbacks: tuple[tuple[str, ...], ...] = ()
    l2: float = 1.0
    strict: float = 0.9
    balanced: float = 0.85
    loose: float = 0.7
    max_chrf: float = 90.0

    PRESETS: ClassVar[tuple[str, ...]] = ("strict", "balanced", "loose")

    @property
    def scores(self) -> tuple[str, ...]:
        """All scores that a regression reads, and those that near copies are recognized by."""
        return tuple(dict.fromkeys((*self.features, *chain.from_iterable(self.fallbacks), "chrf", *CHANGES)))

    def validate(self) -> None:
        if not self.features:
            raise ConfigError("'features' is empty", remedy="Name at least one score.")
        if not all(self.fallbacks):
            raise ConfigError("an entry of 'fallbacks' is empty", remedy="Name at least one score in each.")
        check_range(self, "l2", low=0)
        check_range(self, *self.PRESETS, low=0.5, below=1)


def _truth(labels: npt.ArrayLike) -> Floats:
    """The labels as 1 and 0, which must both occur."""
    try:
        truth = np.asarray(labels, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"expected the labels 1 (right) and 0 (wrong), got {np.asarray(labels).dtype}") from None
    unknown = np.flatnonzero(~np.isin(truth, (0, 1)))
    if len(unknown):
        raise DataError(f"label {truth[unknown[0]]:g} is neither 1 (right) nor 0 (wrong)", row=int(unknown[0]) + 1)
    if len(set(truth.tolist())) < 2:
        only = "right" if truth.any() else "wrong"
        raise DataError(
            f"all {len(truth):,} pairs are labeled as {only}",
            remedy="Give sets with both classes: look-alikes of right pairs are wrong ones "
            "(`paraloom evaluate lookalikes PAIRS -o FILE`).",
        )
    return truth


def train_paraphrase_model(
    scores: Mapping[str, npt.ArrayLike],
    labels: npt.ArrayLike,
    sets: Sequence[str] | npt.NDArray[np.object_],
    kinds: Sequence[str] | npt.NDArray[np.object_],
    config: ParaphraseModelConfig,
    *,
    signs: Mapping[str, int] | None = None,
    card: Mapping[str, Any] | None = None,
) -> ParaphraseModel:
    """Train a model on labeled pairs.

    Each set counts the same. Regressions that read costs of translators are fitted to the pairs as they are. Others are
    for pairs of any origin, of which half are taken to be right before any score is known: in each set right and wrong
    pairs count the same, and of the wrong pairs each kind.
    """
    truth = _truth(labels)
    balanced, natural = balanced_weights(truth, sets, kinds), set_weights(sets)
    columns = {name: np.asarray(scores[name], np.float64) for name in config.scores if name in scores}
    models = []
    for names in (config.features, *config.fallbacks):
        # Pairs that lack scores, such as look-alikes, which no translator made, say little about those that have them.
        rows = ~np.isnan([columns[name] for name in names]).any(axis=0)
        if len(set(truth[rows].tolist())) < 2:
            rows = np.ones(len(truth), bool)
        weights = natural if COSTS.intersection(names) else balanced
        known = {name: columns[name][rows] for name in names}
        models.append(fit_logistic(known, truth[rows], weights[rows], l2=config.l2, signs=signs))
    weights = natural if any(COSTS.intersection(model.names) for model in models) else balanced
    presets = _presets(models, columns, truth, weights, config)
    return ParaphraseModel(tuple(models), presets, dict(card or {}))


def set_weights(sets: Sequence[str] | npt.NDArray[np.object_]) -> Floats:
    """Weights of pairs by which sets count the same."""
    _, numbers, counts = np.unique(np.asarray(sets, object).astype(str), return_inverse=True, return_counts=True)
    return np.asarray(len(numbers) / (len(counts) * counts[numbers]), np.float64)


def balanced_weights(
    labels: npt.ArrayLike, sets: Sequence[str] | npt.NDArray[np.object_], kinds: Sequence[str] | npt.NDArray[np.object_]
) -> Floats:
    """Weights by which sets, right and wrong pairs of a set, and kinds of wrong pairs count the same."""
    truth, names, wrong = np.asarray(labels, np.float64), np.asarray(sets, object), np.asarray(kinds, object)
    weights = np.zeros(len(truth))
    for name in dict.fromkeys(names.tolist()):
        right = (names == name) & (truth == 1)
        weights[right] = 1 / max(1, int(right.sum()))
        rest = (names == name) & (truth == 0)
        of_set = sorted(set(wrong[rest].tolist()))
        for kind in of_set:
            rows = rest & (wrong == kind)
            weights[rows] = 1 / (len(of_set) * int(rows.sum()))
    normalized: Floats = weights * len(weights) / weights.sum()
    return normalized


def fit_logistic(
    scores: Mapping[str, Floats],
    labels: Floats,
    weights: Floats,
    *,
    l2: float = 1.0,
    signs: Mapping[str, int] | None = None,
) -> LogisticModel:
    """Fit a logistic regression by L-BFGS-B, to the least weighted cross-entropy plus ½ · l2 · ‖w‖²."""
    from scipy.optimize import minimize

    names = list(scores)
    low, high, center, scale = (np.zeros(len(names)) for _ in range(4))
    design = np.zeros((len(labels), len(names)))
    for column, name in enumerate(names):
        values = feature_values(name, scores[name])
        known = ~np.isnan(values)
        if not known.any():
            raise DataError(
                f"score '{name}' is undefined for all pairs", remedy="Add the column to the pairs, or leave it out."
            )
        low[column], high[column] = np.percentile(values[known], _CLIP)
        clipped = np.clip(values, low[column], high[column])
        center[column] = np.average(clipped[known], weights=weights[known])
        scale[column] = clipped[known].std() or 1.0
        design[:, column] = np.where(known, (clipped - center[column]) / scale[column], 0.0)
    solution = minimize(
        logistic_loss, np.zeros(len(names) + 1), (design, labels, weights, l2), jac=True, method="L-BFGS-B",
        bounds=[_BOUNDS[(signs or {}).get(name, 0)] for name in [*names, ""]],
        options={"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-8},
    )  # fmt: skip
    figures = zip(names, solution.x[:-1], center, scale, low, high, strict=True)
    features = tuple(
        Feature(name, *(_rounded(value) for value in values))
        for name, *values in figures
        if abs(values[0]) >= _MIN_WEIGHT
    )
    if not features:
        raise DataError(
            f"none of the scores {', '.join(names)} separates right pairs from wrong ones",
            remedy="Add other scores to 'features', or to this entry of 'fallbacks'.",
        )
    return LogisticModel(features, _rounded(solution.x[-1]))


def logistic_loss(
    parameters: Floats, design: Floats, labels: Floats, weights: Floats, l2: float
) -> tuple[float, Floats]:
    """Weighted cross-entropy of a logistic regression with an L2 penalty, and its gradient."""
    from scipy.special import expit

    logits = design @ parameters[:-1] + parameters[-1]
    loss = float(weights @ (np.logaddexp(0, logits) - labels * logits) + l2 / 2 * parameters[:-1] @ parameters[:-1])
    residual = weights * (expit(logits) - labels)
    return loss, np.append(design.T @ residual + l2 * parameters[:-1], residual.sum())


def threshold_for(probabilities: Floats, labels: Floats, weights: Floats, aim: float) -> float:
    """The lowest threshold from which on the share of right pairs among those kept is at least `aim`."""
    for threshold in np.arange(0.05, 1.0, 0.01):
        kept = probabilities >= threshold
        if kept.any() and weights[kept] @ labels[kept] >= aim * weights[kept].sum():
            return float(round(threshold, 2))
    return 0.99


def row_probabilities(
    models: Sequence[LogisticModel], scores: Mapping[str, Floats], optional: Container[str] = ()
) -> Floats:
    """Probability of each pair by the first regression whose scores, but optional ones, it has; else by the last."""
    count = len(next(iter(scores.values())))
    probabilities, open_rows = np.full(count, np.nan), np.ones(count, bool)
    for model in models:
        rows = open_rows.copy()
        if model is not models[-1]:
            rows &= ~np.isnan([scores[name] for name in model.names if name not in optional]).any(axis=0)
        probabilities[rows] = model.probability({name: scores[name][rows] for name in model.names})
        open_rows &= ~rows
    return probabilities


def _presets(
    models: Sequence[LogisticModel],
    columns: Mapping[str, Floats],
    labels: Floats,
    weights: Floats,
    config: ParaphraseModelConfig,
) -> dict[str, Preset]:
    # The aims are about what a preset keeps, and near copies it does not.
    kept, conditions = np.ones(len(labels), bool), []
    if "chrf" in columns:
        kept &= columns["chrf"] <= config.max_chrf
        conditions.append(f"chrf <= {config.max_chrf:g}")
    if all(name in columns for name in CHANGES):
        kept &= np.fmax.reduce([columns[name] for name in CHANGES]) > 0
        conditions.append(f"greatest({', '.join(CHANGES)}) > 0")
    # The aims are about pairs with more scores than the last regression needs, if there are such pairs of both classes.
    known = [~np.isnan([columns[name] for name in model.names]).any(axis=0) for model in models[:-1]]
    if known and len(set(labels[complete := kept & np.any(known, axis=0)].tolist())) == 2:
        kept = complete
    labels, weights = labels[kept], weights[kept]
    probabilities = row_probabilities(models, columns)[kept]
    presets = {}
    for name in config.PRESETS:
        aim = getattr(config, name)
        threshold = threshold_for(probabilities, labels, weights, aim)
        chosen = probabilities >= threshold
        if not chosen.any() or weights[chosen] @ labels[chosen] < aim * weights[chosen].sum():
            warnings.warn(
                f"preset '{name}': no threshold of p_paraphrase gives {aim:.0%} right pairs; {threshold:g} is taken",
                stacklevel=2,
            )
        presets[name] = Preset(threshold, " and ".join([f"p_paraphrase >= {threshold:g}", *conditions]))
    return presets


def _rounded(value: float) -> float:
    return float(f"{float(value):.6g}")
