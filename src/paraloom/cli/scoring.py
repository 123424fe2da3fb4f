"""Verbs about scores: add them, list them, train the models that some of them need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options

Columns = Annotated[str, typer.Option(help="Text columns to learn from, commas between.")]
Corpora = Annotated[list[str], typer.Option("--pairs", help="Pairs to learn from. Repeatable.")]


def score(
    pairs: Annotated[str, typer.Argument(help="Pairs: a corpus folder, a file with both sides, or PREFIX.{de,en}.")],
    output: options.Output,
    scores: Annotated[
        str,
        typer.Option("--with", help="Scores or groups, commas between; `all`; `paraloom scores` lists them."),
    ] = "common",
    encoder: Annotated[
        str | None,
        typer.Option(help="Adds paraphrase_score: an encoder's folder, or a sentence-transformers model."),
    ] = None,
    word_counts: Annotated[
        str | None, typer.Option(help="Adds the mean IDF of both sides: a folder by `train word-counts`.")
    ] = None,
    language_model: Annotated[
        str | None, typer.Option(help="Adds perplexities: a folder by `train language-model`, or an ARPA file.")
    ] = None,
    classifier: Annotated[
        str | None, typer.Option(help="Adds reference_probability: a folder by `train classifier`.")
    ] = None,
    languages: Annotated[
        str | None, typer.Option(help="Adds the probability of the languages said: all that may occur, as de,en.")
    ] = None,
    src_column: options.SrcColumn = None,
    tgt_column: options.TgtColumn = None,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    on_error: options.OnError = "stop",
) -> None:
    """Add columns of scores to pairs; no row is dropped.

    Example: `paraloom score pairs.parquet --with overlap,bleu1,length -o scored.parquet`
    """
    from paraloom.cli.summary import summary
    from paraloom.workflows.run import corpus_stages, run_tables

    stages, reference = corpus_stages(
        pairs, src_column=options.column(src_column), tgt_column=options.column(tgt_column)
    )
    ours = encoder is not None and (Path(encoder) / "config.json").is_file() and not _is_foreign(Path(encoder))
    work = {
        "use": "score",
        "input": reference,
        "scores": [name.strip() for name in scores.split(",")],
        "encoder": _absolute(encoder) if ours else None,
        "sentence_transformer": None if ours else encoder,
        "word_counts": _absolute(word_counts),
        "language_model": _absolute(language_model),
        "classifier": _absolute(classifier),
        "languages": [name.strip() for name in languages.split(",")] if languages else None,
    }
    result = run_tables([*stages, work], output, engine=engine, workers=workers, on_error=on_error)
    typer.echo(summary(result), err=True)


def scores_table() -> None:
    """List all scores: unit, range, which values are better, description and reference.

    Example: `paraloom scores`
    """
    from rich.console import Console
    from rich.table import Table

    from paraloom.pairs.scoring.table import COLUMNS, GROUPS, SCORES

    table = Table(box=None, header_style="bold")
    for heading in ("score", "unit", "range", "better", "description"):
        table.add_column(heading, no_wrap=heading in ("score", "range"))
    for column in COLUMNS.values():
        name = column.name if column.name in SCORES else f"{column.name} *"
        better = "" if column.direction == "none" else column.direction
        reference = f" ({column.reference})" if column.reference else ""
        table.add_row(name, column.unit, column.range, better, column.description + reference)
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(table)
    console.print("\n* needs a model: see the options of `paraloom score`.\nGroups: " + ", ".join(GROUPS))


def _absolute(path: str | None) -> str | None:
    return None if path is None else str(Path(path).absolute())


def _is_foreign(folder: Path) -> bool:
    """Whether an encoder's folder is one of sentence-transformers."""
    return (folder / "modules.json").is_file()


def train_classifier(
    corpora: Annotated[list[str], typer.Option("--pairs", help="Back-translated pairs. Repeatable.")],
    output: options.Folder,
    kind: Annotated[str, typer.Option(help="avg (the mean of the word vectors) or lstm.")] = "lstm",
    count: Annotated[int, typer.Option(help="References to train on.")] = 40_000,
    choice: Annotated[
        str, typer.Option(help="Which of the k-best is the negative of a reference: random or hardest.")
    ] = "random",
    epochs: Annotated[int, typer.Option(help="Passes over the pairs.")] = 10,
    seed: options.Seed = 1,
) -> None:
    """Train a classifier that tells references from translations, for reference_probability.

    Example: `paraloom train classifier --pairs pairs.parquet -o classifier`
    """
    work = {"use": "train-classifier", "kind": kind, "max_pairs": count, "negatives": choice, "epochs": epochs}
    _train(work, "pairs_from", corpora, output, seed)


def train_language_model(
    corpora: Corpora,
    output: options.Folder,
    columns: Columns = "src",
    order: Annotated[int, typer.Option(help="Words of the longest n-gram.")] = 3,
) -> None:
    """Train an n-gram language model by VariKN, for src_perplexity and tgt_perplexity.

    Example: `paraloom train language-model --pairs references.parquet --columns src -o lm`
    """
    work = {"use": "train-language-model", "columns": columns.split(","), "order": order}
    _train(work, "corpora", corpora, output)


def count_words(corpora: Corpora, output: options.Folder, columns: Columns = "src") -> None:
    """Count in how many sentences each word stands, for src_idf and tgt_idf.

    Example: `paraloom train word-counts --pairs references.parquet --columns src -o counts`
    """
    _train({"use": "count-words", "columns": columns.split(",")}, "corpora", corpora, output)


def _train(work: dict[str, object], field: str, corpora: list[str], output: str, seed: int = 1) -> None:
    from paraloom.workflows.run import corpus_stages, run_tables

    stages: list[dict[str, object]] = []
    references = []
    for number, corpus in enumerate(corpora, start=1):
        made, reference = corpus_stages(corpus)
        for stage in made:
            stage["name"] = reference = f"input-{number}"
        stages += made
        references.append(reference)
    result = run_tables([*stages, {**work, field: references}], output, seed=seed)
    for name, value in result.stages[-1].figures.items():
        typer.echo(f"{name}: {value}")


VERBS = {"score": score, "scores": scores_table}
TRAINING = {
    "classifier": train_classifier,
    "language-model": train_language_model,
    "word-counts": count_words,
}
