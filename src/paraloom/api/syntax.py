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
    """Train a constituency parser on a treebank and evaluate it on held-out trees.

    Args:
        treebank: Files of bracketed trees, as in the Penn Treebank.
        output: Folder of the parser.
        method: A network that labels spans, in minutes, or a probabilistic grammar, in seconds.
        encoder: For `spans`: a static encoder, such as 'english', whose word vectors the parser uses.
        encoder_words: Number of its most common words whose vectors are taken, for a smaller parser; 0 takes all.

    Returns:
        The result; its figures have the labeled F1 on the held-out trees.
    """
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
    """Add the bracketed tree of each sentence, as columns such as `src_parse` and `tgt_parse`.

    Args:
        source: Pairs or variants, as `read_pairs` takes them.
        output: Where to; the suffix decides the format.
        parser: A folder of `train_parser`, 'spacy:NAME', 'spacy:FOLDER' or 'stanza:LANGUAGE[:depparse]'.
        parses: Instead of a parser: ``COLUMN=FILE`` for each column, with a tree per line, or CoNLL-U.
        columns: Text columns to parse.
        engine: 'local', 'inline' or 'ray'.
        workers: Processes; default: one per core.
        on_error: 'stop' at a row that cannot be processed, or 'reject' it.

    Raises:
        ConfigError: Both or neither of `parser` and `parses` are given, or a column is named twice.
    """
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

    Args:
        parsed: Pairs with parses, as `add_parses` writes them.
        output: Folder of the groups.
        **config: Fields of `paraloom.stages.SyntaxGroups`: `groups`, `min_rows`, `column`.

    Returns:
        The groups.

    Reference:
        Burchell et al. (2022), §2.1.
    """
    stages, reference = input_stages(parsed)
    run_stages([*stages, SyntaxGroups(pairs=reference, **config)], str(output))
    return SyntaxGrouping.load(Path(output))


def parser_fields(name: str) -> dict[str, Any]:
    """The fields of the stage `Parse` for a parser: a folder counts by its content, a model by its name.

    Example:
        >>> parser_fields("stanza:tr:depparse")
        {'model': 'stanza:tr:depparse'}
    """
    if not Path(name).exists() and (bundled := bundled_path(name, PARSER)) is not None:
        return {"parser": str(bundled)}
    folder = Path(name.removeprefix("spacy:"))
    return {"parser": str(folder.absolute())} if folder.is_dir() or ":" not in name else {"model": name}


def _column_and_file(text: str) -> tuple[str, Path]:
    column, equals, path = text.partition("=")
    if not equals or not path:
        raise ConfigError(f"expected COLUMN=FILE, got '{text}'", remedy="Write, for example, tgt=trees.txt.")
    return column, Path(path).absolute()
