"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from paraloom import api

Commands: TypeAlias = dict[str, Callable[..., None]]
"""Name of a command → the function that it calls."""


class OnErrorChoice(StrEnum):
    """What happens at a row that cannot be processed."""

    stop = "stop"
    reject = "reject"


def complete_translator(incomplete: str) -> list[str]:
    """Names of bundled and cached translators that begin so."""
    return _models("translator", incomplete)


def complete_encoder(incomplete: str) -> list[str]:
    """Names of bundled encoders that begin so.

    >>> complete_encoder("english-")
    ['english-small']
    """
    return _models("encoder", incomplete)


def complete_paraphraser(incomplete: str) -> list[str]:
    """Names of bundled paraphrasers that begin so."""
    return _models("paraphraser", incomplete)


def complete_decoding(incomplete: str) -> list[str]:
    """Decodings that begin so."""
    known = (
        "beam:5",
        "beam:12",
        "greedy",
        "sampling",
        "topk:10",
        "nucleus:0.95",
        "nucleus:0.95,nbest=3",
        "mbr:chrf",
        "diverse:chrf",
    )
    return [text for text in known if text.startswith(incomplete)]


def complete_preset(incomplete: str) -> list[str]:
    """Presets of `filter` that begin so."""
    return [preset for preset in ("strict", "balanced", "loose") if preset.startswith(incomplete)]


def complete_scores(incomplete: str) -> list[str]:
    """Lists of scores and groups whose last name begins so.

    >>> complete_scores("overlap,ble")
    ['overlap,bleu1']
    """
    before, comma, last = incomplete.rpartition(",")
    names = [*api.GROUPS, *api.SCORES]
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


def complete_stage(incomplete: str) -> list[str]:
    """Kinds of stages that begin so."""
    return [stage.use for stage in api.describe_stages() if stage.use.startswith(incomplete)]


def _models(kind: str, incomplete: str) -> list[str]:
    models = api.list_models()
    return [model.name for model in models if model.kind == kind and model.name.startswith(incomplete)]


def given_encoder(name: str) -> str | None:
    """The encoder that an option names; none: no encoder.

    >>> given_encoder("none"), given_encoder("english")
    (None, 'english')
    """
    return None if name == "none" else name


