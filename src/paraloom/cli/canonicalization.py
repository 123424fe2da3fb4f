"""The command that writes noisy texts in their standard form: canonicalize."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from paraloom import api
from paraloom.cli import completion, options, paraphraser_options
from paraloom.cli.output import as_written, conclude
from paraloom.core.errors import ConfigError

CANDIDATES, ENCODER = 5, "english"
_FILES = (".txt", ".jsonl", ".csv", ".tsv", ".parquet")


def canonicalize(
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|-|TEXT...",
            help="A file, a text per line, or a table: .jsonl, .csv, .tsv, .parquet; - for standard input; or texts.",
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help="Also a paraphraser: english, or a folder of `train paraphraser`, trained with --noisy-share.",
            autocompletion=completion.complete_paraphraser,
        ),
    ] = None,
    rules: Annotated[
        bool, typer.Option("--rules/--no-rules", help="English: rules and a list of words first, or the model alone.")
    ] = True,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where to write; a table gets further columns. Default: print.")
    ] = "-",
    text: Annotated[
        str | None, typer.Option(help="Of a table: column of the texts; a number, from 1, if it has no header.")
    ] = None,
    hold: paraphraser_options.Hold = None,
    terms: paraphraser_options.Terms = None,
    meaning: Annotated[
        float | None,
        typer.Option(
            help="Minimum cosine to the text, 0 to 1. Default: 0.6.", rich_help_panel=paraphraser_options.SELECTION
        ),
    ] = None,
    candidates: Annotated[
        int,
        typer.Option(help="Candidates of each text to choose from.", rich_help_panel=paraphraser_options.SELECTION),
    ] = CANDIDATES,
    encoder: paraphraser_options.Encoder = ENCODER,
    language_model: paraphraser_options.LanguageModel = None,
    decode: paraphraser_options.Decode = None,
    device: options.Device = None,
    language_check: options.CheckLanguages = True,
    seed: options.Seed = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each form as a line of JSON; with -o, figures as JSON.")
    ] = False,
) -> None:
    """Write noisy texts (tweets, chats, lower-cased or misspelled text) in their standard form.

    English is corrected by rules and a list of words; with --model, a paraphraser may change what is left, such as
    unknown words. Numbers, links and names stay as they are. A text of which no candidate is safe stays as it is, too;
    tables and --json say so, in the column canonical_status, with the reason, and all are counted at the end.

    Example: `paraloom canonicalize "u dont need 2 tickets"`

    Example: `paraloom canonicalize tweets.csv --model english -o standard.csv`
    """
    if model is None:
        _refuse_settings(
            meaning=meaning is not None,
            candidates=candidates != CANDIDATES,
            language_model=language_model is not None,
            decode=decode is not None,
            encoder=encoder != ENCODER,
        )
    used = api.use_device(device)
    source = _source(texts)
    on = None if used is None else str(used)
    paraphraser = None if model is None else api.Paraphraser.load(model, device=on)
    canonicalizer = api.open_canonicalizer(
        paraphraser,
        rules=rules,
        encoder=encoder,
        meaning=meaning,
        language_model=language_model,
        hold=None if hold is None else options.names(hold),
        terms=terms or (),
        candidates=candidates,
    )
    check = api.check_english if paraphraser is None else paraphraser.check_language
    printing = output == "-"

    def print_form(one: Any) -> None:
        typer.echo(json.dumps(one.to_dict(), ensure_ascii=False) if as_json else one.text)

    result = api.canonicalize_file(
        source,
        canonicalizer,
        output,
        text=options.column(text),
        check=check if language_check else None,
        report=print_form if printing else None,
        decode=decode,
        seed=seed,
    )
    if as_json and not printing:
        typer.echo(as_written(output, **{name: value for name, value in result.to_dict().items() if name != "output"}))
        return
    typer.echo(result.format(), err=True)
    conclude(output, rows=False)


def _refuse_settings(**given: bool) -> None:
    """Raise ConfigError if one of the settings of a model is given without one."""
    for name, is_given in given.items():
        if is_given:
            option = f"--{name.replace('_', '-')}"
            raise ConfigError(
                f"{option} is for the candidates of a model, and has no effect on rules",
                remedy=f"Name a model, such as --model english, or leave {option} out.",
            )


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
