"""The stage that compares selections of pairs: development figures of the encoders trained on them, in one table."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, ClassVar

from paraloom.core.errors import ConfigError
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.embed.store import load_encoder
from paraloom.evaluate.sts import evaluate_sts
from paraloom.io import Corpus


@dataclass(frozen=True, kw_only=True)
class CompareSelections(Fit):
    """For each selection, the development figure after the epoch at which it is best, and the test figure there.

    encoders: trained with `sts`, so that their curves have a development figure an epoch.  selections: the corpora
    that they were trained on, in the same order.  labels: what each selection is called; several with one label are
    the same selection under other seeds, and give a mean and its interval.  sts: a folder of similarity tasks; where
    it is given, the test figure is the mean Pearson of all its files but `development` (W17 has 22 tasks), of encoders
    that kept their best epoch.  against: a label; the others' test figures minus its own join the rows.
    """

    inputs: ClassVar[tuple[str, ...]] = ("encoders", "selections", "sts")

    encoders: tuple[Ref, ...]
    selections: tuple[Ref, ...]
    labels: tuple[str, ...]
    sts: Ref | None = None
    development: str = "STS-B/dev"
    against: str | None = None

    def validate(self) -> None:
        if not len(self.encoders) == len(self.selections) == len(self.labels):
            raise ConfigError("'encoders', 'selections' and 'labels' are one for each other")
        if self.against is not None and self.against not in self.labels:
            raise ConfigError(f"'against' is none of the labels: '{self.against}'")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json: rows, the best first."""
        found: dict[str, list[dict[str, Any]]] = {}
        for label, encoder, corpus in zip(
            self.labels, context.paths("encoders"), context.paths("selections"), strict=True
        ):
            epoch, figure = best_epoch(encoder)
            run = {"epoch": epoch, "dev_pearson": figure, "pairs": Corpus.open(corpus).rows}
            if "sts" in context.inputs:
                run["test_pearson"] = test_figure(encoder, context.inputs["sts"], self.development)
            found.setdefault(label, []).append(run)
        rows = [_row(label, runs) for label, runs in found.items()]
        if self.against is not None and self.sts is not None:
            base = [run["test_pearson"] for run in found[self.against]]
            for row in rows:
                if row["selection"] != self.against:
                    row["difference"] = difference([run["test_pearson"] for run in found[row["selection"]]], base)
        rows.sort(key=lambda row: -row["dev_pearson"])
        (folder / "result.json").write_text(json.dumps({"selections": rows}, indent=1) + "\n", encoding="utf-8")
        return {"best": rows[0]["selection"], "epoch": rows[0]["epoch"], "dev_pearson": rows[0]["dev_pearson"]}


def best_epoch(encoder: Path) -> tuple[int, float]:
    """The epoch after which the development figure was best, and that figure; ConfigError where there is none."""
    lines = [json.loads(line) for line in (encoder / "curve.jsonl").read_text(encoding="utf-8").splitlines()]
    figures = [(line["dev"]["dev_pearson"], line["epoch"]) for line in lines if line.get("dev")]
    if not figures:
        raise ConfigError("an encoder has no development figures", remedy="Give its stage 'sts'.")
    figure, epoch = max(figures, key=lambda each: (each[0], -each[1]))
    return epoch, figure


def test_figure(encoder: Path, sts: Path, development: str) -> float:
    """Mean Pearson × 100 over every file of similarity tasks in the folder except the development task."""
    table = evaluate_sts(load_encoder(encoder), sts).table
    singles = [row for row in table if row.subset not in ("mean", "all")]
    return fmean(row.pearson for row in singles if f"{row.group}/{row.subset}" != development)


def difference(ours: Sequence[float], base: Sequence[float]) -> dict[str, float]:
    """The mean of `ours` minus that of `base` with its 95 % interval (Welch's, two values or more of each).

    >>> difference([70.0, 71.0, 72.0], [68.0, 69.0, 70.0])
    {'mean': 2.0, 'low': -0.267, 'high': 4.267}
    """
    found = {"mean": round(fmean(ours) - fmean(base), 3)}
    if min(len(ours), len(base)) > 1:
        from scipy.stats import ttest_ind

        interval = ttest_ind(ours, base, equal_var=False).confidence_interval(0.95)
        found |= {"low": round(float(interval.low), 3), "high": round(float(interval.high), 3)}
    return found


def _row(label: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    row = {
        "selection": label,
        "pairs": runs[0]["pairs"],
        "seeds": len(runs),
        "epoch": max(runs, key=lambda run: run["dev_pearson"])["epoch"],
    }
    row |= _mean("dev_pearson", "low", "high", runs)
    if "test_pearson" in runs[0]:
        row |= _mean("test_pearson", "test_low", "test_high", runs)
    return row


def _mean(name: str, low: str, high: str, runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    figures = [run[name] for run in runs]
    mean = round(fmean(figures), 3)
    if len(runs) == 1:
        return {name: mean}
    from scipy.stats import t

    half = float(t.ppf(0.975, len(runs) - 1)) * stdev(figures) / math.sqrt(len(runs))
    return {name: mean, low: round(mean - half, 3), high: round(mean + half, 3)}
