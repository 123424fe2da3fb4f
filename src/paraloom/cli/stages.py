"""The command `paraloom stages`: which stages a pipeline can have, and what each key of a stage means."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from paraloom import api
from paraloom.cli.declaration import Command

_KINDS = "source: files → corpus.  map: corpus → corpus, row by row.  fit: corpora → model or result."


def _stages(name: str | None = None, *, as_json: bool = False) -> None:
    """List the stages that a pipeline can have, or describe one of them and each of its keys.

    Args:
        name: Describe this stage and its keys.
    """
    if as_json:
        described = [api.describe_stage(name)] if name is not None else api.describe_stages()
        typer.echo(json.dumps([_as_dict(stage) for stage in described], ensure_ascii=False))
        return
    console = Console(highlight=False)
    if name is not None:
        _describe(name, console)
        return
    table = Table("stage", "kind", "what it does", box=None, header_style="bold")
    for stage in api.describe_stages():
        table.add_row(stage.use, stage.kind, Text(_plain(stage.docstring.paragraphs[0])))
    console.print(table)
    console.print(f"\n{_KINDS}\n`paraloom stages STAGE` describes the keys of one.", markup=False)


def _describe(name: str, console: Console) -> None:
    stage = api.describe_stage(name)
    console.print(Text(f"{stage.use} ({stage.kind}; in Python: paraloom.stages.{stage.name})", style="bold"))
    for paragraph in stage.docstring.paragraphs:
        if not paragraph.startswith("For the other fields see"):
            console.print(Text(f"\n{_plain(paragraph)}"))
    console.print(Text("\nKeys", style="bold"))
    for key in stage.keys:
        default = key.default if key.default in ("required", "optional") else f"default {key.default}"
        console.print(
            Padding(Text.assemble((key.name, "bold"), f": {key.type}; {default}"), (0, 0, 0, 2), expand=False)
        )
        console.print(Padding(Text(_plain(key.description)), (0, 0, 0, 6), expand=False))
    if reference := stage.docstring.sections.get("Reference"):
        console.print(Text("\nReference", style="bold"))
        console.print(Padding(Text(_plain(reference)), (0, 0, 0, 2), expand=False))


def _as_dict(stage: api.StageDescription) -> dict[str, object]:
    return {
        "use": stage.use,
        "kind": stage.kind,
        "name": stage.name,
        "keys": [asdict(key) for key in stage.keys],
        "description": [_plain(paragraph) for paragraph in stage.docstring.paragraphs],
    }


def _plain(text: str) -> str:
    """Text without the roles of reStructuredText."""
    return re.sub(r":(?:class|func|mod):`~?([^`]+)`", r"`\1`", text)


DECLARED = [
    Command(
        name="stages",
        run=_stages,
        settings={"name": {"metavar": "[STAGE]", "complete": "complete_stage"}},
        examples=("train-translator",),
    )
]
