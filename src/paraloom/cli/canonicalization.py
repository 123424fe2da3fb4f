"""The command that writes noisy texts in their standard form: canonicalize."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from paraloom import api
from paraloom.cli.declaration import Command
from paraloom.cli.output import written
from paraloom.core.errors import ConfigError

if TYPE_CHECKING:
    from paraloom.paraphrasing.spelling import CanonicalText

_FILES = (".txt", ".jsonl", ".csv", ".tsv", ".parquet")


def _canonicalize(
    texts: list[str],
    output: str = "-",
    *,
    text: str | int | None = None,
    hold: Sequence[str] | None = None,
    terms: Path | None = None,
    check_languages: bool = True,
    as_json: bool = False,
) -> None:
    """Write noisy texts (tweets, chats) in their standard form; by a model, no gain was measured so far.

    English is corrected by rules and a list of words. Numbers, links and names stay as they are. A text without words
    stays as it is, too; tables and --json say so, in the column canonical_status, with the reason.

    Args:
        texts: A file, a text per line, or a table: .jsonl, .csv, .tsv, .parquet; - for standard input; or texts.
        output: Where to write; a table gets further columns. Default: print.
        text: Of a table: column of the texts; a number, from 1, if it has no header.
        hold: What stays as it is, held by placeholders: markup, fields, links, mail, mentions, terms, numbers, names.
            Default: all.
        terms: Words and phrases that stay as they are, one on each line of a file.
        check_languages: Stop, before any work, at text that is not English.
    """
    source = _source(texts)
    canonicalizer = api.open_canonicalizer(hold=hold, terms=terms or ())
    printing = output == "-"

    def print_form(one: CanonicalText) -> None:
        typer.echo(json.dumps(one.to_dict(), ensure_ascii=False) if as_json else one.text)

    result = api.canonicalize_file(
        source,
        canonicalizer,
        output,
        text=text,
        check=api.check_english if check_languages else None,
        report=print_form if printing else None,
    )
    figures = {name: value for name, value in result.to_dict().items() if name != "output"}
    written(output, figures, result.format(), as_json=as_json and not printing, rows=False)


def _source(texts: list[str]) -> str | list[str]:
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


DECLARED = [
    Command(
        name="canonicalize",
        run=_canonicalize,
        settings={"texts": {"metavar": "FILE|-|TEXT...", "role": "input"}},
        examples=('"u dont need 2 tickets"', "tweets.csv -o standard.csv"),
        watched=True,
    )
]
