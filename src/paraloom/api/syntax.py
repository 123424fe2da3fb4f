"""Parses for users: train a parser, add parses to pairs or variants, find syntax groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from paraloom.api.model_references import encoder_folder
from paraloom.api.run import input_stages, run_stages
from paraloom.bundled import PARSER, bundled_path
from paraloom.core.errors import ConfigError
from paraloom.core.stage import Stage
from paraloom.io import Corpus
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.syntax import Parse, ReadParses, TrainParser
from paraloom.stages.syntax_groups import SyntaxGroups
from paraloom.syntax.groups import SyntaxGrouping


def train_parser(
    treebank: Sequence[str | Path],
    output: str | Path,
    *,
    method: Literal["spans", "grammar"] = "spans",
    encoder: str | None = None,
    encoder_words: int = 0,
) -> RunResult:
    """Train a constituency parser on a treebank and evaluate it on held-out trees."""
    stage = TrainParser(
        treebank=tuple(Path(path).absolute() for path in treebank),
        method=method,
        encoder=None if encoder is None else encoder_folder(encoder) or Path(encoder).absolute(),
        encoder_words=encoder_words,
    )
    return run_stages([stage], str(output))


def add_parses(
    source: str,
    output: str,
    *,
    parser: str | None = None,
    parses: Sequence[str] = (),
    columns: Sequence[str] = ("src", "tgt"),
    engine: str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
) -> RunResult:
    """Add the bracketed tree of each sentence, as columns such as `src_parse` and `tgt_parse`."""
    if bool(parser) == bool(parses):
        raise ConfigError("expected either 'parser' or 'parses'", remedy="Give exactly one of them.")
    # Parses from files are matched line by line: the rows must stay as they are.
    stages, reference = input_stages(source, on_error=on_error, empty_sides="keep" if parses else None)
    stage: Stage
    if parser:
        stage = Parse(input=reference, columns=tuple(columns), **parser_fields(parser))
    else:
        files = dict(_column_and_file(text) for text in parses)
        if len(files) < len(parses):
            raise ConfigError("'parses' names a column twice", remedy="Give each column one file.")
        kind = stages[0].output_schema if stages else Corpus.open(Path(str(reference))).kind
        stage = ReadParses(corpus=reference, columns=tuple(files), parses=tuple(files.values()), output_schema=kind)
    return run_stages([*stages, stage], output, engine=engine, workers=workers, on_error=on_error)


def find_syntax_groups(parsed: str, output: str | Path, **config: Any) -> SyntaxGrouping:
    """Find the largest groups of pairs whose trees have the same root production.

    Reference:
        Burchell et al. (2022), §2.1.
    """
    stages, reference = input_stages(parsed)
    run_stages([*stages, SyntaxGroups(pairs=reference, **config)], str(output))
    return SyntaxGrouping.load(Path(output))


def parser_fields(name: str) -> dict[str, Any]:
    """The fields of the stage `Parse` for a parser: a folder counts by its content, a model by its name."""
    if not Path(name).exists() and (bundled := bundled_path(name, PARSER)) is not None:
        return {"parser": str(bundled)}
    folder = Path(name.removeprefix("spacy:"))
    return {"parser": str(folder.absolute())} if folder.is_dir() or ":" not in name else {"model": name}


def _column_and_file(text: str) -> tuple[str, Path]:
    column, equals, path = text.partition("=")
    if not equals or not path:
        raise ConfigError(f"expected COLUMN=FILE, got '{text}'", remedy="Write, for example, tgt=trees.txt.")
    return column, Path(path).absolute()
