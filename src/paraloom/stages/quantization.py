"""A stage that makes an encoder small: one byte a number."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.embed.average import quantise
from paraloom.embed.store import load_encoder, save
from paraloom.evaluate.sts import evaluate_sts


@dataclass(frozen=True, kw_only=True)
class QuantiseEncoder(Fit):
    """Stores an encoder's vectors in one byte a number, with a scale a row; states what it costs.

    sts: a folder of similarity tasks to measure both on (mean Pearson × 100 of each group).
    """

    inputs: ClassVar[tuple[str, ...]] = ("encoder", "sts")

    encoder: Ref
    sts: Ref | None = None

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the small encoder and result.json; return the loss of each group."""
        exact = load_encoder(context.inputs["encoder"])
        small = quantise(exact)
        save(small, folder)
        if "sts" not in context.inputs:
            return {}
        figures: dict[str, Json] = {}
        for name, encoder in (("exact", exact), ("quantised", small)):
            table = evaluate_sts(encoder, context.inputs["sts"])
            figures[name] = {row.group: round(row.pearson, 2) for row in table.table if row.subset == "mean"}
        figures["loss"] = {
            group: round(figures["exact"][group] - figures["quantised"][group], 3) for group in figures["exact"]
        }
        (folder / "result.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        return figures
