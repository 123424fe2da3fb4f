"""Commands about scores: list them, train the models that some of them need."""

from __future__ import annotations

import json

import typer
from rich.console import Console
from rich.table import Table

from paraloom import api
from paraloom.cli.declaration import Command


def _scores(*, paraphrase_model: str | None = None, as_json: bool = False) -> None:
    """List the scores that `score --with` knows: name, unit, range, better values, description.

    Args:
        paraphrase_model: Print the card of this model instead: training pairs, weights, presets.
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


DECLARED = [
    Command(name="scores", run=_scores, examples=("", "--paraphrase-model paraphrases-en")),
    Command(
        name="train paraphrase-model",
        of="train_paraphrase_model",
        flags={"pairs": "--pairs"},
        then="filter pairs.parquet --preset 'strict?model={output}' -o kept.parquet",
        examples=("--pairs labeled.parquet --features bleu1,number_mismatch -o model",),
        watched=True,
    ),
    Command(
        name="train judge",
        of="train_judge",
        stage="train-judge",
        keys="layers epochs vocab_size batch_size learning_rate",
        flags={"pairs": "--pairs"},
        then="score pairs.parquet --judge {output} -o scored.parquet",
        help="Train a judge of meaning on labeled pairs, for the score `judge`; if stopped, run it again to resume.",
        examples=("--pairs labeled.parquet --base all-MiniLM-L6-v2 -o judge",),
        watched=True,
    ),
    Command(
        name="train language-model",
        of="train_language_model",
        flags={"pairs": "--pairs"},
        then="score pairs.parquet --language-model {output} -o scored.parquet",
        examples=("--pairs references.parquet --columns src --units characters -o lm",),
        watched=True,
    ),
    Command(
        name="train word-counts",
        of="train_word_counts",
        flags={"pairs": "--pairs"},
        then="score pairs.parquet --word-counts {output} -o scored.parquet",
        examples=("--pairs references.parquet --columns src -o counts",),
        watched=True,
    ),
]
