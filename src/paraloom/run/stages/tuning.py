"""The stage that compares selections of pairs: development figures of the encoders trained on them, in one table."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, ClassVar

from paraloom.core.errors import ConfigError
from paraloom.core.io import Corpus
from paraloom.run.stage import Fit, Json, Work


@dataclass(frozen=True, kw_only=True)
class CompareSelections(Fit):
    """For each selection, the development figure after the epoch at which it is best.

    encoders: trained with `sts`, so that their curves have a development figure an epoch.  selections: the corpora
    that they were trained on, in the same order.  labels: what each selection is called; several with one label are
    the same selection under other seeds, and give a mean and its interval.
    """

    inputs: ClassVar[tuple[str, ...]] = ("encoders", "selections")

    encoders: tuple[str, ...]
    selections: tuple[str, ...]
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        if not len(self.encoders) == len(self.selections) == len(self.labels):
            raise ConfigError("'encoders', 'selections' and 'labels' are one for each other")

    def fit(self, folder: Path, work: Work) -> dict[str, Json]:
        """Write result.json: rows, the best first."""
        found: dict[str, list[dict[str, Any]]] = {}
        for label, encoder, corpus in zip(self.labels, work.each("encoders"), work.each("selections"), strict=True):
            epoch, figure = best_epoch(encoder)
            row = {"epoch": epoch, "figure": figure, "pairs": Corpus.open(corpus).rows}
            found.setdefault(label, []).append(row)
        rows = sorted((_row(label, runs) for label, runs in found.items()), key=lambda row: -row["dev_pearson"])
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


def _row(label: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    figures = [run["figure"] for run in runs]
    row = {
        "selection": label,
        "pairs": runs[0]["pairs"],
        "seeds": len(runs),
        "dev_pearson": round(fmean(figures), 3),
        "epoch": max(runs, key=lambda run: run["figure"])["epoch"],
    }
    if len(runs) > 1:
        from scipy.stats import t

        half = float(t.ppf(0.975, len(runs) - 1)) * stdev(figures) / math.sqrt(len(runs))
        row |= {"low": round(row["dev_pearson"] - half, 3), "high": round(row["dev_pearson"] + half, 3)}
    return row
