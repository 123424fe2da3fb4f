"""Commands about translators: train translator, translate, augment, variants, diversity."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

import paraloom.web as reports
from paraloom import api
from paraloom.cli.declaration import Command
from paraloom.cli.output import as_written, conclude, suggest, time_taken, written
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
    written(options["output"], records.to_dict(), records.format(), as_json=json_lines, rows=False)


def diversity(
    corpora: Sequence[str | Path], *, output: str | Path | None = None, as_json: bool = False, **options: Any
) -> None:
    """Measure how diverse and adequate variants are: a row per corpus.

    Variants with a column text_parse, from `parse --columns text`, need no --parser for the difference of their parses.

    References are the translated pairs: `paraloom research variants 'dev.{en,is}' --translator en-is -o beam`.

    Args:
        corpora: Corpus folders, or .tsv, .jsonl, .parquet with pair_id and text.
        output: Keep the run, and its report, in this folder.
        **options: Further parameters of `paraloom.api.measure_diversity`.
    """
    names = [str(name) for name in corpora]
    try:
        results = api.measure_diversity(names, output, **options)
    except KeyboardInterrupt:
        if output is not None:
            raise
        raise KeyboardInterrupt("Interrupted. With -o FOLDER, finished work is kept and resumed.") from None
    page = None if output is None else reports.write_report(output, Path(output) / "report.html")
    typer.echo(json.dumps(results) if as_json else api.format_diversity(results))
    if page is not None:
        typer.echo(f"Report: {page}", err=True)
    if as_json:
        return
    count = sum(result["variants"] for result in results)
    typer.echo(f"\n{count:,} variants measured in {time_taken()}{'' if output is None else f': {output}'}", err=True)
    suggest(f"head {shlex.quote(names[0])}")


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
                "role": "input",
                "help": "A sentence per line; - is standard input. With --column, records. Or .md, .html, .srt, .vtt.",
            },
            "json_lines": {"help": "Print figures as JSON; without -o, each translation as a line of JSON."},
        },
        device=True,
        help="Translate lines, texts inside records, or a document.",
        examples=(
            "de-en news.de",
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
    Command(
        name="augment",
        of="augment",
        everyday="translators method outputs tag field min_words src_lang tgt_lang as_json",
        flags={"translators": "--translator"},
        settings={
            "translators": {
                "role": "translator",
                "complete": "complete_translator",
                "help": "From TEXT's language: a bundled name, a folder, OWNER/NAME, or the address of an endpoint, "
                "with settings as in `translate`. Repeat it for `syntax`.",
            },
        },
        device=True,
        then="train translator --bitext {output} -o translator",
        help="Back-translate monolingual text into training bitext.\n\n"
        "The translations are the source, the text is the target.",
        examples=(
            "news.en.txt --translator en-tr --method nucleus -o bitext.tsv",
            "news.en.txt --translator 'http://127.0.0.1:8000/v1?model=qwen3&from=en&to=tr' -o bitext.tsv",
        ),
        watched=True,
    ),
    Command(
        name="variants",
        of="translate_variants",
        everyday="translators method outputs decode column field lang src_lang tgt_lang as_json",
        flags={"translators": "--translator"},
        settings={
            "source": {"metavar": "SOURCE", "repeated": True, "role": "pairs"},
            "translators": {
                "role": "translator",
                "complete": "complete_translator",
                "help": "A bundled name, a folder, OWNER/NAME, or the address of an endpoint, with settings as in "
                "`translate`. Repeatable: all their outputs.",
            },
        },
        device=True,
        then="diversity {output}",
        help="Translate each text in several ways, for diversity and for training, with rank, logprob and tokens of "
        "each.\n\nWithout --method and --decode the method is nucleus, the best of Burchell et al. (2022).\n\n"
        "Variants of pairs keep their ids, and the pairs can then be their references in `diversity`.",
        examples=("english.txt --translator en-is --lang en --outputs 3 -o variants",),
        watched=True,
    ),
    Command(
        name="diversity",
        run=diversity,
        of="measure_diversity",
        stage="measure-diversity",
        keys="kernels limit reference_column",
        leave_out="folder seed",
        settings={"parser": {"role": "input"}, "corpora": {"metavar": "VARIANTS..."}},
        examples=("beam nucleus --references 'dev.{en,is}' --parser parser-is --kernels sst,bbh22",),
        resumes=True,
        watched=True,
    ),
]
