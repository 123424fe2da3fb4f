"""The quickstart: from the bundled bitext to paraphrases, offline, in a minute on two cores."""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraloom import bundled
from paraloom.bundled import SAMPLE
from paraloom.io import Corpus, read_pairs
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import read_pipeline
from paraloom.text.buffers import code_points
from paraloom.text.chrf import chrf_from_points

BUNDLED = Path(bundled.__file__).parent
"""Folder of the sample, the models and the pipeline that come with the package."""

EXAMPLES = 3
"""Variants that are shown."""


@dataclass(frozen=True)
class Quickstart:
    """The run, and how near its paraphrases are to second translations by people, before and after the filter.

    Args:
        run: The result of the run.
        before: Mean chrF of all paraphrases against the second translation, which no stage saw.
        after: The same of those that the filter kept.
        pairs: Number of paraphrases.
        kept: How many the filter kept.
        rewritten: Number of variants that the bundled paraphraser wrote of these, and the selection kept.
        examples: Some of them: a sentence, and its variant.
    """

    run: RunResult
    before: float
    after: float
    pairs: int
    kept: int
    rewritten: int
    examples: tuple[tuple[str, str], ...]

    def format(self) -> str:
        """Three sentences, and examples."""
        shown = "".join(f"\n  {source}\n    {variant}" for source, variant in self.examples)
        return (
            f"The filter kept {self.kept} of {self.pairs} paraphrases. Compared with a second translation by a person, "
            f"which no stage saw, chrF is {self.before:.1f} for all of them and {self.after:.1f} for those kept.\n"
            f"The bundled paraphraser wrote {self.rewritten} further paraphrases of their references:{shown}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return {name: value for name, value in asdict(self).items() if name != "run"}


def run_quickstart(folder: str | Path = "quickstart", *, workers: int | None = None) -> Quickstart:
    """Run the bundled pipeline: back-translate, score the pairs, keep what is probably a paraphrase, rewrite it.

    Args:
        folder: Folder of the run.
        workers: Processes; default: one per core. The result is the same.
    """
    if kernels_are_new():
        warnings.warn("the first run compiles the inner loops, for a minute or two; later ones do not", stacklevel=2)
    result = run_pipeline(read_pipeline(BUNDLED / "quickstart.toml"), folder, workers=workers)
    references = _second_references()
    before, pairs = _mean_chrf(result.stage("scored").folder, references)
    after, kept = _mean_chrf(result.stage("kept").folder, references)
    rewritten = Corpus.open(result.stage("rewritten").folder)
    examples = _examples(Corpus.open(result.stage("kept").folder), rewritten)
    return Quickstart(result, before, after, pairs, kept, rewritten.rows, examples)


def kernels_are_new(package: Path = BUNDLED.parent) -> bool:
    """Whether numba has compiled nothing yet into the folder of a package; False where it would compile elsewhere."""
    folder = package / "text" / "__pycache__"
    return "NUMBA_CACHE_DIR" not in os.environ and os.access(folder, os.W_OK) and not any(folder.glob("*.nbi"))


def _examples(pairs: Corpus, variants: Corpus) -> tuple[tuple[str, str], ...]:
    """The best variants of the first texts that have one."""
    sources = {row["pair_id"]: row["src"] for batch in pairs.batches(["pair_id", "src"]) for row in batch.to_pylist()}
    best: dict[str, str] = {}
    for batch in variants.batches(["pair_id", "text"]):
        for row in batch.to_pylist():
            best.setdefault(sources[row["pair_id"]], row["text"])
    return tuple(best.items())[:EXAMPLES]


def _second_references() -> dict[str, str]:
    """Identifier of each pair of the sample → its second English translation."""
    batches = read_pairs(str(SAMPLE), src_column="de", tgt_column="en_second", origin="tatoeba")
    rows = [row for batch in batches for row in batch.select(["pair_id", "tgt"]).to_pylist()]
    return {row["pair_id"]: row["tgt"] for row in rows}


def _mean_chrf(folder: Path, references: dict[str, str]) -> tuple[float, int]:
    ids, texts = [], []
    for batch in Corpus.open(folder).batches(["pair_id", "tgt"]):
        ids += batch.column("pair_id").to_pylist()
        texts += batch.column("tgt").to_pylist()
    scores = chrf_from_points(code_points(texts), code_points([references[pair_id] for pair_id in ids]))
    return float(scores.mean()) if len(scores) else 0.0, len(scores)
