"""The verb that makes the papers' tables anew: reproduce."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options


def reproduce(
    tables: Annotated[
        list[str],
        typer.Argument(
            help="Names of tables, such as w17-5, pnmt-1 or park17-2; 'all': each that --pairs or --loop allow."
        ),
    ],
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=PAIRS: back-translated pairs of one source. Repeatable; filters are tried on the first."
        ),
    ] = None,
    sts: Annotated[Path | None, typer.Option(help="A folder of similarity tasks.")] = None,
    loop: Annotated[Path | None, typer.Option(help="A run of `selftrain`, for the tables of PARK17.")] = None,
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
    from paraloom.experiments.loop_tables import TABLES as LOOP_TABLES
    from paraloom.experiments.loop_tables import reproduce_loop
    from paraloom.experiments.reproduce import TABLES, check_names, reproduce
    from paraloom.experiments.study import Study
    from paraloom.io.atomic import atomic_write

    if "all" in tables:
        tables = [*(TABLES if pairs else ()), *(LOOP_TABLES if loop else ())]
        if not tables:
            raise typer.BadParameter("'all' is made from pairs or from a run of the loop", param_hint="--pairs, --loop")
    check_names(tables)
    ours = [name for name in tables if name in LOOP_TABLES]
    if ours and loop is None:
        raise typer.BadParameter(f"'{ours[0]}' is made from a run of `selftrain`", param_hint="--loop")
    others = [name for name in tables if name not in LOOP_TABLES]
    if others and (not pairs or sts is None):
        raise typer.BadParameter(f"'{others[0]}' needs both", param_hint="--pairs, --sts")
    sources = {}
    for named in pairs or []:
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
    made = chain(
        (reproduce_loop(loop, name) for name in ours if loop is not None), reproduce(study, others) if others else ()
    )
    output.mkdir(parents=True, exist_ok=True)
    for table in made:
        page = table.markdown()
        with atomic_write(output / f"{table.name}.md") as temporary:
            temporary.write_text(page, encoding="utf-8")
        typer.echo(page)


VERBS = {"reproduce": reproduce}
