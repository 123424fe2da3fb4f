"""Options of `canonicalize` and `augment-labels`, until they are derived from the functions that they call."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import completion


class PresetChoice(StrEnum):
    """What is kept of candidates."""

    strict = "strict"
    balanced = "balanced"
    loose = "loose"


Paraphraser = Annotated[
    str,
    typer.Option(
        help="english, a folder of `train paraphraser`, round-trip:en-de,de-en,pivots=3, or an endpoint's address.",
        autocompletion=completion.complete_paraphraser,
    ),
]
Encoder = Annotated[
    str,
    typer.Option(help="Encoder of the cosine; none: do not measure it.", autocompletion=completion.complete_encoder),
]
Hold = Annotated[
    str | None,
    typer.Option(
        help="What stays as it is, held by placeholders: markup, fields, links, mail, mentions, terms, numbers, names, "
        "separated by commas. "
        "Default: all; for German, all but names."
    ),
]
Terms = Annotated[
    Path | None, typer.Option(help="Words and phrases that stay as they are, one on each line of a file.")
]
