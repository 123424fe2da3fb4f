"""The verb that makes the papers' tables anew: reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options


def reproduce(
    tables: Annotated[list[str], typer.Argument(help="Names of tables, such as w17-5 or pnmt-1, or 'all'.")],
    pairs: Annotated[
        list[str],
        typer.Option(
            help="NAME=PAIRS: back-translated pairs of one source. Repeatable; filters are tried on the first."
        ),
    ],
    sts: Annotated[Path, typer.Option(help="A folder of similarity tasks.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the runs.")] = Path("runs/reproduce"),
    encoder: Annotated[str | None, typer.Option(help="For the paraphrase score; default: the bundled one.")] = None,
    parser: Annotated[str | None, typer.Option(help="For the entropy of parses: a folder by `train parser`.")] = None,
    size: Annotated[int, typer.Option(help="Pairs of each selection.")] = 24_000,
    epochs: Annotated[int, typer.Option(help="Passes at most; the best one counts.")] = 10,
    seeds: Annotated[int, typer.Option(help="Draws of the random selection and of the best one.")] = 5,
    workers: options.Workers = None,
    seed: options.Seed = 1,
) -> None:
    """Make the papers' tables from your own pairs, each beside the published figures; stopped, it goes on.

    Example: `paraloom reproduce w17-9 pnmt-1 --pairs news=scored.parquet --sts data/sts -o runs/reproduce`
    """
    from paraloom.core.io.atomic import replacing
    from paraloom.recipes.reproduce import TABLES, reproduce
    from paraloom.recipes.study import Study

    sources = {}
    for named in pairs:
        name, sign, path = named.partition("=")
        sources[name if sign else Path(named).name.partition(".")[0]] = path if sign else named
    study = Study(
        sources=sources,
        sts=str(sts),
        folder=output,
        parser=parser,
        size=size,
        epochs=epochs,
        seeds=seeds,
        workers=workers,
        seed=seed,
        **({} if encoder is None else {"encoder": encoder}),
    )
    for table in reproduce(study, list(TABLES) if "all" in tables else tables):
        page = table.markdown()
        with replacing(output / f"{table.name}.md") as temporary:
            temporary.write_text(page, encoding="utf-8")
        typer.echo(page)


VERBS = {"reproduce": reproduce}
