"""Commands of the papers' methods, which no measurement recommends: paraloom research."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import paraloom.web as reports
from paraloom import papers
from paraloom.cli import completion, options
from paraloom.cli.output import as_written, conclude, print_figures, print_result
from paraloom.cli.paraphraser_evaluation import others_beside
from paraloom.core.errors import ConfigError

OwnParser = Annotated[str | None, typer.Option(help="Another parser than the one in the model's folder.")]
Folder = Annotated[Path, typer.Argument(help="english, or a folder of `train paraphraser`.")]
ParsedPairs = Annotated[
    str, typer.Argument(metavar="PAIRS", help="Held-out pairs from `parse`: a corpus folder or a Parquet file.")
]
Pool = Annotated[
    str | None, typer.Option(help="Other pairs from `parse`, whose sentences are the exemplars. Default: PAIRS.")
]


def augment(
    experiment_file: Annotated[Path, typer.Argument(metavar="EXPERIMENT.toml", help="The experiment's settings.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Run folder; default: runs/NAME.")] = None,
    small: Annotated[
        bool, typer.Option("--small", help="Run the experiment on little text, with few steps and one seed.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print how long an experiment will take, and stop.")
    ] = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Compare methods of back-translation: a translator is trained on each method's bitext, and all are evaluated.

    BLEU, chrF, diversity, training perplexity and translationese, by Burchell et al. (2022).

    Example: `paraloom research augment examples/english-turkish.toml --dry-run`
    """
    name, seed, experiment = papers.read_experiment(experiment_file, small=small)
    papers.experiment_pipeline(experiment_file, name, seed, experiment)  # reports what is wrong before anything runs
    typer.echo(papers.cost_statement(experiment), err=True)
    if dry_run:
        return
    folder = output or Path("runs") / name
    report = partial(typer.echo, err=as_json)
    result = papers.run_experiment(experiment_file, folder, small=small, engine=engine, workers=workers, report=report)
    page = reports.write_report(folder, folder / "report.html")
    if as_json:
        typer.echo(as_written(folder, report=page, methods=[row.to_dict() for row in result.methods]))
        return
    typer.echo(f"Report: {page}")
    conclude(folder, "explore {output}", rows=False)


