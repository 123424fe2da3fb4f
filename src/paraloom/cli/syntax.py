"""Verbs about syntax: train parser, parse."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options


def train_parser(
    treebank: Annotated[list[Path], typer.Argument(help="Files of bracketed trees, as the Penn Treebank has them.")],
    output: options.Folder,
) -> None:
    """Read a grammar off a treebank; prints how well it parses trees that it has not seen.

    Example: `paraloom train parser wsj.mrg.gz -o parser-en`
    """
    from paraloom.workflows.run import run_verb

    result = run_verb([{"use": "train-parser", "treebank": [str(path.absolute()) for path in treebank]}], output)
    for name, value in result.stages[-1].figures.items():
        typer.echo(f"{name}: {value}")


def parse(
    pairs: Annotated[str, typer.Argument(help="Pairs: a corpus folder, a file with both sides, or PREFIX.{de,en}.")],
    output: options.Output,
    parser: Annotated[
        str | None,
        typer.Option(help="A folder by `train parser`, spacy:NAME, spacy:FOLDER, stanza:LANGUAGE[:depparse]."),
    ] = None,
    parses: Annotated[
        list[str] | None,
        typer.Option(
            "--parses", metavar="COLUMN=FILE", help="Trees that are there: one a line, or .conllu. Repeatable."
        ),
    ] = None,
    columns: Annotated[str, typer.Option(help="The text columns, commas between.")] = "src,tgt",
    engine: options.Engine = "local",
    workers: options.Workers = None,
    on_error: options.OnError = "stop",
) -> None:
    """Add the bracketed tree of each sentence, as columns src_parse and tgt_parse.

    Variants, as `variants` writes them, have one text column: --columns text.

    Example: `paraloom parse pairs.parquet --parser parser-en -o parsed.parquet`
    """
    from paraloom.cli.summary import summary
    from paraloom.workflows.run import run_verb
    from paraloom.workflows.syntax import parsing_stages

    names = [name.strip() for name in columns.split(",")]
    stages = parsing_stages(pairs, parser=parser, parses=parses or [], columns=names)
    result = run_verb(stages, output, engine=engine, workers=workers, on_error=on_error)
    typer.echo(summary(result), err=True)


def syntax_groups(
    parsed: Annotated[str, typer.Argument(help="Pairs with trees, by `parse`: a corpus folder or a Parquet file.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The folder of the groups.")],
    groups: Annotated[int, typer.Option(help="How many groups.")] = 3,
    least: Annotated[int, typer.Option(help="Rows of the smallest; smaller ones are joined.")] = 0,
    column: Annotated[str, typer.Option(help="The column of the trees.")] = "tgt_parse",
) -> None:
    """Find the largest groups of pairs whose trees split alike at the root, to fine-tune translators on.

    Example: `paraloom syntax-groups parsed.parquet -o groups`
    """
    from paraloom.syntax.groups import Groups
    from paraloom.workflows.run import corpus_stages, run_verb

    stages, reference = corpus_stages(parsed)
    work = {"use": "syntax-groups", "pairs": reference, "column": column, "groups": groups, "least": least}
    run_verb([*stages, work], output)
    found = Groups.load(Path(output))
    typer.echo(f"{'group':>5} {'rows':>10} {'of all':>7}  root production")
    for group in found.groups:
        typer.echo(f"{group.group:>5} {group.rows:>10,} {group.rows / found.rows:>7.1%}  {group.name}")
    typer.echo(f"{found.rows:,} rows, {found.unparsed:,} without a tree, {found.distinct:,} root productions")


VERBS = {"parse": parse, "syntax-groups": syntax_groups}
TRAINING = {"parser": train_parser}
