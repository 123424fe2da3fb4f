"""Verbs about translators: train translator, translate, backtranslate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options

Decode = Annotated[
    str, typer.Option(help="beam:5, sampling, topk:10, nucleus:0.95; settings follow commas: nucleus:0.95,nbest=3.")
]


def train_translator(
    bitext: Annotated[
        list[str], typer.Option(help="Training pairs: a file with both sides, or PREFIX.{de,en}. Repeatable.")
    ],
    output: options.Folder,
    dev: Annotated[str | None, typer.Option(help="Development pairs; default: 1,000 pairs are held out.")] = None,
    test: Annotated[str | None, typer.Option(help="Pairs whose BLEU goes on the model card.")] = None,
    start: Annotated[Path | None, typer.Option(help="A translator of ours to go on from.")] = None,
    steps: Annotated[int, typer.Option(help="Updates in all; the bar shows the time left.")] = 1600,
    vocabulary: Annotated[int, typer.Option(help="Joint sub-words.")] = 8000,
    src_lang: options.SrcLang = None,
    tgt_lang: options.TgtLang = None,
    src_column: options.SrcColumn = None,
    tgt_column: options.TgtColumn = None,
    title: Annotated[str, typer.Option(help="Title of the model card.")] = "A translator",
    licence: Annotated[str, typer.Option(help="Licence of the training data, for the model card.")] = "other",
    seed: options.Seed = 1,
) -> None:
    """Train a translator from scratch; stopped, the same command goes on.

    Example: `paraloom train translator --bitext 'train.{cs,en}' --dev 'val.{cs,en}' -o cs-en`
    """
    from paraloom.workflows.run import corpus_stages, run_verb

    reading = {
        "src_lang": src_lang,
        "tgt_lang": tgt_lang,
        "src_column": options.column(src_column),
        "tgt_column": options.column(tgt_column),
    }
    stages, references = [], {}
    named = [(f"bitext-{i}", source) for i, source in enumerate(bitext, 1)] + [("dev", dev), ("test", test)]
    for name, source in named:
        if source is not None:
            found, reference = corpus_stages(source, **reading)
            stages += [{**stage, "name": name} for stage in found]
            references[name] = name if found else reference
    training = {
        "use": "train-translator",
        "bitext": [references[name] for name, _ in named if name.startswith("bitext")],
        "development": references.get("dev"),
        "test": references.get("test"),
        "start": str(start.absolute()) if start else None,
        "steps": steps,
        "vocabulary": vocabulary,
        "title": title,
        "licence": licence,
    }
    result = run_verb([*stages, training], output, seed=seed)
    _print_figures(result.stages[-1].figures)


def translate(
    model: Annotated[
        str, typer.Argument(help="A translator folder, or a Hugging Face name such as Helsinki-NLP/opus-mt-de-en.")
    ],
    source: Annotated[str, typer.Argument(metavar="[IN]", help="A sentence a line; - is standard input.")] = "-",
    output: options.Output = "-",
    decode: Decode = "beam:5",
    nbest: Annotated[
        int | None,
        typer.Option(help="Translations a sentence; more than one come as row, rank, logprob, tokens, text."),
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Cores; default: all. The result is the same.")] = None,
    seed: options.Seed = 1,
) -> None:
    """Translate lines of text.

    Example: `echo "Ein Hund schläft." | paraloom translate de-en`
    """
    from paraloom.workflows.translate import translate_lines

    translate_lines(model, source, output, decode=decode, nbest=nbest, threads=threads, seed=seed)


def backtranslate(
    bitext: Annotated[str, typer.Argument(help="A file with both sides, a corpus folder, or PREFIX.{de,en}.")],
    translator: Annotated[str, typer.Option(help="A translator folder, or a Hugging Face name.")],
    output: options.Output,
    decode: Decode = "beam:5",
    side: Annotated[
        str, typer.Option(help="The side that is translated: src or tgt; the other is the reference.")
    ] = "src",
    src_lang: options.SrcLang = None,
    tgt_lang: options.TgtLang = None,
    src_column: options.SrcColumn = None,
    tgt_column: options.TgtColumn = None,
    shard_rows: Annotated[int, typer.Option(help="Rows a worker takes at a time.")] = 500,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    on_error: options.OnError = "stop",
    seed: options.Seed = 1,
) -> None:
    """Pair each reference of a bitext with translations of its other side.

    Example: `paraloom backtranslate 'train.{de,en}' --translator de-en --decode beam:12 -o pairs.parquet`
    """
    from paraloom.cli.summary import summary
    from paraloom.workflows.run import corpus_stages, run_verb
    from paraloom.workflows.variants import translator_stages

    stages, reference = corpus_stages(
        bitext,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        src_column=options.column(src_column),
        tgt_column=options.column(tgt_column),
        shard_rows=shard_rows,
    )
    loading, (model,) = translator_stages([translator])
    work = {"use": "backtranslate", "input": reference, "translator": model, "decode": decode, "side": side}
    result = run_verb([*stages, *loading, work], output, seed=seed, engine=engine, workers=workers, on_error=on_error)
    typer.echo(summary(result), err=True)


def _print_figures(figures: dict[str, object]) -> None:
    for name, value in figures.items():
        typer.echo(f"{name}: {value}")


VERBS = {"translate": translate, "backtranslate": backtranslate}
TRAINING = {"translator": train_translator}
