"""Commands about translators: train translator, translate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from paraloom import api
from paraloom.cli.declaration import Command
from paraloom.cli.output import as_written, conclude
from paraloom.core.errors import ConfigError


def _show_translations(count: int, values: Mapping[str, Any]) -> None:
    output = values["output"]
    if values["json_lines"] and output != "-":
        typer.echo(as_written(output, lines=count))
        return
    table = api.without_compression(output).suffix in api.READERS
    conclude(output, "" if table else "evaluate translation {output} references.txt")


def _translate(*, column: str | None = None, json_lines: bool = False, **options: Any) -> None:
    """Translate lines of text, the texts inside records, or a document.

    Args:
        column: Of records (.jsonl, .csv, .tsv, .parquet), the texts: a column, its number from 1 where a table has no
            header, or a path such as messages.*.content. The output has the same records. Code, JSON and tables in the
            texts are left as they are.
    """
    if column is None and api.is_document(options["source"], options["output"]):
        column = "text"
    if column is None:
        count = api.translate_file(**options, json_lines=json_lines)
        _show_translations(count, {"json_lines": json_lines, **options})
        return
    if unused := [name for name in ("nbest",) if options.pop(name, None) is not None]:
        remedy = "Leave it out; without --column, and with an output such as out.tsv, lines are translated."
        raise ConfigError(f"--{unused[0]} is for lines of text", remedy=remedy)
    workers = options.pop("threads", None)
    records = api.translate_records(**options, column=column, workers=workers)
    if json_lines:
        typer.echo(as_written(options["output"], **records.to_dict()))
        return
    typer.echo(records.format(), err=True)
    conclude(options["output"], rows=False)


DECLARED = [
    Command(
        name="translate",
        run=_translate,
        of="translate_file",
        flags={"check_languages": "--language-check/--no-language-check", "json_lines": "--json"},
        settings={
            "output": {"default": "-"},
            "source": {
                "default": "-",
                "help": "A sentence per line; - is standard input. With --column, records. Or a .md, .srt or .vtt.",
            },
            "json_lines": {"help": "Print figures as JSON; without -o, each translation as a line of JSON."},
        },
        device=True,
        help="Translate lines of text, the texts inside records, or a document.",
        examples=(
            "de-en sentences.txt",
            "'facebook/nllb-200-distilled-600M?from=cs&to=en' news.cs -o news.en",
            "'http://127.0.0.1:8000/v1?model=qwen3&from=de&to=en' news.de -o news.en",
            "de-en chats.jsonl --column 'messages.*.content' -o chats.en.jsonl",
            "de-en film.srt -o film.en.srt",
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
