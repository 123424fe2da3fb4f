"""The verb about the stages of pipelines: which there are, and what each is configured by."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal, get_args, get_origin, get_type_hints

import typer

if TYPE_CHECKING:
    from paraloom.core.stage import Stage

_SAYS_KIND = "reads: files into a corpus.  maps: a corpus, its `input`, row by row.  makes: an artifact out of corpora."


def stages(
    name: Annotated[str | None, typer.Argument(metavar="STAGE", help="Say what it does, and its keys.")] = None,
) -> None:
    """List the stages that a pipeline may `use`, or say what one of them does and which keys it has.

    Example: `paraloom stages train-translator`
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from paraloom.core.stage import Map
    from paraloom.pipeline.registry import STAGES, load_stage

    console = Console(highlight=False)
    if name is None:
        table = Table("stage", "", "what it does", box=None, header_style="bold")
        for use in STAGES:
            stage = load_stage(use)
            table.add_row(use, _kind(stage), escape(next(_paragraphs(stage))))
        console.print(table)
        console.print(f"\n{_SAYS_KIND}\nThe keys of one: paraloom stages STAGE.", markup=False)
        return
    stage = load_stage(name)
    console.print(f"{name} ({_kind(stage)})\n", style="bold", markup=False)
    for paragraph in _paragraphs(stage):
        console.print(f"{paragraph}\n", markup=False)
    table = Table("key", "type", "default", box=None, header_style="bold")
    table.add_row("name", "str", name)
    if issubclass(stage, Map):
        table.add_row("input", "stage or path", "the stage before")
    for field in dataclasses.fields(stage):
        table.add_row(field.name, escape(_type(stage, field)), escape(_default(field)))
    console.print(table)


def _kind(stage: type[Stage]) -> str:
    from paraloom.core.stage import Map, Source

    return "reads" if issubclass(stage, Source) else "maps" if issubclass(stage, Map) else "makes"


def _paragraphs(stage: type[Stage]) -> Iterator[str]:
    """What the class says of itself and of the keys that it inherits, those of all stages left out."""
    for each in stage.__mro__:
        if dataclasses.is_dataclass(each) and each.__module__ != "paraloom.core.stage":
            for paragraph in (inspect.getdoc(each) or "").split("\n\n"):
                yield " ".join(paragraph.split())


def _type(stage: type[Stage], field: dataclasses.Field[object]) -> str:
    """As a TOML file has it; of what names another stage, that."""
    hint = get_type_hints(stage)[field.name]
    if get_origin(hint) is Literal:
        return " | ".join(json.dumps(value) for value in get_args(hint))
    written = re.sub(r"tuple\[(.*), \.\.\.\]", r"list of \1", str(field.type)).replace(" | None", "")
    return re.sub(r"\bstr\b", "stage or path", written) if field.name in stage.inputs else written


def _default(field: dataclasses.Field[object]) -> str:
    if field.default is not dataclasses.MISSING:
        return "" if field.default is None else json.dumps(field.default)
    return "needed" if field.default_factory is dataclasses.MISSING else repr(field.default_factory())


VERBS = {"stages": stages}