def selftrain(
    loop: Annotated[
        Path, typer.Argument(metavar="LOOP.toml", help="The loop's settings: see examples/selftrain.toml.")
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Run folder; default: runs/NAME.")] = None,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Let a translator and an aligner improve each other: align, train on the result, align again.

    Example: `paraloom research selftrain examples/selftrain.toml -o runs/korean`
    """
    folder = output or Path("runs") / papers.read_loop(loop)[0]
    rounds = papers.selftrain(loop, folder, workers=workers, report=partial(typer.echo, err=as_json))
    page = reports.write_report(folder, folder / "report.html")
    if as_json:
        typer.echo(as_written(folder, report=page, rounds=rounds))
        return
    typer.echo(f"Report: {page}")
    conclude(folder, f"papers run all --loop {{output}} -o {shlex.quote(f'{folder}-tables')}", rows=False)


def train_classifier(
    corpora: Annotated[list[str], typer.Option("--pairs", help="Back-translated pairs. Repeatable.")],
    output: options.Folder,
    kind: Annotated[str, typer.Option(help="avg (the mean of the word vectors) or lstm.")] = "lstm",
    max_pairs: Annotated[int, typer.Option(help="References to train on.")] = 40_000,
    negatives: Annotated[
        str, typer.Option(help="Which of the k-best translations is compared with a reference: random or hardest.")
    ] = "random",
    epochs: Annotated[int, typer.Option(help="Passes over the pairs.")] = 10,
    device: Annotated[str, typer.Option(help="Where it trains: cpu, cuda or cuda:1.")] = "cpu",
    on_error: options.OnError = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Train a classifier of references and translations, for reference_probability.

    Example: `paraloom research train-classifier --pairs pairs.parquet -o classifier`
    """
    settings = {"kind": kind, "max_pairs": max_pairs, "negatives": negatives, "epochs": epochs, "device": device}
    result = papers.train_classifier(corpora, output, seed=seed, on_error=on_error.value, **settings)
    print_figures(result, "score pairs.parquet --classifier {output} -o scored.parquet", as_json)


def train_phrases(
    pairs: Annotated[
        list[str] | None, typer.Argument(metavar="[PAIRS]...", help="Phrases that mean the same: PPDB, or any pairs.")
    ] = None,
    output: options.Folder = "phrases",
    vectors: Annotated[
        Path | None,
        typer.Option(help="Word vectors: text of word2vec, GloVe or fastText, or a folder of `distill words`."),
    ] = None,
    teacher: Annotated[
        str | None, typer.Option(help="Instead of --vectors: a sentence-transformers model that encodes each word.")
    ] = None,
    network: Annotated[str, typer.Option(help="gru, lstm, blstm or gran.")] = "gru",
    num_negatives: Annotated[int, typer.Option(help="Contrast phrases sampled for each mini-batch.")] = 9,
    sample_fraction: Annotated[float, typer.Option(help="Fraction of the pairs to train on, sampled at random.")] = 1.0,
    epochs: Annotated[int, typer.Option(help="Passes over the pairs.")] = 150,
    dropout: Annotated[float, typer.Option(help="Dropout of the output in training.")] = 0.5,
    tasks: Annotated[Path | None, typer.Option(help="Folder of phrase tasks, to evaluate on.")] = None,
    task: Annotated[str, typer.Option(help="semeval or turney: also train on its training set.")] = "",
    reversed_negative: Annotated[
        bool, typer.Option("--reversed-negative", help="Phrases of two words in reverse order are negatives.")
    ] = False,
    on_error: options.OnError = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Train an encoder of phrases on paraphrases, with contrast phrases and a margin.

    Example: `paraloom research train-phrases ppdb-1.0-s-phrasal.gz --vectors glove.200d.txt -o phrases`
    """
    result = papers.train_phrase_encoder(
        pairs or [],
        output,
        vectors=vectors,
        teacher=teacher,
        tasks=tasks,
        on_error=on_error.value,
        seed=seed,
        network=network,
        num_negatives=num_negatives,
        sample_fraction=sample_fraction,
        epochs=epochs,
        dropout=dropout,
        task=task,
        reversed_negative=reversed_negative,
    )
    print_figures(result, "evaluate phrases {output} data/phrase", as_json)


def evaluate_control(
    paraphraser: Folder,
    pairs: ParsedPairs,
    beside: Annotated[list[str] | None, typer.Option(metavar="NAME=FOLDER", help="A further one to compare.")] = None,
    parser: OwnParser = None,
    encoder: Annotated[
        str,
        typer.Option(help="Encoder of the similarity to sources, or none.", autocompletion=completion.complete_encoder),
    ] = "english",
    rows: Annotated[int, typer.Option(help="Pairs that are drawn at most.")] = 1000,
    only_different: Annotated[
        bool,
        typer.Option("--only-different", help="Pairs whose sides have different templates: of others a copy has it."),
    ] = False,
    heights: Annotated[str, typer.Option(help="Levels of the templates, separated by commas.")] = "2,3",
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Ask for the templates of references, and count how many paraphrases have them, by their own parse.

    Rows: the source, the reference, the model without a template, with the template of another pair, with the template,
    and the nearest of five candidates.

    Example: `paraloom research evaluate-control english held-out.parquet`
    """
    result = papers.measure_control(
        paraphraser,
        pairs,
        others=others_beside(beside),
        parser=parser,
        encoder=encoder,
        rows=rows,
        only_different=only_different,
        heights=_levels(heights, lowest=1),
        seed=seed,
    )
    print_result(result, as_json)


def evaluate_exemplars(
    paraphraser: Folder,
    pairs: Annotated[
        str,
        typer.Argument(metavar="PAIRS", help="Held-out pairs from `parse`, or a set of `paraloom research exemplars`."),
    ],
    beside: Annotated[list[str] | None, typer.Option(metavar="NAME=FOLDER", help="A further one to compare.")] = None,
    pool: Pool = None,
    parser: OwnParser = None,
    rows: Annotated[int, typer.Option(help="Sentences at most.")] = 1000,
    heights: Annotated[
        str, typer.Option(help="Levels of the trees that are compared, separated by commas; 0: whole trees.")
    ] = "2,4",
    height: Annotated[int, typer.Option(help="Levels of the exemplar's tree that are forced.")] = 4,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Paraphrase with the syntax of exemplars: tree edit distances to reference and exemplar, BLEU, chrF, ROUGE.

    Rows: source, exemplar and reference as they are, the model without an exemplar, with it, and the nearest of five.

    Example: `paraloom research evaluate-exemplars english held-out.parquet`
    """
    result = papers.measure_exemplars(
        paraphraser,
        pairs,
        others=others_beside(beside),
        pool=pool,
        parser=parser,
        rows=rows,
        heights=_levels(heights, lowest=0),
        height=height,
        seed=seed,
    )
    print_result(result, as_json)


def make_exemplars(
    pairs: ParsedPairs,
    output: options.Output,
    pool: Pool = None,
    rows: Annotated[int, typer.Option(help="Sentences with an exemplar at most.")] = 1000,
    max_distance: Annotated[
        int, typer.Option(help="Maximum tree edit distance of exemplar and paraphrase at height 4.")
    ] = 4,
    max_overlap: Annotated[
        float, typer.Option(help="Maximum share of the exemplar's words that the pair has: function words; 0 to 1.")
    ] = 0.5,
    language: Annotated[str, typer.Option(help="Language of the pairs, for its function words.")] = "en",
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Find an exemplar for each pair: another sentence with nearly the syntax of the paraphrase, and other content.

    Example: `paraloom research exemplars held-out.parquet -o exemplars.parquet`
    """
    count = papers.write_exemplars(
        pairs,
        output,
        pool=pool,
        rows=rows,
        max_distance=max_distance,
        max_overlap=max_overlap,
        language=language,
        seed=seed,
    )
    if as_json:
        typer.echo(as_written(output, rows=count))
        return
    conclude(output, "research evaluate-exemplars PARAPHRASER {output}" if Path(output).suffix == ".parquet" else "")


def _levels(heights: str, lowest: int) -> list[int]:
    levels = options.names(heights)
    if not levels or not all(level.isdigit() and int(level) >= lowest for level in levels):
        raise ConfigError(
            f"--heights must be whole numbers from {lowest}, got '{heights}'", remedy="Write, for example, 2,3."
        )
    return [*map(int, levels)]


RESEARCH: options.Commands = {
    "augment": augment,
    "selftrain": selftrain,
    "train-classifier": train_classifier,
    "train-phrases": train_phrases,
    "exemplars": make_exemplars,
    "evaluate-exemplars": evaluate_exemplars,
    "evaluate-control": evaluate_control,
}
