"""Stages about encoders: train one, measure it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar, Literal

from paraloom.core.errors import ConfigError
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.embed.average import SentenceEncoder
from paraloom.embed.config import EncoderConfig
from paraloom.embed.store import load_encoder
from paraloom.embed.training import train_encoder
from paraloom.evaluate.published import PUBLISHED
from paraloom.evaluate.retrieval import choose_among
from paraloom.evaluate.sts import evaluate_sts
from paraloom.io import Corpus


@dataclass(frozen=True, kw_only=True)
class TrainEncoder(EncoderConfig, Fit):
    """Trains a sentence encoder on pairs (PNMT §5): mega-batches, margin loss, Adam.

    pairs: corpora whose src and tgt mean the same.  start: an encoder to go on from.  vectors: a text file of word
    vectors to start from (word2vec's, GloVe's, fastText's form).  sts: a folder of similarity tasks; where it is given,
    `development` (one of them) is measured after each epoch, for the curve.  keep: 'last', or 'best', the encoder as
    it was after the epoch with the highest development figure.  devices: where networks compute: cpu, cuda, or
    cuda:0,cuda:1.
    The other fields are those of paraloom.embed.config.EncoderConfig.
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
        self.check()
        if self.keep not in ("last", "best"):
            raise ConfigError(f"'keep' is last or best, not '{self.keep}'")
        if self.keep == "best" and self.sts is None:
            raise ConfigError("keep = 'best' needs 'sts', which says what is best")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Train and save the encoder; the curve has the loss and, with `sts`, the development task."""
        from itertools import chain

        batches = chain.from_iterable(
            Corpus.open(path).batches(["src", "tgt"], label="reading pairs") for path in context.paths("pairs")
        )

        def measure(encoder: SentenceEncoder) -> Mapping[str, float]:
            table = evaluate_sts(encoder, context.inputs["sts"], [self.development])
            return {"dev_pearson": table.table[0].pearson}

        config = EncoderConfig(**{f.name: getattr(self, f.name) for f in fields(EncoderConfig)})
        dev = measure if "sts" in context.inputs else None
        return train_encoder(
            batches,
            config,
            folder,
            dev,
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
        result = table.to_json()
        if self.published:
            result["published"] = [
                {"source": row.source, "system": row.system, "figures": dict(row.figures)} for row in PUBLISHED
            ]
        (folder / "result.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        means = {row.group: round(row.pearson, 2) for row in table.table if row.subset == "mean"}
        return {"pearson_mean": means, "signature": table.signature}


@dataclass(frozen=True, kw_only=True)
class ChooseParaphrase(Fit):
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
            choose_among(load_encoder(path), anchors, paraphrases, n=self.candidates, seed=context.seed)
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
