"""Commands about scores: list them, train the models that some of them need."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from paraloom import api
from paraloom.cli import options
from paraloom.cli.output import print_figures


class Units(StrEnum):
    """What the n-grams of a language model are made of."""

    words = "words"
    characters = "characters"


Columns = Annotated[str, typer.Option(help="Text columns to learn from, separated by commas.")]
Corpora = Annotated[list[str], typer.Option("--pairs", help="Pairs to learn from. Repeatable.")]


def scores_table(
    paraphrase_model: Annotated[
        str | None, typer.Option(help="Print the card of this model instead: training pairs, weights, presets.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the scores that `score --with` knows: name, unit, range, better values, description.

    Example: `paraloom scores`

    Example: `paraloom scores --paraphrase-model paraphrases-en`
    """
    if paraphrase_model is not None:
        typer.echo(api.describe_paraphrase_model(paraphrase_model), nl=False)
        return
    if as_json:
        facts = ("name", "unit", "minimum", "maximum", "direction", "description")
        rows = [{fact: getattr(row, fact) for fact in facts} for row in api.COLUMNS.values()]
        listed = [row | {"needs_model": row["name"] not in api.SCORES} for row in rows]
        typer.echo(json.dumps(listed, ensure_ascii=False))
        return
    table = Table("score", "unit", "range", "better", "description", box=None, header_style="bold")
    for row in api.COLUMNS.values():
        low, high = ("" if bound is None else f"{bound:g}" for bound in (row.minimum, row.maximum))
        mark = "" if row.name in api.SCORES else " *"
        better = "" if row.direction == "none" else row.direction
        table.add_row(row.name + mark, row.unit, f"{low}–{high}", better, row.description)
    console = Console()
    console.print(table)
    groups = ", ".join(api.GROUPS)
    console.print(f"\n* needs a model: see the options of `paraloom score`.\nGroups: {groups}")


def train_language_model(
    corpora: Corpora,
    output: options.Folder,
    columns: Columns = "src",
    order: Annotated[int, typer.Option(help="Maximum order of the n-grams; 0: 3 words or 6 characters.")] = 0,
    units: Annotated[Units, typer.Option(help="What n-grams are made of.")] = Units.words,
    smoothing: Annotated[
        str,
        typer.Option(help="kneser-ney (words, by VariKN) or witten-bell. Default: the first if VariKN is installed."),
    ] = "",
    on_error: options.OnError = options.OnErrorChoice.stop,
    as_json: options.Json = False,
) -> None:
    """Train an n-gram language model, for src_perplexity or src_character_perplexity and those of tgt.

    Example: `paraloom train language-model --pairs references.parquet --columns src --units characters -o lm`
    """
    result = api.train_language_model(
        corpora,
        output,
        columns=options.names(columns),
        order=order,
        units=units.value,
        smoothing=smoothing,
        on_error=on_error.value,
    )
    print_figures(result, "score pairs.parquet --language-model {output} -o scored.parquet", as_json)


def train_word_counts(
    corpora: Corpora,
    output: options.Folder,
    columns: Columns = "src",
    on_error: options.OnError = options.OnErrorChoice.stop,
    as_json: options.Json = False,
) -> None:
    """Count in how many sentences each word occurs, for src_idf and tgt_idf.

    Example: `paraloom train word-counts --pairs references.parquet --columns src -o counts`
    """
    result = api.train_word_counts(corpora, output, columns=options.names(columns), on_error=on_error.value)
    print_figures(result, "score pairs.parquet --word-counts {output} -o scored.parquet", as_json)


def train_paraphrase_model(
    corpora: Annotated[
        list[str], typer.Option("--pairs", help="Labeled pairs, scored: column label, 1 right, 0 wrong. Repeatable.")
    ],
    output: options.Folder,
    features: Annotated[
        str, typer.Option(help="Scores to learn from, separated by commas. Default: the bundled model's.")
    ] = "",
    fallback: Annotated[
        list[str] | None,
        typer.Option(help="Scores of a further model, for pairs that lack one of --features. Repeatable."),
    ] = None,
    l2: Annotated[float, typer.Option(help="Weight of the squared weights.")] = 1.0,
    on_error: options.OnError = options.OnErrorChoice.stop,
    as_json: options.Json = False,
) -> None:
    """Train the model behind p_paraphrase and the presets of `paraloom filter` on labeled pairs.

    Example: `paraloom train paraphrase-model --pairs labeled.parquet --features bleu1,number_mismatch -o model`
    """
    groups = [options.names(group) for group in fallback or []]
    result = api.train_paraphrase_model(
        corpora,
        output,
        features=options.names(features),
        on_error=on_error.value,
        fallbacks=groups,
        l2=l2,
    )
    print_figures(result, "filter pairs.parquet --preset strict --paraphrase-model {output} -o kept.parquet", as_json)


COMMANDS: options.Commands = {"scores": scores_table}
TRAIN: options.Commands = {
    "paraphrase-model": train_paraphrase_model,
    "language-model": train_language_model,
    "word-counts": train_word_counts,
}
