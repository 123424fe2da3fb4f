"""How many pairs a threshold of a probability keeps, and how many of them are probably right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.api.model_references import model_path
from paraloom.bundled import PARAPHRASE_MODEL
from paraloom.core.results import ResultRecord
from paraloom.pairs.filtering.expressions import condition, evaluate

_STEPS = 100


@dataclass(frozen=True)
class Yield(ResultRecord):
    """The pairs that a condition keeps."""

    name: str
    where: str
    rows: int
    share: float
    precision: float


@dataclass(frozen=True)
class Yields(ResultRecord):
    """Yield and estimated precision of thresholds and presets."""

    by: str  # The score that is a probability
    thresholds: tuple[Yield, ...]  # From the highest threshold that keeps a pair to the lowest
    presets: tuple[Yield, ...]  # The presets whose columns the pairs have, strict first


@dataclass
class _Sum:
    """Pairs that meet a condition, and the sum of their probabilities."""

    rows: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(_STEPS))
    total: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(_STEPS))

    def add(self, values: npt.NDArray[np.float64]) -> None:
        """Count probabilities by their hundredth."""
        steps = np.clip(np.floor(values * _STEPS), 0, _STEPS - 1).astype(int)
        self.rows += np.bincount(steps, minlength=_STEPS)
        self.total += np.bincount(steps, values, minlength=_STEPS)


def presets_for(columns: Sequence[str]) -> Mapping[str, str]:
    """Presets of `paraloom filter` whose scores are among the columns → their conditions, strict first."""
    from paraloom.pairs.scoring.paraphrase_model import ParaphraseModel

    folder = model_path(PARAPHRASE_MODEL)
    presets = ParaphraseModel.load(folder).presets
    return {
        name: preset.where for name, preset in presets.items() if set(condition(preset.where).columns) <= set(columns)
    }


def yields(batches: Iterable[pa.RecordBatch], by: str, columns: Sequence[str]) -> Yields | None:
    """What thresholds of a probability and the presets keep of pairs; None where no pair has a probability."""
    presets = presets_for(columns)
    sums = {name: _Sum() for name in ("", *presets)}
    read = 0
    for batch in batches:
        values = batch.column(by).cast(pa.float64()).to_numpy(zero_copy_only=False)
        defined = np.isfinite(values)
        read += len(values)
        sums[""].add(values[defined])
        for name, where in presets.items():
            met = reduce(pc.and_, evaluate(condition(where), batch)).fill_null(False)
            sums[name].add(values[defined & met.to_numpy(zero_copy_only=False)])
    rows, total = (np.cumsum(part[::-1])[::-1] for part in (sums[""].rows, sums[""].total))
    thresholds = [
        Yield(f"{step / _STEPS:g}", f"{by} >= {step / _STEPS:g}", int(rows[step]), rows[step] / read, mean)
        for step in range(_STEPS - 1, -1, -1)
        if sums[""].rows[step] and (mean := float(total[step] / rows[step]))
    ]
    named = [
        Yield(name, where, int(kept), kept / read, float(sums[name].total.sum() / kept))
        for name, where in presets.items()
        if (kept := sums[name].rows.sum())
    ]
    return Yields(by, tuple(thresholds), tuple(named)) if thresholds else None
