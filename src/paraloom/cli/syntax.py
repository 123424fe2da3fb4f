"""Commands about syntax: train parser, parse, syntax-groups."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from paraloom import api
from paraloom.cli import completion, options
from paraloom.cli.output import as_written, conclude, print_figures, print_run


class ParserMethod(StrEnum):
    """What `train parser` trains."""

    spans = "spans"
    grammar = "grammar"


def train_parser(
    treebank: Annotated[list[Path], typer.Argument(help="Files of bracketed trees, as in the Penn Treebank.")],
    output: options.Folder,
    method: Annotated[
        ParserMethod,
        typer.Option(help="spans: a small network, in minutes; grammar: rules and their probabilities, in seconds."),
    ] = ParserMethod.spans,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="For spans: a static encoder, such as english, whose word vectors tell of words that the treebank "
            "does not have.",
            autocompletion=completion.complete_encoder,
        ),
    ] = None,
    encoder_words: Annotated[
        int,
        typer.Option(help="Number of its most common words whose vectors are taken, for a smaller parser; 0: all."),
    ] = 0,
    as_json: options.Json = False,
) -> None:
    """Train a constituency parser on a treebank; prints its F1 on held-out trees.

    Example: `paraloom train parser wsj.mrg.gz --encoder english -o parser-en`
    """
    result = api.train_parser(treebank, output, method=method.value, encoder=encoder, encoder_words=encoder_words)
    print_figures(result, "parse pairs.parquet --parser {output} -o parsed.parquet", as_json)


def parse(
    pairs: options.Pairs,
    output: options.Output,
    parser: Annotated[
        str | None,
        typer.Option(help="english, a folder of `train parser`, spacy:NAME, spacy:FOLDER, stanza:LANGUAGE[:depparse]."),
    ] = None,
    parses: Annotated[
        list[str] | None,
        typer.Option(
            "--parses", metavar="COLUMN=FILE", help="Existing parses: a tree per line, or .conllu. Repeatable."
        ),
    ] = None,
    columns: Annotated[str, typer.Option(help="The text columns, separated by commas.")] = "src,tgt",
    engine: options.Engine = "local",
    workers: options.Workers = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    as_json: options.Json = False,
) -> None:
    """Add the bracketed tree of each sentence, as columns src_parse and tgt_parse.

    Variants, as `variants` writes them, have one text column: --columns text.

    Example: `paraloom parse pairs.parquet --parser parser-en -o parsed.parquet`
    """
    result = api.add_parses(
        options.pairs(pairs),
        output,
        parser=parser,
        parses=parses or [],
        columns=options.names(columns),
        engine=engine,
        workers=workers,
        on_error=on_error.value,
    )
    print_run(result, output, "syntax-groups {output} -o groups", as_json)


def syntax_groups(
    parsed: Annotated[str, typer.Argument(help="Pairs with parses, from `parse`: a corpus folder or a Parquet file.")],
    output: options.Folder,
    groups: Annotated[int, typer.Option(help="Number of groups.")] = 3,
    min_rows: Annotated[int, typer.Option(help="Minimum number of rows of a group; smaller groups are merged.")] = 0,
    column: Annotated[str, typer.Option(help="The column of the parses.")] = "tgt_parse",
    as_json: options.Json = False,
) -> None:
    """Find the largest groups of pairs whose parses have the same root production, to fine-tune translators on.

    Example: `paraloom syntax-groups parsed.parquet -o groups`
    """
    result = api.find_syntax_groups(parsed, output, groups=groups, min_rows=min_rows, column=column)
    if as_json:
        typer.echo(as_written(output, **asdict(result)))
        return
    typer.echo(f"{'group':>5} {'rows':>10} {'share':>7}  root production")
    for group in result.groups:
        typer.echo(f"{group.group:>5} {group.rows:>10,} {group.rows / result.rows:>7.1%}  {group.name}")
    typer.echo(
        f"{result.rows:,} rows, {result.unparsed:,} without a parse, {result.distinct:,} distinct root productions"
    )
    conclude(output, "stages pick-syntax-group", rows=False)


COMMANDS: options.Commands = {"parse": parse, "syntax-groups": syntax_groups}
TRAIN: options.Commands = {"parser": train_parser}
