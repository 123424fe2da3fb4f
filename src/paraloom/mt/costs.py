"""Costs of translations in nats per token: their distribution on development text, and warnings about other text."""

from __future__ import annotations

import json
import math
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ModelError
from paraloom.core.protocols import Variant
from paraloom.io.atomic import write_text

COSTS_FILE = "costs.json"  # File of a translator folder with the distribution of its costs on development text

COST_DECODING = "beam:5"
"""The decoding of the development text. What samples cost depends on how they are drawn: of text that is translated by
sampling, `COST_SAMPLE` sentences are translated like this, too, to compare like with like."""

COST_SAMPLE = 200
"""Sentences that are translated with `COST_DECODING` to compare their costs, where that is done beforehand."""

MIN_SENTENCES = 50
"""Of a text with fewer sentences the median says little: it is compared only where chance cannot explain it."""

TINY_CALL = 10  # Calls of a translator with fewer sentences are not compared by themselves

FALSE_ALARMS = 0.001
"""Probability that any of the small calls of a translator, however many, is called unlike its development text by
chance."""

HIGH_SHARE = 0.8  # A text is unlike the development text if its median cost is above this quantile of the costs there
LOW_SHARE = 0.05  # Costs below this quantile of those of the development text are near 0
PERCENTILES = (5, 10, 25, 50, 75, 90, 95)  # Percentiles that costs.json and the model card show
BIN_WIDTH = 0.05  # Width of a bin, in nats per token
_BINS = 201  # the last one has all costs of 10 nats and more


