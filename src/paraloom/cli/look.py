"""Commands to look around: models, head."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from paraloom import api
from paraloom.cli.declaration import Command

if TYPE_CHECKING:
    from paraloom.api.first_rows import Preview


def _models(name: str | None = None, *, as_json: bool = False) -> None:
    """List the bundled and cached models: kind, languages, size, license, measured quality, what they are not for.

    Their names work wherever a translator or an encoder is asked for.

    Args:
        name: Describe only this one: a name or a folder.
    """
    listed = [api.find_model(name)] if name is not None else api.list_models()
    if as_json:
        typer.echo(json.dumps([model.to_dict() for model in listed], ensure_ascii=False))
        return
    typer.echo("\n\n".join(model.format() for model in listed))


def _show_rows(shown: Preview, values: Mapping[str, Any]) -> None:
    if values["as_json"]:
        typer.echo(json.dumps(shown.to_dict(), ensure_ascii=False))
        return
    typer.echo(shown.format())
    if not shown.about:
        typer.echo(f"\n{shown.count} in {shown.path}", err=True)


DECLARED = [
    Command(name="models", run=_models, settings={"name": {"metavar": "[MODEL]"}}, examples=("",)),
    Command(
        name="head",
        of="preview",
        flags={"rows": "--rows -n"},
        settings={"path": {"metavar": "FILE"}, "rows": {"default": 5, "low": 1}},
        show=_show_rows,
        help="Print the first rows of what a command reads or writes: sentences under each other, with their scores.",
        examples=("scored.parquet -n 3",),
    ),
]
