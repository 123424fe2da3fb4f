"""The stage that trains W17's classifier of references and translations, and the function that runs it over files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from paraloom.api.run import input_stages_of, run_stages
from paraloom.core.config import base_config
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.io import Corpus
from paraloom.papers.w17 import classifier_training
from paraloom.papers.w17.classifier import ClassifierConfig
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError


@dataclass(frozen=True, kw_only=True)
class TrainClassifier(ClassifierConfig, Fit):
    """Trains a classifier of references and translations, for the score `reference_probability`.

    Args:
        pairs_from: Corpora of back-translated pairs: `src` the reference, `tgt` its translation.
        vectors: Word vectors to start with, of `dimension` numbers: a text file, .npy, or a stage `distill-words`.
            Default: random ones.
        device: 'cpu', 'cuda' or 'cuda:1'. Results of a GPU differ in their last digits.

    For the other fields see :class:`~paraloom.papers.w17.classifier.ClassifierConfig`.

    Reference:
        Wieting, Mallinson and Gimpel 2017, §5.6.1.

    Example:
        >>> TrainClassifier(pairs_from=["backtranslate"], kind="avg").epochs
        10
    """

    sentinel: ClassVar[str] = "classifier.safetensors"
    optional_fields: ClassVar[tuple[str, ...]] = ("device", "vectors")

    pairs_from: tuple[Ref, ...]
    vectors: Ref | None = None
    device: str = "cpu"

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the classifier; the figures are its accuracies."""
        batches = chain.from_iterable(
            Corpus.open(path).batches(["pair_id", "src", "tgt", "origin"]) for path in context.paths("pairs_from")
        )
        config = base_config(ClassifierConfig, self)
        vectors = context.inputs.get("vectors")
        return classifier_training.train_classifier(
            batches, config, folder, seed=context.seed, device=self.device, vectors=vectors
        )


def train_classifier(
    pairs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    seed: int = 1,
    on_error: OnError = "stop",
    **config: Any,
) -> RunResult:
    """Train a classifier that tells human references from translations, for the score `reference_probability`.

    Wieting et al. (2017), §5.6.1.

    Args:
        pairs: Back-translated pairs.
        output: The folder to write.
        seed: Seed of every random choice.
        on_error: Stop at a row that cannot be read, or reject it into OUTPUT.rejected.jsonl, with the reason.
        **config: Further fields of `TrainClassifier`.
    """
    stages, references = input_stages_of(pairs, "input", on_error=on_error)
    training = TrainClassifier(pairs_from=references, **config)
    return run_stages([*stages, training], str(output), seed=seed)
