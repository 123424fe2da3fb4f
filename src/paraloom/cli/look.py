"""Commands to look around: models, which it also fetches and removes, and head."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraloom import api
from paraloom.cli.declaration import Command
from paraloom.core.progress import format_bytes

if TYPE_CHECKING:
    from paraloom.api.first_rows import Preview
    from paraloom.api.models import ModelSummary


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


def _show_fetched(model: ModelSummary, values: Mapping[str, object]) -> None:
    typer.echo(json.dumps(model.to_dict(), ensure_ascii=False) if values["as_json"] else model.format())
    named = model.name + ("" if " → " in model.languages or "?" in model.name else "?from=de&to=en")
    typer.echo(f"\nUse it: --translator {shlex.quote(named)}", err=True)


def _show_removed(model: ModelSummary, values: Mapping[str, object]) -> None:
    if values["as_json"]:
        typer.echo(json.dumps(model.to_dict(), ensure_ascii=False))
        return
    typer.echo(f"paraloom: removed {model.folder}, {format_bytes(model.size)}; `hf cache ls` shows downloads", err=True)


def _head(path: str | Path, rows: int = 5, *, everything: bool = False) -> Preview:
    """Read the first rows.

    Args:
        path: Pairs, variants, links, vectors, text, PREFIX.{de,en}; or the folder of a corpus, run or model.
        rows: How many rows.
        everything: Of pairs all columns, not both sides and two scores alone.
    """
    return api.preview(path, rows)


def _show_rows(shown: Preview, values: Mapping[str, Any]) -> None:
    if values["as_json"]:
        typer.echo(json.dumps(shown.to_dict(), ensure_ascii=False))
        return
    typer.echo(shown.format(everything=values["everything"]))
    if not shown.about:
        typer.echo(f"\n{shown.count} in {shown.path}", err=True)


DECLARED = [
    Command(name="models list", run=_models, settings={"name": {"metavar": "[MODEL]"}}, examples=("", "de-en")),
    Command(
        name="models fetch",
        of="fetch_model",
        settings={"name": {"metavar": "MODEL"}},
        show=_show_fetched,
        examples=("opus-mt-de-en", "'nllb-600m?from=de&to=en'"),
    ),
    Command(
        name="models remove",
        of="remove_model",
        settings={"name": {"metavar": "MODEL", "complete": "complete_translator"}},
        show=_show_removed,
        examples=("opus-mt-de-en",),
    ),
    Command(
        name="head",
        of="paraloom.cli.look:_head",
        flags={"rows": "--rows -n", "everything": "--all"},
        settings={"path": {"metavar": "FILE"}, "rows": {"low": 1}},
        show=_show_rows,
        help="Print the first rows of a file, corpus or run.",
        examples=("scored.parquet -n 3",),
    ),
]
