"""Commands about translators: train translator, translate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom import api
from paraloom.cli import options
from paraloom.cli.output import as_written, conclude, print_figures, print_usage
from paraloom.cli.translator_options import TranslatorOptions, translating


def train_translator(
    bitext: Annotated[
        list[str], typer.Option(help="Training pairs: a file with both sides, or PREFIX.{de,en}. Repeatable.")
    ],
    output: options.Folder,
    dev: Annotated[str | None, typer.Option(help="Development pairs; default: 1,000 pairs are held out.")] = None,
    test: Annotated[str | None, typer.Option(help="Pairs whose BLEU is printed on the model card.")] = None,
    init_from: Annotated[Path | None, typer.Option(help="A translator of Paraloom to start from.")] = None,
    subwords_from: Annotated[
        Path | None, typer.Option(help="A translator of Paraloom whose subwords to use: to score the same tokens.")
    ] = None,
    steps: Annotated[int, typer.Option(help="Number of updates; the progress bar shows the time left.")] = 1600,
    vocab_size: Annotated[int, typer.Option(help="Size of the joint sub-word vocabulary.")] = 8000,
    device: options.Device = None,
    training_precision: Annotated[
        str,
        typer.Option(help="What the network computes in: float32, bfloat16, or auto (bfloat16 where hardware has it)."),
    ] = "auto",
    accumulate: Annotated[
        int, typer.Option(help="Batches for one update: as one that is so many times as large, in the memory of one.")
    ] = 1,
    average_last: Annotated[
        int, typer.Option(help="Average the weights of this many evaluations, the last ones; 0: keep the best.")
    ] = 0,
    src_lang: options.SrcLang = None,
    tgt_lang: options.TgtLang = None,
    src_column: options.SrcColumn = None,
    tgt_column: options.TgtColumn = None,
    title: Annotated[str, typer.Option(help="Title of the model card.")] = "A translator",
    license_: Annotated[
        str, typer.Option("--license", help="License of the training data, for the model card.")
    ] = "other",
    on_error: options.OnError = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Train a translator from scratch; if stopped, run it again to resume.

    Example: `paraloom train translator --bitext 'train.{cs,en}' --dev 'val.{cs,en}' -o cs-en`

    Example: `paraloom train translator --bitext 'train.{cs,en}' --device cuda:0,1 --accumulate 4 -o cs-en`
    """
    used = api.use_device(device)
    result = api.train_translator(
        bitext,
        output,
        development=dev,
        test=test,
        init_from=init_from,
        subwords_from=subwords_from,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        src_column=options.column(src_column),
        tgt_column=options.column(tgt_column),
        on_error=on_error.value,
        seed=seed,
        steps=steps,
        vocab_size=vocab_size,
        device=str(used or "cpu"),
        training_precision=training_precision,
        accumulate=accumulate,
        average_last=average_last,
        title=title,
        license=license_,
    )
    print_figures(result, "translate {output} sentences.txt", as_json)


@translating
def translate(
    translator: Annotated[
        str,
        typer.Argument(
            help="A bundled name such as de-en, a folder, a Hugging Face name such as Helsinki-NLP/opus-mt-de-en, an "
            "or the address of an endpoint such as http://127.0.0.1:8000/v1."
        ),
    ],
    source: Annotated[str, typer.Argument(metavar="[IN]", help="A sentence per line; - is standard input.")] = "-",
    output: options.Output = "-",
    decode: options.OwnDecode = None,
    nbest: Annotated[
        int | None,
        typer.Option(help="Translations per sentence; several are written as row, rank, logprob, tokens, text."),
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Cores; default: all. The result is the same.")] = None,
    language_check: options.CheckLanguages = True,
    on_error: options.OnLine = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    as_json: Annotated[
        bool, typer.Option("--json", help="Print figures as JSON; without -o, each translation as a line of JSON.")
    ] = False,
) -> None:
    """Translate lines of text.

    Example: `echo "Ein Hund schläft." | paraloom translate de-en`

    Example: `paraloom translate facebook/nllb-200-distilled-600M news.cs -o news.en --from cs --to en`

    Example: `paraloom translate http://127.0.0.1:8000/v1 news.de -o news.en --model qwen3 --from de --to en`
    """
    named = translation.named(translator, output)
    count = api.translate_file(
        named,
        source,
        output,
        decode=decode,
        nbest=nbest,
        threads=threads,
        check_languages=language_check,
        on_error=on_error.value,
        json_lines=as_json,
        seed=seed,
    )
    print_usage(named)
    if as_json and output != "-":
        typer.echo(as_written(output, lines=count))
        return
    table = api.without_compression(output).suffix in api.READERS
    conclude(output, "" if table else "evaluate translation {output} references.txt")


COMMANDS: options.Commands = {"translate": translate}
TRAIN: options.Commands = {"translator": train_translator}
