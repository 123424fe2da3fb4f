"""Verbs about phrases: train phrases, evaluate phrases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from paraloom.cli import options


def train_phrases(
    pairs: Annotated[
        list[str] | None, typer.Argument(metavar="[PAIRS]...", help="Phrases that mean the same: PPDB, or any pairs.")
    ] = None,
    output: options.Folder = "phrases",
    vectors: Annotated[
        Path | None,
        typer.Option(help="Word vectors: text as of word2vec, GloVe or fastText, or a folder by `distil words`."),
    ] = None,
    teacher: Annotated[
        str | None, typer.Option(help="Instead of --vectors: a sentence-transformers model that encodes each word.")
    ] = None,
    network: Annotated[str, typer.Option(help="gru, lstm, blstm or gran.")] = "gru",
    contrasts: Annotated[int, typer.Option(help="Contrast phrases drawn for each mini-batch.")] = 9,
    share: Annotated[float, typer.Option(help="Share of the pairs that is learned from.")] = 1.0,
    epochs: Annotated[int, typer.Option(help="Passes over the pairs.")] = 150,
    dropout: Annotated[float, typer.Option(help="Share of the output's numbers that is hidden in training.")] = 0.5,
    tasks: Annotated[Path | None, typer.Option(help="Folder of phrase tasks, to measure on.")] = None,
    task: Annotated[str, typer.Option(help="semeval or turney: learn from its training set, too.")] = "",
    reversed_contrast: Annotated[
        bool, typer.Option("--reversed-contrast", help="A phrase of two words turned round is to be less alike.")
    ] = False,
    seed: options.Seed = 1,
) -> None:
    """Train an encoder of phrases on paraphrases, with contrast phrases and a margin.

    Example: `paraloom train phrases ppdb-1.0-s-phrasal.gz --vectors glove.200d.txt -o phrases`
    """
    from paraloom.cli.distil import loaded
    from paraloom.core.errors import ConfigError
    from paraloom.workflows.run import corpus_stages, run_tables

    if bool(vectors) == bool(teacher):
        raise ConfigError("words have vectors from --vectors or from --teacher", remedy="Give one of them.")
    stages: list[dict[str, Any]] = [loaded(teacher)] if teacher else []
    references = []
    for number, source in enumerate(pairs or [], 1):
        found, reference = corpus_stages(source)
        stages += [{**stage, "name": f"pairs-{number}"} for stage in found]
        references.append(f"pairs-{number}" if found else reference)
    folder = str(tasks.absolute()) if tasks else None
    if teacher:
        words = {
            "use": "distill-words",
            "encoder": "load-encoder",
            "corpora": references,
            "tasks": folder,
            "rarity": 0.0,
        }
        stages.append(words)
    work = {
        "use": "train-phrases",
        "pairs": references,
        "vectors": str(vectors.absolute()) if vectors else "distill-words",
        "network": network,
        "contrasts": contrasts,
        "share": share,
        "epochs": epochs,
        "dropout": dropout,
        "tasks": folder,
        "task": task,
        "reversed_contrast": reversed_contrast,
    }
    result = run_tables([*stages, work], output, seed=seed)
    for name, value in result.stages[-1].figures.items():
        typer.echo(f"{name}: {json.dumps(value) if isinstance(value, dict) else value}")


def phrases(
    encoder: Annotated[Path, typer.Argument(help="An encoder folder.")],
    folder: Annotated[Path, typer.Argument(help="A folder of phrase tasks, such as data/phrase.")],
    similarity: Annotated[str, typer.Option(help="cosine, or dot for encoders trained by the dot product.")] = "cosine",
    as_json: options.Json = False,
) -> None:
    """Accuracy on SemEval 2013 5a and on Turney's questions among five and ten choices.

    Example: `paraloom evaluate phrases encoder data/phrase`
    """
    from paraloom.core.errors import ConfigError
    from paraloom.embed.loading import open_encoder
    from paraloom.evaluate.phrases import evaluate_phrases

    if similarity not in ("cosine", "dot"):
        raise ConfigError(f"--similarity is cosine or dot, not '{similarity}'")
    table = evaluate_phrases(open_encoder(encoder), folder, similarity=similarity)  # type: ignore[arg-type]
    typer.echo(json.dumps(table.to_json(), ensure_ascii=False) if as_json else table.render())


TRAINING = {"phrases": train_phrases}
EVALUATING = {"phrases": phrases}
