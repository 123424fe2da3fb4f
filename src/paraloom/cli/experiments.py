"""Commands that reproduce the papers: reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import paraloom.experiments as papers
from paraloom.cli import options


def reproduce(
    tables: Annotated[
        list[str],
        typer.Argument(
            help="Names of tables, such as w17-5, pnmt-1 or park17-2; 'all': those that --pairs or --loop allow."
        ),
    ],
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=PAIRS: back-translated pairs of one source. Repeatable; filters are tuned on the first."
        ),
    ] = None,
    sts: Annotated[Path | None, typer.Option(help="A folder of similarity tasks.")] = None,
    loop: Annotated[Path | None, typer.Option(help="A run of `selftrain`, for the tables of PARK17.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the runs.")] = Path("runs/reproduce"),
    encoder: Annotated[str | None, typer.Option(help="For the paraphrase score; default: the bundled one.")] = None,
    parser: Annotated[str | None, typer.Option(help="For the entropy of parses: a folder of `train parser`.")] = None,
    size: Annotated[int, typer.Option(help="Pairs of each selection.")] = 24_000,
    epochs: Annotated[int, typer.Option(help="Maximum number of passes; the best one counts.")] = 10,
    seeds: Annotated[int, typer.Option(help="Samples of the random selection and of the best one.")] = 5,
    workers: options.Workers = None,
    seed: options.Seed = 1,
) -> None:
    """Make the papers' tables from your own pairs, next to the published figures; if stopped, run it again to resume.

    Example: `paraloom reproduce w17-9 pnmt-1 --pairs news=scored.parquet --sts data/sts -o runs/reproduce`
    """
    sources = {}
    for text in pairs or []:
        name, sign, path = text.partition("=")
        sources[name if sign else Path(text).name.partition(".")[0]] = path if sign else text
    reproduced = papers.reproduce_tables(
        tables,
        pairs=sources,
        sts=sts,
        loop=loop,
        folder=output,
        encoder=encoder,
        parser=parser,
        size=size,
        epochs=epochs,
        seeds=seeds,
        workers=workers,
        seed=seed,
    )
    for table in reproduced:
        typer.echo(table.format())


COMMANDS: options.Commands = {"reproduce": reproduce}
