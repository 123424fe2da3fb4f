"""The command that adds paraphrases to a labeled set: augment-labels."""

from __future__ import annotations

from typing import Annotated

import typer

from paraloom import api
from paraloom.cli import options, paraphraser_options
from paraloom.cli.output import as_written, conclude, print_usage


@paraphraser_options.paraphrasing
def augment_labels(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="A labeled set: .jsonl, .csv, .tsv or .parquet, with any columns.")
    ],
    output: options.Output,
    paraphraser: paraphraser_options.ParaphraserOptions,
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
    max_new: Annotated[
        int | None, typer.Option(help="New rows in all at most; with --balance, rare labels first.")
    ] = None,
    originals: Annotated[
        bool, typer.Option("--originals/--new-only", help="Write the rows of FILE first, or new rows only.")
    ] = True,
    hold: paraphraser_options.Hold = None,
    terms: paraphraser_options.Terms = None,
    preset: Annotated[
        paraphraser_options.PresetChoice,
        typer.Option(help="What is kept of the candidates.", rich_help_panel=paraphraser_options.SELECTION),
    ] = paraphraser_options.PresetChoice.augmentation,
    meaning: paraphraser_options.Meaning = None,
    difference: paraphraser_options.Difference = None,
    candidates: paraphraser_options.Candidates = None,
    encoder: paraphraser_options.Encoder = "english",
    cross_encoder: paraphraser_options.CrossEncoder = None,
    entailment: paraphraser_options.Entailment = None,
    language_model: paraphraser_options.LanguageModel = None,
    language_check: options.CheckLanguages = True,
    on_error: options.OnError = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Add paraphrases to a labeled set of texts, with the label of the text and all its other columns.

    Near copies and other meanings are left out. The columns augmented_from (row of FILE), augmented_by,
    augmented_meaning, augmented_difference and augmented_fluency say where a row comes from.

    Example: `paraloom augment-labels train.csv -o more.csv --forward en-de --backward de-en --balance`

    Example: `paraloom augment-labels train.tsv -o more.tsv --model english --text 2 --label 1`
    """
    opened = paraphraser.opened(output)
    result = api.augment_labels(
        source,
        opened,
        output,
        text=options.column(text),
        label=options.column(label),
        n=n,
        candidates=paraphraser_options.DEFAULT_CANDIDATES if candidates is None else candidates,
        balance=balance,
        max_new=max_new,
        originals=originals,
        preset=preset.value,
        meaning=meaning,
        difference=difference,
        entailment=entailment,
        encoder=encoder,
        cross_encoder=cross_encoder,
        language_model=language_model,
        hold=None if hold is None else options.names(hold),
        terms=terms or (),
        check_languages=language_check,
        on_error=on_error.value,
        seed=seed,
    )
    print_usage(getattr(opened, "translator", None))
    if as_json:
        typer.echo(as_written(output, **{name: value for name, value in result.to_dict().items() if name != "output"}))
        return
    typer.echo(result.format())
    conclude(output, rows=False)


COMMANDS: options.Commands = {"augment-labels": augment_labels}
