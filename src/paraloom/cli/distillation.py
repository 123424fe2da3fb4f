"""Commands that distill a large encoder: a small encoder, word vectors."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from paraloom import api
from paraloom.cli import options
from paraloom.cli.output import as_written, conclude, print_figures

Teacher = Annotated[
    str, typer.Argument(metavar="TEACHER", help="A sentence-transformers model: its folder, or a Hugging Face name.")
]


class NetworkChoice(StrEnum):
    """What is trained."""

    average = "average"
    transformer = "transformer"


def encoder(
    teacher: Teacher,
    texts: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", help="Sentences without labels: a file of lines, pairs, or a corpus folder."),
    ],
    output: options.Folder,
    lang: Annotated[str, typer.Option(help="Of pairs, use only the sides in this language.")] = "en",
    network: Annotated[
        NetworkChoice, typer.Option(help="An average of words and n-grams, or a small transformer, slower and better.")
    ] = NetworkChoice.average,
    spec: Annotated[str, typer.Option(help="Of an average: parts, as for `train encoder`.")] = "word,trigram",
    dimension: Annotated[int, typer.Option(help="Of an average: width of each part.")] = 300,
    layers: Annotated[int | None, typer.Option(help="Of a transformer: layers; default 2.")] = None,
    width: Annotated[int | None, typer.Option(help="Of a transformer: width; default 256.")] = None,
    vocab_size: Annotated[
        int | None, typer.Option(help="Of a transformer: frequent tokens of the teacher's to keep; default: all.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Batches of 512 sentences; default: 20,000, or 6,000 for a transformer.")
    ] = None,
    ensemble: Annotated[
        list[str] | None, typer.Option(help="A further teacher; similarities are the means of all. Repeatable.")
    ] = None,
    sts: Annotated[Path | None, typer.Option(help="Folder of similarity tasks, for development figures.")] = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    device: options.Device = None,
    workers: options.Workers = None,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Train a small, fast encoder to give sentences the similarities of a large one; no labels needed.

    An average starts from the large encoder's vectors of single words, a transformer from its token embeddings.

    Example: `paraloom distill encoder sentence-transformers/all-MiniLM-L6-v2 news.txt.gz -o student`

    Example: `paraloom distill encoder all-MiniLM-L6-v2/ news.txt.gz --network transformer --sts data/sts -o student`
    """
    used = api.use_device(device)
    on_device = str(used) if used is not None and network is NetworkChoice.transformer else None
    transformer = {"layers": layers, "width": width, "vocab_size": vocab_size, "device": on_device}
    result = api.distill_encoder(
        teacher,
        texts,
        output,
        lang=lang,
        network=network.value,
        spec=spec,
        dimension=dimension,
        steps=steps,
        ensemble=ensemble or (),
        sts=sts,
        on_error=on_error.value,
        workers=api.workers_on(used, workers),
        seed=seed,
        **{name: value for name, value in transformer.items() if value is not None},
    )
    print_figures(result, "search {output} sentences.txt", as_json)


def words(
    teacher: Teacher,
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="A word per line, or a word and its count.")],
    output: options.Folder,
    dimension: Annotated[int, typer.Option(help="Width of the vectors.")] = 300,
    max_words: Annotated[int, typer.Option(help="Words of the list that get a vector, the first ones.")] = 200_000,
    device: options.Device = None,
    as_json: options.Json = False,
) -> None:
    """Make word vectors with a sentence encoder: a folder for `train encoder --vectors`.

    Example: `paraloom distill words sentence-transformers/all-MiniLM-L6-v2 words.txt -o vectors`
    """
    api.use_device(device)
    result = api.distill_words(teacher, words, output, dimension=dimension, max_words=max_words)
    vectors, count = f"{output}/vectors.txt.gz", result.stages[-1].figures["words"]
    if as_json:
        typer.echo(as_written(vectors, words=count))
        return
    typer.echo(f"{count:,} vectors in {vectors}")
    conclude(vectors, f"train encoder --pairs pairs.parquet --vectors {shlex.quote(output)} -o encoder", counted=True)


DISTILL: options.Commands = {"encoder": encoder, "words": words}
