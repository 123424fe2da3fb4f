"""The command that adds paraphrases to a labeled set: augment-labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from paraloom.cli.declaration import Command
from paraloom.cli.output import as_written, conclude

if TYPE_CHECKING:
    from paraloom.api.label_augmentation import LabelAugmentation


def _show(result: LabelAugmentation, values: Mapping[str, Any]) -> None:
    output = values["output"]
    if values["as_json"]:
        typer.echo(as_written(output, **{name: value for name, value in result.to_dict().items() if name != "output"}))
        return
    typer.echo(result.format())
    conclude(output, rows=False)


DECLARED = [
    Command(
        name="augment-labels",
        of="augment_labels",
        flags={"paraphraser": "--paraphraser", "n": "-n --variants", "selection": "--preset"},
        settings={
            "source": {"metavar": "FILE", "help": "A labeled set: .jsonl, .csv, .tsv or .parquet, with any columns."},
            "output": {"help": "Where to write; the suffix decides the format."},
            "selection": {
                "kind": "choice",
                "choices": ("strict", "balanced", "loose"),
                "help": "What is kept of the candidates.",
            },
            "encoder": {"help": "Encoder that measures meaning, by name or folder; none: meaning is not measured."},
        },
        everyday="paraphraser text label n balance selection encoder as_json",
        show=_show,
        help="Add paraphrases to a labeled set, with the label of the text: for research, no classifier gained from it."
        "\n\nNear copies and other meanings are left out. The columns augmented_from (row of FILE), augmented_by, "
        "augmented_meaning, augmented_difference and augmented_fluency say where a row comes from.",
        examples=(
            "train.csv -o more.csv --paraphraser round-trip:en-de,de-en --balance",
            "train.tsv -o more.tsv --paraphraser english --text 2 --label 1",
        ),
        watched=True,
    )
]
