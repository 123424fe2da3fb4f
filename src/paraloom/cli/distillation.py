"""Commands that distill a large encoder: a small encoder, word vectors."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import typer

from paraloom.cli.declaration import Command
from paraloom.cli.output import as_written, conclude

_TEACHER = {"metavar": "TEACHER", "role": "input"}


def _show_words(result: Any, values: Mapping[str, Any]) -> None:
    vectors, count = f"{values['output']}/vectors.txt.gz", result.stages[-1].figures["words"]
    if values["as_json"]:
        typer.echo(as_written(vectors, words=count))
        return
    typer.echo(f"{count:,} vectors in {vectors}")
    training = f"train encoder --pairs pairs.parquet --vectors {shlex.quote(str(values['output']))} -o encoder"
    conclude(vectors, training, counted=True)


DECLARED = [
    Command(
        name="distill encoder",
        of="distill_encoder",
        stage="distill-transformer",
        keys="layers width vocab_size",
        everyday="network steps sts lang device seed as_json",
        settings={
            "teacher": _TEACHER,
            "layers": {"help": "Of a transformer: layers. Default: 2."},
            "width": {"help": "Of a transformer: width. Default: 256."},
            "vocab_size": {"help": "Of a transformer: frequent tokens of the teacher's to keep. Default: all."},
        },
        device=True,
        then="search {output} sentences.txt",
        help="Train a small, fast encoder to give sentences the similarities of a large one; no labels needed.\n\n"
        "An average starts from the large encoder's vectors of single words, a transformer from its token embeddings.",
        examples=(
            "sentence-transformers/all-MiniLM-L6-v2 news.txt.gz -o student",
            "all-MiniLM-L6-v2/ news.txt.gz --network transformer --sts data/sts -o student",
        ),
        watched=True,
    ),
    Command(
        name="distill words",
        of="distill_words",
        settings={"teacher": _TEACHER},
        device=True,
        show=_show_words,
        help="Make word vectors with a sentence encoder: a folder for `train encoder --vectors`.",
        examples=("sentence-transformers/all-MiniLM-L6-v2 words.txt -o vectors",),
        watched=True,
    ),
]
