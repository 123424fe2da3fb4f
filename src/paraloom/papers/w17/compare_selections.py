"""The stage that compares selections of training pairs by the encoders that were trained on them."""

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
from paraloom.core.stats import student_t_quantile
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.development import DEVELOPMENT, development_names
from paraloom.evaluate.sts import evaluate_sts
from paraloom.evaluate.untrained import untrained_folder
from paraloom.io import Corpus


@dataclass(frozen=True, kw_only=True)
class CompareSelections(Fit):
    """Compares selections of training pairs by the encoders that were trained on them.

    Each selection gets the development figure of its best epoch and, with `sts`, the test figure of the encoder, which
    should be that of the same epoch (`keep = "best"`): the mean Pearson of all files but those of `development` (W17
    has 22 tasks). Beside it is the test figure of what the training started from, if the encoder's folder has it: a
    selection whose encoder is not above it taught nothing.

    Args:
        encoders: Encoders that were trained with `sts`, so that their curves have development figures.
        selections: The corpora that they were trained on, in the same order.
        labels: Name of each selection. Several with one label are the same selection with other seeds; they give a
            mean and a confidence interval.
        sts: Folder of similarity tasks for the test figures.
        development: The tasks of the development figures, as of :class:`TrainEncoder`.

    Raises:
        ConfigError: `encoders`, `selections` and `labels` differ in length.

    Reference:
        Wieting, Mallinson and Gimpel 2017 (W17), §5.

    Example:
        >>> CompareSelections(encoders=["a", "b"], selections=["all", "best"], labels=["all", "best half"]).labels
        ('all', 'best half')
    """

    version: ClassVar[str] = "2"

    encoders: tuple[Ref, ...]
    selections: tuple[Ref, ...]
    labels: tuple[str, ...]
    sts: Ref | None = None
    development: str = DEVELOPMENT

    def validate(self) -> None:
        if not len(self.encoders) == len(self.selections) == len(self.labels):
            raise ConfigError(
                "keys 'encoders', 'selections' and 'labels' must have the same length, not "
                f"{len(self.encoders)}, {len(self.selections)} and {len(self.labels)}"
            )

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json: rows, best first."""
        runs: dict[str, list[dict[str, Any]]] = {}
        for label, encoder, corpus in zip(
            self.labels, context.paths("encoders"), context.paths("selections"), strict=True
        ):
            epoch, figure = best_epoch(encoder)
            run = {"epoch": epoch, "dev_pearson": figure, "pairs": Corpus.open(corpus).rows}
            if "sts" in context.inputs:
                run["test_pearson"] = mean_test_pearson(encoder, context.inputs["sts"], self.development)
                start = untrained_folder(encoder)
                if start is not None:
                    run["untrained_test_pearson"] = mean_test_pearson(start, context.inputs["sts"], self.development)
            runs.setdefault(label, []).append(run)
        rows = [_row(label, of_label) for label, of_label in runs.items()]
        rows.sort(key=lambda row: -row["dev_pearson"])
        (folder / "result.json").write_text(json.dumps({"selections": rows}, indent=1) + "\n", encoding="utf-8")
        return {"best": rows[0]["selection"], "epoch": rows[0]["epoch"], "dev_pearson": rows[0]["dev_pearson"]}


def best_epoch(encoder: Path) -> tuple[int, float]:
    """The epoch with the best development figure, and that figure; ConfigError if the curve has none."""
    lines = [json.loads(line) for line in (encoder / "curve.jsonl").read_text(encoding="utf-8").splitlines()]
    figures = [(line["dev"]["dev_pearson"], line["epoch"]) for line in lines if line.get("dev")]
    if not figures:
        raise ConfigError("the encoder was trained without development figures", remedy="Set 'sts' in its stage.")
    figure, epoch = max(figures, key=lambda item: (item[0], -item[1]))
    return epoch, figure


def mean_test_pearson(encoder: Path, sts: Path, development: str) -> float:
    """Mean Pearson × 100 over all files of similarity tasks in a folder except the development tasks."""
    chosen = development_names(development)
    table = evaluate_sts(open_encoder(encoder), sts, overlap=False).rows
    singles = [row for row in table if row.subset not in ("mean", "all")]
    tests = [row.pearson for row in singles if not {row.group, f"{row.group}/{row.subset}"} & set(chosen)]
    if not tests:
        raise ConfigError("no file is left to test on", file=sts, remedy="Give a folder with test tasks, too.")
    return fmean(tests)


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
    if all("untrained_test_pearson" in run for run in runs):
        row |= _mean("untrained_test_pearson", "untrained_low", "untrained_high", runs)
    return row


def _mean(name: str, low: str, high: str, runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    figures = [run[name] for run in runs]
    mean = round(fmean(figures), 3)
    if len(runs) == 1:
        return {name: mean}
    half = student_t_quantile(0.975, len(runs) - 1) * stdev(figures) / math.sqrt(len(runs))
    return {name: mean, low: round(mean - half, 3), high: round(mean + half, 3)}
