"""The command that writes noisy texts in their standard form: canonicalize."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from paraloom import api
from paraloom.cli import options, paraphraser_options
from paraloom.cli.output import as_written, conclude
from paraloom.core.errors import ConfigError

_FILES = (".txt", ".jsonl", ".csv", ".tsv", ".parquet")


def canonicalize(
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|-|TEXT...",
            help="A file, a text per line, or a table: .jsonl, .csv, .tsv, .parquet; - for standard input; or texts.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where to write; a table gets further columns. Default: print.")
    ] = "-",
    text: Annotated[
        str | None, typer.Option(help="Of a table: column of the texts; a number, from 1, if it has no header.")
    ] = None,
    hold: paraphraser_options.Hold = None,
    terms: paraphraser_options.Terms = None,
    language_check: options.CheckLanguages = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each form as a line of JSON; with -o, figures as JSON.")
    ] = False,
) -> None:
    """Write noisy texts (tweets, chats, lower-cased or misspelled text) in their standard form.

    English is corrected by rules and a list of words. Numbers, links and names stay as they are. A text without words
    stays as it is, too; tables and --json say so, in the column canonical_status, with the reason.

    Example: `paraloom canonicalize "u dont need 2 tickets"`

    Example: `paraloom canonicalize tweets.csv -o standard.csv`
    """
    source = _source(texts)
    canonicalizer = api.open_canonicalizer(hold=None if hold is None else options.names(hold), terms=terms or ())
    printing = output == "-"

    def print_form(one: Any) -> None:
        typer.echo(json.dumps(one.to_dict(), ensure_ascii=False) if as_json else one.text)

    result = api.canonicalize_file(
        source,
        canonicalizer,
        output,
        text=options.column(text),
        check=api.check_english if language_check else None,
        report=print_form if printing else None,
    )
    if as_json and not printing:
        typer.echo(as_written(output, **{name: value for name, value in result.to_dict().items() if name != "output"}))
        return
    typer.echo(result.format(), err=True)
    conclude(output, rows=False)


def _source(texts: list[str]) -> str | list[str]:
    """The file that is named, or the texts."""
    if len(texts) == 1:
        (only,) = texts
        if only == "-" or Path(only).is_file():
            return only
        suffix = api.without_compression(only).suffix
        if suffix in _FILES and not any(character.isspace() for character in only):
            return only  # Reading it says that it was not found.
    if any(not text.strip() for text in texts):
        raise ConfigError("the text is empty", remedy="Give a sentence, or a file.")
    return texts


COMMANDS: options.Commands = {"canonicalize": canonicalize}
