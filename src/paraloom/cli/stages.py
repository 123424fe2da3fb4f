"""The command `paraloom stages`: which stages a pipeline can have, and what each key of a stage means."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated

import typer

from paraloom.cli import options

if TYPE_CHECKING:
    from paraloom.core.stage import Stage

_KINDS = "source: files → corpus.  map: corpus → corpus, row by row.  fit: corpora → model or result."
_GENERAL = ("name", "input", "shard_rows")  # keys of all stages of a kind: printed last


def stages(
    name: Annotated[str | None, typer.Argument(metavar="STAGE", help="Describe this stage and its keys.")] = None,
) -> None:
    """List the stages that a pipeline can have, or describe one of them and each of its keys.

    Example: `paraloom stages train-translator`
    """
    if name is None:
        _list_stages()
    else:
        _describe_stage(name)


COMMANDS: options.Commands = {"stages": stages}


def _list_stages() -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from paraloom.pipeline.registry import STAGES, load_stage
    from paraloom.pipeline.stage_docs import parse_docstring

    console = Console(highlight=False)
    table = Table("stage", "kind", "what it does", box=None, header_style="bold")
    for use in STAGES:
        stage = load_stage(use)
        table.add_row(use, _kind(stage), escape(parse_docstring(stage.__doc__ or "").paragraphs[0]))
    console.print(table)
    console.print(f"\n{_KINDS}\nparaloom stages STAGE describes the keys of one.", markup=False)


def _describe_stage(name: str) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from paraloom.pipeline.registry import load_stage
    from paraloom.pipeline.stage_docs import describe_fields, parse_docstring

    stage = load_stage(name)
    docstring = parse_docstring(stage.__doc__ or "")
    console = Console(highlight=False)
    console.print(Text(f"{name} ({_kind(stage)}, paraloom.stages.{stage.__name__})", style="bold"))
    for paragraph in docstring.paragraphs:
        console.print(Text(f"\n{paragraph}"))
    console.print(Text("\nKeys", style="bold"))
    descriptions = describe_fields(stage)
    for field in sorted(dataclasses.fields(stage), key=lambda field: field.name in _GENERAL):
        line = Text.assemble((field.name, "bold"), f": {_type(stage, field)}; {_default(field, name)}")
        console.print(Padding(line, (0, 0, 0, 2), expand=False))
        console.print(Padding(Text(_plain(descriptions[field.name])), (0, 0, 0, 6), expand=False))
    for title in ("Reference", "Example"):
        if title in docstring.sections:
            console.print(Text(f"\n{title}", style="bold"))
            console.print(Padding(Text(_plain(docstring.sections[title])), (0, 0, 0, 2), expand=False))


def _kind(stage: type[Stage]) -> str:
    from paraloom.core.stage import Map, Source

    return "source" if issubclass(stage, Source) else "map" if issubclass(stage, Map) else "fit"


def _type(stage: type[Stage], field: dataclasses.Field[object]) -> str:
    from paraloom.core.config import describe_type, type_hints

    return describe_type(type_hints(stage)[field.name])


def _default(field: dataclasses.Field[object], name: str) -> str:
    if field.name == "name":
        return f"default {json.dumps(name)}"
    if field.default_factory is not dataclasses.MISSING:
        return f"default {json.dumps(field.default_factory())}"
    if field.default is dataclasses.MISSING:
        return "required"
    return "optional" if field.default is None else f"default {json.dumps(field.default, ensure_ascii=False)}"


def _plain(text: str) -> str:
    """Text without the roles of reStructuredText."""
    return text.replace(":class:", "").replace(":func:", "").replace(":mod:", "").replace("`~", "`")
