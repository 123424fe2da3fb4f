"""Models that some scores need: word counts and n-gram language models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Unpack

from paraloom.api.keywords import LanguageModelSettings
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
    """Count in how many sentences each word occurs, for the scores `src_idf` and `tgt_idf`.

    Args:
        pairs: Pairs to learn from: one corpus or several.
        output: The folder to write.
        columns: Text columns to learn from, such as src,tgt.
    """
    stages, references = input_stages_of(pairs, "input", on_error=on_error)
    return _train(stages, CountWords(corpora=references, columns=tuple(columns)), output)


def train_language_model(
    pairs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    columns: Sequence[str] = ("src",),
    units: Literal["words", "characters"] = "words",
    on_error: OnError = "stop",
    **config: Unpack[LanguageModelSettings],
) -> RunResult:
    """Train an n-gram language model, for `src_perplexity` or `src_character_perplexity` and those of `tgt`.

    Args:
        pairs: Pairs to learn from: one corpus or several.
        output: The folder to write.
        columns: Text columns to learn from, such as src,tgt.
        units: What the n-grams are made of.
        **config: Further fields of `paraloom.stages.TrainLanguageModel`: `order`, `smoothing`.
    """
    stages, references = input_stages_of(pairs, "input", on_error=on_error)
    return _train(stages, TrainLanguageModel(corpora=references, columns=tuple(columns), units=units, **config), output)


def _train(stages: Sequence[Stage], training: Fit, output: str | Path) -> RunResult:
    return run_stages([*stages, training], str(output))
