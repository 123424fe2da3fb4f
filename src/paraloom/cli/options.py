"""Options that several verbs share, said once."""

from __future__ import annotations

from typing import Annotated

import typer

Output = Annotated[str, typer.Option("--output", "-o", help="Where the result goes; the suffix decides the format.")]
Folder = Annotated[str, typer.Option("--output", "-o", help="The folder to make.")]
Seed = Annotated[int, typer.Option(help="Seed of every random choice.")]
Workers = Annotated[int | None, typer.Option(help="Processes; default: one a core. The result is the same.")]
Engine = Annotated[str, typer.Option(help="local, or ray (pip install 'paraloom[cluster]').")]
OnError = Annotated[str, typer.Option(help="stop at a row that cannot be taken, or reject it and go on.")]
SrcLang = Annotated[str | None, typer.Option(help="Language of the source side, such as de.")]
TgtLang = Annotated[str | None, typer.Option(help="Language of the target side, such as en.")]
SrcColumn = Annotated[str | None, typer.Option(help="Source column of a table: a name, or a number from 1.")]
TgtColumn = Annotated[str | None, typer.Option(help="Target column of a table: a name, or a number from 1.")]
Json = Annotated[bool, typer.Option("--json", help="Print figures as JSON.")]


def column(value: str | None) -> str | int | None:
    """A column as given on the command line: digits are a number.

    >>> column("3"), column("german")
    (3, 'german')
    """
    return int(value) if value is not None and value.isdigit() else value