@dataclass
class CostDistribution:
    """Costs (−logprob / tokens) of the best translations of a text, as a histogram: of constant size, and mergeable."""

    # Sentences in each bin of `BIN_WIDTH` nats per token from 0, int64 `(201,)`; the last bin has no end.
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(_BINS, np.int64))

    @classmethod
    def of(cls, variants: Iterable[Variant]) -> CostDistribution:
        costs = cls()
        costs.add(variants)
        return costs

    def add(self, variants: Iterable[Variant]) -> None:
        """Count the costs of the best translations of some sentences."""
        known = [variant for variant in variants if variant.tokens and not math.isnan(variant.logprob)]
        costs = np.array([-variant.logprob / variant.tokens for variant in known], np.float64)
        bins = np.clip(np.floor(costs / BIN_WIDTH), 0, _BINS - 1).astype(np.int64)
        self.counts += np.bincount(bins, minlength=_BINS)

    def merge(self, other: CostDistribution) -> None:
        """Add the sentences of another distribution."""
        self.counts += other.counts

    @property
    def sentences(self) -> int:
        return int(self.counts.sum())

    @property
    def median(self) -> float:
        """The median, in nats per token."""
        return self.quantile(0.5)

    def quantile(self, share: float) -> float:
        """A quantile, interpolated within its bin."""
        below = np.concatenate([[0], np.cumsum(self.counts)])
        if not below[-1]:
            return float("nan")
        edges = np.arange(_BINS + 1) * BIN_WIDTH
        target = share * below[-1]
        index = min(int(np.searchsorted(below, target, side="left")), _BINS) or int(np.flatnonzero(self.counts)[0]) + 1
        inside = (target - below[index - 1]) / self.counts[index - 1]
        return float(edges[index - 1] + inside * BIN_WIDTH)

    def ranks(self, costs: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Share of the sentences that cost less than each of n costs, float32 `(n,)`; NaN where a cost is."""
        values = np.asarray(costs, np.float64)
        below = np.concatenate([[0], np.cumsum(self.counts)]) / max(1, self.sentences)
        ranks = np.interp(values, np.arange(_BINS + 1) * BIN_WIDTH, below)
        return np.where(np.isnan(values), np.nan, ranks).astype(np.float32)

    def percentiles(self) -> dict[str, float]:
        return {str(percent): round(self.quantile(percent / 100), 3) for percent in PERCENTILES}

    def format(self) -> str:
        """The `PERCENTILES` as text, for model cards."""
        return ", ".join(f"{percent} %: {cost:.2f}" for percent, cost in self.percentiles().items())

    def to_dict(self) -> dict[str, Any]:
        """Sentences, percentiles and counts (without the empty bins at the end), for JSON."""
        filled = np.flatnonzero(self.counts)
        counts = self.counts[: filled[-1] + 1].tolist() if len(filled) else []
        return {
            "sentences": self.sentences,
            "percentiles": self.percentiles() if counts else {},
            "bin_width": BIN_WIDTH,
            "counts": counts,
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, object]) -> CostDistribution:
        """Read what `to_dict` returned; KeyError, TypeError or ValueError if it is something else."""
        counts = np.zeros(_BINS, np.int64)
        values = np.array(saved["counts"], np.int64)
        if saved["bin_width"] != BIN_WIDTH or values.ndim != 1 or (values < 0).any():
            raise ValueError("not a histogram of costs")
        counts[: len(values)] = values
        return cls(counts)


def write_costs(folder: Path, costs: CostDistribution, text: str, languages: str = "") -> None:
    """Write the costs into a translator folder: of one pair of languages, such as `de-en`, where it has many."""
    saved = {"text": text, "decode": COST_DECODING, **costs.to_dict()}
    write_text(_costs_file(folder, languages), json.dumps(saved, ensure_ascii=False) + "\n")


def _costs_file(folder: Path, languages: str) -> Path:
    return folder / (f"costs.{languages}.json" if languages else COSTS_FILE)


def read_costs(folder: Path, languages: str = "") -> CostDistribution | None:
    """The costs of a translator on its development text, of a pair if it has them; None if it has none."""
    of_pair = _costs_file(folder, languages)
    path = of_pair if of_pair.is_file() else folder / COSTS_FILE
    if not path.is_file():
        return None
    try:
        return CostDistribution.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError):
        raise ModelError(
            "not a distribution of costs",
            file=path,
            remedy="Write it again: paraloom evaluate translator MODEL PAIRS --save-costs.",
        ) from None


def cost_warning(costs: CostDistribution, reference: CostDistribution, remedy: str = "", *, chance: float = 0.0) -> str:
    """A warning about a text whose costs are unlike those of the development text; '' if they are not.

    More than half of its sentences cost more than `HIGH_SHARE` of it, or three in four less than 5 %; of fewer than
    `MIN_SENTENCES`, so many that the probability of this is below `chance`.
    """
    if reference.sentences < MIN_SENTENCES or not costs.sentences:
        return ""
    high, low = costs.median > reference.quantile(HIGH_SHARE), costs.quantile(0.75) < reference.quantile(LOW_SHARE)
    if costs.sentences < MIN_SENTENCES:
        first = math.ceil(reference.quantile(HIGH_SHARE) / BIN_WIDTH)
        last = math.floor(reference.quantile(LOW_SHARE) / BIN_WIDTH)
        high = high and _tail(costs.sentences, int(costs.counts[first:].sum()), 1 - HIGH_SHARE) < chance
        low = low and _tail(costs.sentences, int(costs.counts[:last].sum()), LOW_SHARE) < chance
    compared = (
        f"median cost {costs.median:.2f} nats per token over {costs.sentences:,} sentences, "
        f"{reference.median:.2f} on the translator's development text"
    )
    if high:
        return f"{compared}: expect wrong translations; {remedy or 'use a translator that was trained on such text'}"
    if low:
        return (
            f"{compared}, near 0 everywhere: the translator knows this text by heart, because it was trained on it "
            "or wrote it; the translations will be copies of what it knows"
        )
    return ""


def _tail(n: int, threshold: int, share: float) -> float:
    """Probability of `threshold` or more of n independent events, each of a probability."""
    return sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(threshold, n + 1))


class CostMonitor:
    """Compares each call of a translator with its development text, tiny calls together, and warns once."""

    def __init__(self, reference: CostDistribution, remedy: str = "") -> None:
        self.reference, self.remedy = reference, remedy
        self.warned = False
        self.sampled = 0
        """Sentences of small calls that were translated with `COST_DECODING` to compare them."""
        self._tiny = CostDistribution()
        self._small_calls = 0
        self._lock = threading.Lock()

    def sample_size(self, sentences: int) -> int:
        """How many sentences of a call that samples to translate with `COST_DECODING`; none once it has warned."""
        if self.warned:
            return 0
        if sentences >= MIN_SENTENCES:
            return COST_SAMPLE
        size = min(sentences, COST_SAMPLE - self.sampled)
        self.sampled += size
        return size

    def add(self, groups: Iterable[Sequence[Variant]]) -> None:
        """Count the best variant of each sentence, and warn if the text is unlike the development text."""
        call = CostDistribution.of(variants[0] for variants in groups if variants)
        with self._lock:
            if call.sentences < TINY_CALL:
                self._tiny.merge(call)
                if self._tiny.sentences < MIN_SENTENCES:
                    return
                call, self._tiny = self._tiny, CostDistribution()
            if call.sentences < MIN_SENTENCES:
                self._small_calls += 1
            # 1/(1·2) + 1/(2·3) + … = 1, whatever the number of calls.
            chance = FALSE_ALARMS / (self._small_calls * (self._small_calls + 1) or 1)
            message = "" if self.warned else cost_warning(call, self.reference, self.remedy, chance=chance)
            self.warned = self.warned or bool(message)
        if message:
            warnings.warn(message, stacklevel=3)
