"""Verbs about syntax: train parser, parse."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options


def train_parser(
    treebank: Annotated[list[Path], typer.Argument(help="Files of bracketed trees, as the Penn Treebank has them.")],
    output: options.Output,
) -> None:
    """Read a grammar off a treebank; prints how well it parses trees that it has not seen.

    Example: `paraloom train parser wsj.mrg.gz -o parser-en`
    """
    from paraloom.recipes.verbs import run_verb

    result = run_verb([{"use": "train-parser", "treebank": [str(path.absolute()) for path in treebank]}], output)
    for name, value in result.stages[-1].figures.items():
        typer.echo(f"{name}: {value}")


def parse(
    pairs: Annotated[str, typer.Argument(help="Pairs: a corpus folder, a file with both sides, or PREFIX.{de,en}.")],
    parser: Annotated[Path, typer.Option(help="A folder by `train parser`.")],
    output: options.Output,
    columns: Annotated[str, typer.Option(help="The text columns, commas between.")] = "src,tgt",
    engine: options.Engine = "local",
    workers: options.Workers = None,
    on_error: options.OnError = "stop",
) -> None:
    """Add the bracketed tree of each sentence, as columns src_parse and tgt_parse.

    Example: `paraloom parse pairs.parquet --parser parser-en -o parsed.parquet`
    """
    from paraloom.cli.summary import summary
    from paraloom.recipes.verbs import corpus_stages, run_verb

    stages, reference = corpus_stages(pairs)
    names = [name.strip() for name in columns.split(",")]
    work = {"use": "parse", "input": reference, "parser": str(parser.absolute()), "columns": names}
    result = run_verb([*stages, work], output, engine=engine, workers=workers, on_error=on_error)
    typer.echo(summary(result), err=True)


VERBS = {"parse": parse}
TRAINING = {"parser": train_parser}
