"""The command that back-translates monolingual text into bitext: augment."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from paraloom import api
from paraloom.cli import options
from paraloom.cli.output import print_run, print_usage
from paraloom.cli.translator_options import TranslatorOptions, translating
from paraloom.core.errors import ConfigError


@translating
def augment(
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="Sentences (.txt, .tsv, .jsonl, a corpus)."),
    ],
    translator: Annotated[
        list[str] | None,
        typer.Option(
            help="From TEXT's language: a bundled name, a folder, OWNER/NAME, the address of an "
            "endpoint. Repeat it for `syntax`."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="The bitext."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="base (one each), beam, sampling, nucleus, topk, temperature, mbr, diverse, syntax: how to translate."
        ),
    ] = "nucleus",
    outputs: Annotated[int, typer.Option(help="Translations of each sentence.")] = 3,
    tag: Annotated[str, typer.Option(help="A token before each back-translated source, such as `<BT>`.")] = "",
    src_lang: Annotated[str, typer.Option(help="Language of the translations.")] = "und",
    tgt_lang: Annotated[str, typer.Option(help="Language of TEXT.")] = "und",
    field: Annotated[
        str | None, typer.Option(help="Column of a .tsv (from 1, -1 for the last, or its name) or key of a .jsonl.")
    ] = None,
    min_words: Annotated[
        int,
        typer.Option(help="Minimum number of words of a sentence, split at spaces; 1 for scripts without spaces."),
    ] = 2,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    language_check: options.CheckLanguages = True,
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Back-translate monolingual text into training bitext: the translations are the source, the text is the target.

    Example: `paraloom augment news.en.txt --translator en-tr --method nucleus -o bitext.tsv`
    """
    if text.endswith(".toml"):
        raise ConfigError(
            f"{text} is an experiment, not a text", remedy=f"Write `paraloom research augment {shlex.quote(text)}`."
        )
    if not translator:
        raise typer.BadParameter("name the translator from the text's language", param_hint="--translator")
    if output is None:
        raise typer.BadParameter("name the bitext to write", param_hint="--output")
    named = [translation.named(name, output) for name in translator]
    result = api.augment(
        text,
        named,
        output,
        method=method,
        outputs=outputs,
        tag=tag,
        field=int(field) if field and field.lstrip("-").isdecimal() else field,
        min_words=min_words,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        engine=engine,
        workers=translation.workers(workers),
        on_error=on_error.value,
        check_languages=language_check,
        seed=seed,
    )
    for one in named:
        print_usage(one)
    print_run(result, output, "train translator --bitext {output} -o translator", as_json)


COMMANDS: options.Commands = {"augment": augment}
