"""The command that adds paraphrases to a labeled set: augment-labels."""

from __future__ import annotations

from typing import Annotated

import typer

from paraloom import api
from paraloom.cli import options, paraphraser_options
from paraloom.cli.output import as_written, conclude


def augment_labels(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="A labeled set: .jsonl, .csv, .tsv or .parquet, with any columns.")
    ],
    output: options.Output,
    paraphraser: paraphraser_options.Paraphraser = "english",
    text: Annotated[
        str | None,
        typer.Option(help="Column of the texts. Default: text, sentence, question … Of a table without a header: 2."),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="Column of the labels. Default: label, class, intent … Of a table without a header: 1."),
    ] = None,
    n: Annotated[int, typer.Option("-n", "--variants", help="New rows from each row at most.")] = 1,
    balance: Annotated[bool, typer.Option("--balance", help="Fill up the labels to the commonest one.")] = False,
    preset: Annotated[
        paraphraser_options.PresetChoice, typer.Option(help="What is kept of the candidates.")
    ] = paraphraser_options.PresetChoice.balanced,
    encoder: paraphraser_options.Encoder = "english",
    language_check: options.CheckLanguages = True,
    on_error: options.OnError = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Add paraphrases to a labeled set, with the label of the text: for research, no classifier gained from it.

    Near copies and other meanings are left out. The columns augmented_from (row of FILE), augmented_by,
    augmented_meaning, augmented_difference and augmented_fluency say where a row comes from.

    Example: `paraloom augment-labels train.csv -o more.csv --paraphraser round-trip:en-de,de-en --balance`

    Example: `paraloom augment-labels train.tsv -o more.tsv --paraphraser english --text 2 --label 1`
    """
    result = api.augment_labels(
        source,
        api.open_paraphraser(paraphraser),
        output,
        text=options.column(text),
        label=options.column(label),
        n=n,
        balance=balance,
        selection=preset.value,
        encoder=encoder,
        check_languages=language_check,
        on_error=on_error.value,
        seed=seed,
    )
    if as_json:
        typer.echo(as_written(output, **{name: value for name, value in result.to_dict().items() if name != "output"}))
        return
    typer.echo(result.format())
    conclude(output, rows=False)


COMMANDS: options.Commands = {"augment-labels": augment_labels}
