"""Commands to look around: models, head."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from paraloom import api
from paraloom.cli import options


def models(
    name: Annotated[
        str | None, typer.Argument(metavar="MODEL", help="Describe only this one: a name or a folder.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the bundled and cached models: kind, languages, size, license, measured quality, what they are not for.

    Their names work wherever a translator or an encoder is asked for.

    Example: `paraloom models`
    """
    listed = [api.find_model(name)] if name is not None else api.list_models()
    if as_json:
        typer.echo(json.dumps([model.to_dict() for model in listed], ensure_ascii=False))
        return
    typer.echo("\n\n".join(model.format() for model in listed))


def head(
    file: Annotated[
        str,
        typer.Argument(
            help="Pairs, variants, links, vectors, text, PREFIX.{de,en}; or the folder of a corpus, run or model."
        ),
    ],
    rows: Annotated[int, typer.Option("--rows", "-n", min=1, help="How many rows.")] = 5,
    as_json: options.Json = False,
) -> None:
    """Print the first rows of what a command reads or writes: sentences under each other, with their scores.

    Example: `paraloom head scored.parquet -n 3`
    """
    shown = api.preview(file, rows)
    if as_json:
        typer.echo(json.dumps(shown.to_dict(), ensure_ascii=False))
        return
    typer.echo(shown.format())
    if not shown.about:
        typer.echo(f"\n{shown.count} in {shown.path}", err=True)


COMMANDS: options.Commands = {"models": models, "head": head}
