"""Commands that distill a large encoder: a small encoder, word vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom import workflows
from paraloom.cli import options
from paraloom.cli.output import print_figures

Teacher = Annotated[
    str, typer.Argument(metavar="TEACHER", help="A sentence-transformers model: its folder, or a Hugging Face name.")
]


def encoder(
    teacher: Teacher,
    texts: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", help="Sentences without labels: a file of lines, pairs, or a corpus folder."),
    ],
    output: options.Folder,
    lang: Annotated[str, typer.Option(help="Of pairs, use only the sides in this language.")] = "en",
    spec: Annotated[str, typer.Option(help="Parts, as for `train encoder`.")] = "word,trigram",
    dimension: Annotated[int, typer.Option(help="Width of each part.")] = 300,
    steps: Annotated[int, typer.Option(help="Batches of 512 sentences.")] = 20_000,
    sts: Annotated[Path | None, typer.Option(help="Folder of similarity tasks, for a development figure.")] = None,
    workers: options.Workers = None,
    seed: options.Seed = 1,
) -> None:
    """Train a small, fast encoder to give sentences the similarities of a large one; no labels needed.

    Its words start from the large encoder's vectors of single words.

    Example: `paraloom distill encoder sentence-transformers/all-MiniLM-L6-v2 news.txt.gz -o student`
    """
    result = workflows.distill_encoder(
        teacher,
        texts,
        output,
        lang=lang,
        spec=spec,
        dimension=dimension,
        steps=steps,
        sts=sts,
        workers=workers,
        seed=seed,
    )
    print_figures(result)


def words(
    teacher: Teacher,
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="A word per line, or a word and its count.")],
    output: options.Folder,
    dimension: Annotated[int, typer.Option(help="Width of the vectors.")] = 300,
    max_words: Annotated[int, typer.Option(help="Words of the list that get a vector, the first ones.")] = 200_000,
) -> None:
    """Make word vectors with a sentence encoder: a folder for `train encoder --vectors`.

    Example: `paraloom distill words sentence-transformers/all-MiniLM-L6-v2 words.txt -o vectors`
    """
    result = workflows.distill_words(teacher, words, output, dimension=dimension, max_words=max_words)
    typer.echo(f"{result.stages[-1].figures['words']:,} vectors in {output}/vectors.txt.gz")


DISTILL: options.Commands = {"encoder": encoder, "words": words}
