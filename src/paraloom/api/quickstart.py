"""The quickstart: from the bundled bitext to paraphrases, offline, in a minute on two cores."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraloom import bundled
from paraloom.api.harvest import Harvest, harvest
from paraloom.bundled import SAMPLE
from paraloom.io import Corpus, read_pairs
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import read_pipeline
from paraloom.text.buffers import code_points
from paraloom.text.chrf import chrf_from_points

BUNDLED = Path(bundled.__file__).parent
"""Folder of the sample, the models and the pipeline that come with the package."""

READ = "Of the 96 pairs that the bundled models keep, two readers, both language models, found 77 right."
"""What readings of these pairs said: `docs/explanations/results/kept-pairs.md`."""


@dataclass(frozen=True)
class Quickstart:
    """The run, its harvest, and how near its pairs are to human translations, before and after the filter."""

    run: RunResult
    harvest: Harvest
    before: float
    after: float
    seconds: float

    def format(self) -> str:
        return (
            f"{self.harvest.format()}\n\n{READ}\nTheir chrF with a second translation by a person, which no stage "
            f"saw, is {self.after:.1f}; that of all pairs {self.before:.1f}."
        )

    def to_dict(self) -> dict[str, Any]:
        record = {name: value for name, value in vars(self).items() if name not in ("run", "harvest")}
        return {**record, **self.harvest.to_dict()}


def run_quickstart(folder: str | Path = "quickstart", *, workers: int | None = None) -> Quickstart:
    """Run the bundled pipeline: back-translate, score the pairs, keep what is probably a paraphrase.

    Args:
        folder: Folder of the run.
    """
    if kernels_are_new():
        warnings.warn("the first run compiles the inner loops, for a minute or two; later ones do not", stacklevel=2)
    started = time.monotonic()
    result = run_pipeline(read_pipeline(BUNDLED / "quickstart.toml"), folder, workers=workers)
    references = _second_references()
    before, after = (_mean_chrf(result.stage(name).folder, references) for name in ("scored", "kept"))
    pairs = harvest(result)
    assert pairs is not None
    return Quickstart(result, pairs, before, after, time.monotonic() - started)


def kernels_are_new(package: Path = BUNDLED.parent) -> bool:
    """Whether numba has compiled nothing yet into the folder of a package; False where it would compile elsewhere."""
    folder = package / "text" / "__pycache__"
    writable = os.access(folder if folder.exists() else folder.parent, os.W_OK)  # uv installs without byte code
    return "NUMBA_CACHE_DIR" not in os.environ and writable and not any(folder.glob("*.nbi"))


def _second_references() -> dict[str, str]:
    """Identifier of each pair of the sample → its second English translation."""
    batches = read_pairs(str(SAMPLE), src_column="de", tgt_column="en_second", origin="tatoeba")
    rows = [row for batch in batches for row in batch.select(["pair_id", "tgt"]).to_pylist()]
    return {row["pair_id"]: row["tgt"] for row in rows}


def _mean_chrf(folder: Path, references: dict[str, str]) -> float:
    ids, texts = [], []
    for batch in Corpus.open(folder).batches(["pair_id", "tgt"]):
        ids += batch.column("pair_id").to_pylist()
        texts += batch.column("tgt").to_pylist()
    scores = chrf_from_points(code_points(texts), code_points([references[pair_id] for pair_id in ids]))
    return float(scores.mean()) if len(scores) else 0.0
