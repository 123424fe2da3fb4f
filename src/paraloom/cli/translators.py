"""Commands about translators: train translator, translate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from paraloom import api
from paraloom.cli.declaration import Command
from paraloom.cli.output import as_written, conclude


def _show_translations(count: int, values: Mapping[str, Any]) -> None:
    output = values["output"]
    if values["json_lines"] and output != "-":
        typer.echo(as_written(output, lines=count))
        return
    table = api.without_compression(output).suffix in api.READERS
    conclude(output, "" if table else "evaluate translation {output} references.txt")


DECLARED = [
    Command(
        name="translate",
        of="translate_file",
        flags={"check_languages": "--language-check/--no-language-check", "json_lines": "--json"},
        settings={
            "source": {"default": "-", "help": "A sentence per line; - is standard input."},
            "output": {"default": "-"},
            "json_lines": {"help": "Print figures as JSON; without -o, each translation as a line of JSON."},
        },
        device=True,
        show=_show_translations,
        help="Translate lines of text.",
        examples=(
            "de-en sentences.txt",
            "'facebook/nllb-200-distilled-600M?from=cs&to=en' news.cs -o news.en",
            "'http://127.0.0.1:8000/v1?model=qwen3&from=de&to=en' news.de -o news.en",
        ),
        watched=True,
    ),
    Command(
        name="train translator",
        of="train_translator",
        stage="train-translator",
        keys="steps vocab_size device training_precision accumulate title license",
        everyday="bitext development test steps vocab_size src_lang tgt_lang seed as_json",
        flags={"bitext": "--bitext", "development": "--dev"},
        then="translate {output} sentences.txt",
        help="Train a translator from scratch; if stopped, run it again to resume.",
        examples=(
            "--bitext 'train.{cs,en}' --dev 'val.{cs,en}' -o cs-en",
            "--bitext 'train.{cs,en}' --device cuda:0,1 --accumulate 4 -o cs-en",
        ),
        watched=True,
    ),
]
