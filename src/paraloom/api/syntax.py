"""Parses for users: train a parser, add parses to pairs or variants."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from paraloom.api.model_references import encoder_folder
from paraloom.api.run import input_stages, run_stages
from paraloom.bundled import PARSER, bundled_path
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.syntax import Parse, TrainParser


def train_parser(
    treebank: Sequence[str | Path],
    output: str | Path,
    *,
    method: Literal["spans", "grammar"] = "spans",
    encoder: str | Path | None = None,
    encoder_words: int = 0,
) -> RunResult:
    """Train a constituency parser on a treebank; prints its F1 on held-out trees.

    Args:
        treebank: Files of bracketed trees, as in the Penn Treebank, or of Universal Dependencies with Penn tags.
        output: The folder to write.
        method: spans: a small network, in minutes; grammar: rules and their probabilities, in seconds.
        encoder: For spans: a static encoder, such as english, whose word vectors tell of words that the treebank does
            not have.
        encoder_words: Number of its most common words whose vectors are taken, for a smaller parser; 0: all.
    """
    stage = TrainParser(
        treebank=tuple(Path(path).absolute() for path in treebank),
        method=method,
        encoder=None if encoder is None else encoder_folder(encoder) or Path(encoder).absolute(),
        encoder_words=encoder_words,
    )
    return run_stages([stage], str(output))


def add_parses(
    pairs: str | Path,
    output: str,
    *,
    parser: str | Path,
    columns: Sequence[str] = ("src", "tgt"),
    engine: str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
) -> RunResult:
    """Add the bracketed tree of each sentence, as columns src_parse and tgt_parse.

    Variants, as `variants` writes them, have one text column: --columns text.

    Args:
        parser: english, a folder of `train parser`, spacy:NAME, spacy:FOLDER, stanza:LANGUAGE[:depparse].
        columns: The text columns.
    """
    stages, reference = input_stages(str(pairs), on_error=on_error)
    stage = Parse(input=reference, columns=tuple(columns), **parser_fields(str(parser)))
    return run_stages([*stages, stage], output, engine=engine, workers=workers, on_error=on_error)


def parser_fields(name: str) -> dict[str, Any]:
    """The fields of the stage `Parse` for a parser: a folder counts by its content, a model by its name."""
    if not Path(name).exists() and (bundled := bundled_path(name, PARSER)) is not None:
        return {"parser": str(bundled)}
    folder = Path(name.removeprefix("spacy:"))
    return {"parser": str(folder.absolute())} if folder.is_dir() or ":" not in name else {"model": name}
