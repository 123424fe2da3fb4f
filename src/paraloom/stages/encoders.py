"""Stages about encoders: train, quantize, evaluate and compare them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, ClassVar, Literal

from paraloom.core.errors import ConfigError
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.core.stats import student_t_quantile, welch_interval
from paraloom.embed.average import SentenceEncoder, quantize
from paraloom.embed.config import EncoderConfig
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.training import train_encoder
from paraloom.evaluate.published import PUBLISHED
from paraloom.evaluate.retrieval import evaluate_retrieval
from paraloom.evaluate.sts import evaluate_sts
from paraloom.io import Corpus


@dataclass(frozen=True, kw_only=True)
class TrainEncoder(EncoderConfig, Fit):
    """Trains a sentence encoder on pairs: mega-batches, margin loss, Adam (PNMT §5).

    The fields of `paraloom.embed.config.EncoderConfig` come in addition.

    Args:
        pairs: Corpora whose src and tgt have the same meaning.
        start: An encoder to continue with.
        vectors: Word vectors to start with: a text file (word2vec, GloVe, fastText), or the artifact of
            `distill-words`.
        sts: Folder of similarity tasks, for development figures in the curve.
        development: The task that is evaluated after each epoch.
        keep: `last`, or `best` for the encoder of the epoch with the highest development figure.
        devices: Where recurrent networks compute: cpu, cuda, or cuda:0,cuda:1.
    """

    sentinel: ClassVar[str] = "*.vocabulary.txt"
    inputs: ClassVar[tuple[str, ...]] = ("pairs", "start", "vectors", "sts")

    pairs: tuple[Ref, ...]
    start: Ref | None = None
    vectors: Ref | None = None
    sts: Ref | None = None
    development: str = "STS-B/dev"
    keep: Literal["last", "best"] = "last"
    devices: str = "cpu"

    def validate(self) -> None:
        super().validate()
        if self.keep == "best" and self.sts is None:
            raise ConfigError("keep = 'best' needs development figures", remedy="Set 'sts'.")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Train and save the encoder; the curve has the loss and, with `sts`, the development task."""
        from itertools import chain

        batches = chain.from_iterable(
            Corpus.open(path).batches(["src", "tgt"], label="reading pairs") for path in context.paths("pairs")
        )

        def evaluate(encoder: SentenceEncoder) -> Mapping[str, float]:
            table = evaluate_sts(encoder, context.inputs["sts"], [self.development])
            return {"dev_pearson": table.rows[0].pearson}

        config = EncoderConfig(**{f.name: getattr(self, f.name) for f in fields(EncoderConfig)})
        evaluator = evaluate if "sts" in context.inputs else None
        return train_encoder(
            batches,
            config,
            folder,
            evaluator,
            seed=context.seed,
            start=context.inputs.get("start"),
            vectors=context.inputs.get("vectors"),
            devices=self.devices,
            keep_best=self.keep == "best",
        )


@dataclass(frozen=True, kw_only=True)
class EvaluateSts(Fit):
    """Correlations of an encoder's cosines with human scores, every protocol side by side.

    tasks: STS 2012–2015, STS-B, SICK, PIT or some of them; empty: all that are in the folder.
    published: whether the report shows the papers' rows beside ours.
    """

    inputs: ClassVar[tuple[str, ...]] = ("encoder", "sts")

    encoder: Ref
    sts: Ref
    tasks: tuple[str, ...] = ()
    published: bool = True

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json and return each group's mean Pearson."""
        table = evaluate_sts(load_encoder(context.inputs["encoder"]), context.inputs["sts"], self.tasks or None)
        result = table.to_dict()
        if self.published:
            result["published"] = [
                {"source": row.source, "system": row.system, "figures": dict(row.figures)} for row in PUBLISHED
            ]
        (folder / "result.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        means = {row.group: round(row.pearson, 2) for row in table.rows if row.subset == "mean"}
        return {"pearson_mean": means, "signature": table.signature}


@dataclass(frozen=True, kw_only=True)
class EvaluateRetrieval(Fit):
    """How often an encoder finds a sentence's paraphrase among `candidates`, chance being 1 / candidates.

    pairs: a corpus whose src and tgt mean the same.  encoders: measured on the same draws, in the order given.
    """

    inputs: ClassVar[tuple[str, ...]] = ("pairs", "encoders")

    pairs: Ref
    encoders: tuple[Ref, ...]
    candidates: int = 100

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json: an accuracy an encoder, in percent."""
        table = [batch for batch in Corpus.open(context.inputs["pairs"]).batches(["src", "tgt"])]
        anchors, paraphrases = (
            [text for batch in table for text in batch[side].to_pylist()] for side in ("src", "tgt")
        )
        found = [
            evaluate_retrieval(
                load_encoder(path), anchors, paraphrases, num_candidates=self.candidates, seed=context.seed
            )
            for path in context.paths("encoders")
        ]
        accuracy = [round(100 * choice.accuracy, 2) for choice in found]
        result = {
            "candidates": self.candidates,
            "pairs": len(anchors),
            "accuracy_percent": accuracy,
            "signatures": [choice.signature for choice in found],
        }
        (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return {"accuracy_percent": accuracy, "candidates": self.candidates, "pairs": len(anchors)}


@dataclass(frozen=True, kw_only=True)
class QuantizeEncoder(Fit):
    """Stores an encoder's vectors in one byte a number, with a scale a row; states what it costs.

    sts: a folder of similarity tasks to measure both on (mean Pearson × 100 of each group).
    """

    inputs: ClassVar[tuple[str, ...]] = ("encoder", "sts")

    encoder: Ref
    sts: Ref | None = None

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the small encoder and result.json; return the loss of each group."""
        exact = load_encoder(context.inputs["encoder"])
        small = quantize(exact)
        save_encoder(small, folder)
        if "sts" not in context.inputs:
            return {}
        figures: dict[str, Json] = {}
        for name, encoder in (("exact", exact), ("quantized", small)):
            table = evaluate_sts(encoder, context.inputs["sts"])
            figures[name] = {row.group: round(row.pearson, 2) for row in table.rows if row.subset == "mean"}
        figures["loss"] = {
            group: round(figures["exact"][group] - figures["quantized"][group], 3) for group in figures["exact"]
        }
        (folder / "result.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        return figures


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
    table = evaluate_sts(load_encoder(encoder), sts).rows
    singles = [row for row in table if row.subset not in ("mean", "all")]
    return fmean(row.pearson for row in singles if f"{row.group}/{row.subset}" != development)


def difference(ours: Sequence[float], base: Sequence[float]) -> dict[str, float]:
    """The mean of `ours` minus that of `base` with its 95 % interval (Welch's, two values or more of each).

    >>> difference([70.0, 71.0, 72.0], [68.0, 69.0, 70.0])
    {'mean': 2.0, 'low': -0.267, 'high': 4.267}
    """
    found = {"mean": round(fmean(ours) - fmean(base), 3)}
    if min(len(ours), len(base)) > 1:
        interval = welch_interval(ours, base)
        found |= {"low": round(interval.low, 3), "high": round(interval.high, 3)}
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
    half = student_t_quantile(0.975, len(runs) - 1) * stdev(figures) / math.sqrt(len(runs))
    return {name: mean, low: round(mean - half, 3), high: round(mean + half, 3)}