Output = Annotated[str, typer.Option("--output", "-o", help="Where to write; the suffix decides the format.")]
Folder = Annotated[str, typer.Option("--output", "-o", help="The folder to write.")]
AlignmentEncoder = Annotated[
    str,
    typer.Option(
        metavar="ENCODER",
        help="Evidence: an encoder of both languages, or of the target's if there is a translation; none: no encoder.",
    ),
]
Order = Annotated[
    str, typer.Option(help="strict: both in the same order; local: passages of one may be moved or missing.")
]
Seed = Annotated[int, typer.Option(help="Seed of every random choice.")]
Workers = Annotated[int | None, typer.Option(help="Processes; default: one per core. The result is the same.")]
Engine = Annotated[str, typer.Option(help="local, inline, or ray (pip install 'paraloom[cluster]').")]
CheckLanguages = Annotated[
    bool,
    typer.Option(
        "--language-check/--no-language-check", help="Stop, before any work, at text that the translator cannot read."
    ),
]
OnError = Annotated[
    OnErrorChoice,
    typer.Option(
        help="Stop at a row that cannot be read or processed, or reject it into OUTPUT.rejected.jsonl, with the reason."
    ),
]
OnLine = Annotated[
    OnErrorChoice,
    typer.Option(help="Stop at a line that is not UTF-8, or reject it into OUTPUT.rejected.jsonl, with the reason."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it exists, even if it is up to date.")]
SrcLang = Annotated[str | None, typer.Option(help="Language of the source side, such as de.")]
TgtLang = Annotated[str | None, typer.Option(help="Language of the target side, such as en.")]
SrcColumn = Annotated[str | None, typer.Option(help="Source column of a table: a name, or a number from 1.")]
TgtColumn = Annotated[str | None, typer.Option(help="Target column of a table: a name, or a number from 1.")]
Json = Annotated[bool, typer.Option("--json", help="Print figures as JSON.")]
Pairs = Annotated[
    list[str],
    typer.Argument(
        metavar="PAIRS", help="Pairs: a corpus folder, a file with both sides, PREFIX.{de,en}, or a file of each side."
    ),
]
Translator = Annotated[
    str,
    typer.Option(
        help="A bundled name such as de-en, a folder, a Hugging Face name such as OWNER/MODEL, or the "
        "address of an endpoint such as http://127.0.0.1:8000/v1.",
        autocompletion=complete_translator,
    ),
]
Model = Annotated[str | None, typer.Option(help="Of an endpoint: name of the model.")]
From = Annotated[
    str | None,
    typer.Option(
        "--from", help="Source language, of a translator with several: a code of ISO 639 or FLORES-200, such as de."
    ),
]
To = Annotated[str | None, typer.Option("--to", help="Target language, of a translator with several, such as en.")]
Precision = Annotated[
    str | None,
    typer.Option(
        help="Number format that a checkpoint is converted to: int8, int8_float16, float16, bfloat16, float32 … "
        "Default: int8 on processors, float16 or bfloat16 on GPUs."
    ),
]
Long = Annotated[
    str | None,
    typer.Option(
        help="Lines that are longer than the model takes: split (at sentences, then clauses; default), truncate, "
        "reject, error."
    ),
]
Device = Annotated[
    str | None,
    typer.Option(help="cpu (default), cuda, cuda:0,1, or auto: GPUs if there are any. Default: $PARALOOM_DEVICE."),
]
Concurrency = Annotated[
    int | None, typer.Option(help="Of an endpoint: requests in flight at a time, of all processes. Default: 8.")
]
MaxRequests = Annotated[
    int | None, typer.Option(help="Of an endpoint: stop after this many requests, resumed runs included.")
]
MaxTokens = Annotated[
    int | None, typer.Option(help="Of an endpoint: stop after this many tokens of prompts and answers.")
]
MaxFailures = Annotated[
    int | None, typer.Option(help="Of an endpoint: rows without a translation before the run stops. Default: 100.")
]
Endpoint = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Of a language model or endpoint, repeatable: prompt, system, attempts, max_ratio, answer_tokens; of an "
        "endpoint alone: lines_per_request, extra_body, api_key_env, retries, timeout, input_price, output_price, "
        "answers.",
    ),
]
Encoder = Annotated[
    str,
    typer.Argument(
        help="A bundled name such as english, a folder, or a sentence-transformers model.",
        autocompletion=complete_encoder,
    ),
]
Decode = Annotated[
    str,
    typer.Option(
        help="beam:5, sampling, topk:10, nucleus:0.95, mbr:chrf, diverse:chrf; settings follow commas: "
        "nucleus:0.95,nbest=3.",
        autocompletion=complete_decoding,
    ),
]
OwnDecode = Annotated[
    str | None,
    typer.Option(
        help="beam:5, sampling, topk:10, nucleus:0.95, mbr:chrf, diverse:chrf; settings follow commas: "
        "nucleus:0.95,nbest=3. "
        "Default: beam:5; greedy for an endpoint.",
        autocompletion=complete_decoding,
    ),
]


def pairs(paths: list[str]) -> str:
    """Pairs as given on the command line: one name, or the files of both sides.

    Raises:
        typer.BadParameter: There are more than two, or one of two is a table.

    >>> pairs(["mine.de", "mine.en"]), pairs(["mine.tsv"])
    ('mine.{de,en}', 'mine.tsv')
    """
    if len(paths) == 1:
        return paths[0]
    if len(paths) > 2:
        raise typer.BadParameter(f"expected pairs in one file, or the files of both sides, got {len(paths)} files")
    for path in paths:
        if Path(path).is_dir() or api.without_compression(path).suffix in api.READERS:
            raise typer.BadParameter(
                f"two files are the two sides, a sentence per line, but {path} is a table or a folder of pairs"
            )
    name: str = api.join_sides(*paths)
    return name


def column(value: str | None) -> str | int | None:
    """A column as given on the command line: digits are a number.

    >>> column("3"), column("german")
    (3, 'german')
    """
    return int(value) if value is not None and value.isdigit() else value


def names(text: str) -> tuple[str, ...]:
    """Names between commas.

    >>> names("overlap, bleu1")
    ('overlap', 'bleu1')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())
