"""Verbs that distil a large encoder: a small encoder, vectors of words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from paraloom.cli import options

_Teacher = Annotated[
    str, typer.Argument(metavar="TEACHER", help="A sentence-transformers model: its folder, or a Hugging Face name.")
]


def encoder(
    teacher: _Teacher,
    texts: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", help="Sentences without labels: a file of lines, pairs, or a corpus folder."),
    ],
    output: options.Folder,
    lang: Annotated[str, typer.Option(help="Of pairs, only the sides in this language.")] = "en",
    spec: Annotated[str, typer.Option(help="Parts, as for `train encoder`.")] = "word,trigram",
    dimension: Annotated[int, typer.Option(help="Width of each part.")] = 300,
    steps: Annotated[int, typer.Option(help="Batches of 512 sentences.")] = 20_000,
    sts: Annotated[Path | None, typer.Option(help="Folder of similarity tasks, for a development figure.")] = None,
    workers: options.Workers = None,
    seed: options.Seed = 1,
) -> None:
    """Train a small, fast encoder to find sentences as alike as a large one does; nothing is labelled.

    Its words start from what the large one makes of each of them alone.

    Example: `paraloom distil encoder sentence-transformers/all-MiniLM-L6-v2 news.txt.gz -o student`
    """
    from paraloom.embed.distillation import StudentConfig
    from paraloom.embed.spec import parse_spec
    from paraloom.workflows.run import corpus_stages, run_tables

    stages: list[dict[str, Any]] = [loaded(teacher)]
    corpora, files = [], []
    for number, source in enumerate(texts, 1):
        if _is_lines(source):
            files.append(str(Path(source).absolute()))
            continue
        found, reference = corpus_stages(source)
        stages += [{**stage, "name": f"text-{number}"} for stage in found]
        corpora.append(f"text-{number}" if found else reference)
    starting: list[dict[str, Any]] = []
    if "word" in parse_spec(spec).units:
        starting = [
            {
                "use": "distill-words",
                "encoder": "load-encoder",
                "corpora": ["sentences"],
                "dimension": dimension,
                "widen": True,
                "length": 1.0,
                "rarity": 1 / StudentConfig.damping,
                "limit": StudentConfig.word_entries,
            }
        ]
    result = run_tables(
        [
            *stages,
            {"name": "sentences", "use": "read-sentences", "corpora": corpora, "text_files": files, "lang": lang},
            {"use": "encode", "encoder": "load-encoder"},
            *starting,
            {
                "name": "distil-encoder",  # its seed derives from this name
                "use": "distill-encoder",
                "sentences": ["encode"],
                **({"vectors": "distill-words"} if starting else {}),
                "spec": spec,
                "dimension": dimension,
                "steps": steps,
                "sts": str(sts.absolute()) if sts else None,
            },
        ],
        output,
        seed=seed,
        workers=workers,
    )
    for name, value in result.stages[-1].figures.items():
        typer.echo(f"{name}: {value}")


def words(
    teacher: _Teacher,
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="A word a line, or a word and its count.")],
    output: options.Folder,
    dimension: Annotated[int, typer.Option(help="Width of the vectors.")] = 300,
    limit: Annotated[int, typer.Option(help="Only the first so many words.")] = 200_000,
) -> None:
    """Make vectors of words out of an encoder of sentences: a folder for `train encoder --vectors`.

    Example: `paraloom distil words sentence-transformers/all-MiniLM-L6-v2 words.txt -o vectors`
    """
    from paraloom.workflows.run import run_tables

    work = {
        "use": "distill-words",
        "encoder": "load-encoder",
        "words": str(words.absolute()),
        "dimension": dimension,
        "limit": limit,
    }
    result = run_tables([loaded(teacher), work], output)
    typer.echo(f"{result.stages[-1].figures['words']:,} vectors in {output}/vectors.txt.gz")


def loaded(teacher: str) -> dict[str, Any]:
    """The stage that brings a teacher in, by folder or by name."""
    folder = Path(teacher)
    known = {"folder": str(folder.absolute())} if folder.exists() else {"model": teacher}
    return {"use": "load-encoder", **known}


def _is_lines(source: str) -> bool:
    from paraloom.io.compression import without_compression

    return Path(source).is_file() and without_compression(source).suffix in (".txt", ".en", "")


DISTILLING = {"encoder": encoder, "words": words}
