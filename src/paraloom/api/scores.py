"""Models that some scores need: word counts and n-gram language models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from paraloom.api.run import input_stages_of, run_stages
from paraloom.core.stage import Fit, Stage
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.scores import CountWords, TrainLanguageModel


def train_word_counts(
    pairs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    columns: Sequence[str] = ("src",),
    on_error: OnError = "stop",
) -> RunResult:
    """Count in how many sentences each word occurs, for the scores `src_idf` and `tgt_idf`."""
    stages, references = input_stages_of(pairs, "input", on_error=on_error)
    return _train(stages, CountWords(corpora=references, columns=tuple(columns)), output)


def train_language_model(
    pairs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    columns: Sequence[str] = ("src",),
    order: int = 0,
    units: Literal["words", "characters"] = "words",
    smoothing: str = "",
    on_error: OnError = "stop",
) -> RunResult:
    """Train an n-gram language model, for the perplexities of both sides."""
    stages, references = input_stages_of(pairs, "input", on_error=on_error)
    training = TrainLanguageModel(
        corpora=references, columns=tuple(columns), order=order, units=units, smoothing=smoothing
    )
    return _train(stages, training, output)


def _train(stages: Sequence[Stage], training: Fit, output: str | Path) -> RunResult:
    return run_stages([*stages, training], str(output))
