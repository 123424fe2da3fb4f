"""Verbs that look into pairs: stats, lexicon, tune, judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from paraloom.cli import options

Pairs = Annotated[str, typer.Argument(help="Pairs: a corpus folder, or a file with both sides.")]


def stats(
    pairs: Pairs,
    sample: Annotated[int, typer.Option(help="Pairs to look at, by chance.")] = 150_000,
    as_json: options.Json = False,
    seed: options.Seed = 1,
) -> None:
    """Length, vocabulary, entropy, repetition of references and translations, and how they differ.

    Scored pairs show more: mean IDF, paraphrase score, and what p(reference) goes with.

    Example: `paraloom stats pairs.parquet`
    """
    found = _result({"use": "pair-statistics", "sample": sample}, "pairs", pairs, seed)
    if as_json:
        typer.echo(json.dumps(found))
        return
    typer.echo(f"{found['pairs']:,} pairs\n")
    parts = ("reference", "translation", "reference_minus_translation")
    names = list(dict.fromkeys(name for part in parts for name in found[part]))
    typer.echo(f"{'':<20}" + "".join(f"{part.replace('_', ' '):>30}" for part in parts))
    for name in names:
        cells = [_estimate(found[part].get(name)) for part in parts]
        typer.echo(f"{name.replace('_', ' '):<20}" + "".join(f"{cell:>30}" for cell in cells))
    if "paraphrase_score" in found:
        typer.echo(f"\nparaphrase score {_estimate(found['paraphrase_score'])}")
    for name, value in found.get("spearman_of_reference_probability", {}).items():
        typer.echo(f"Spearman of p(reference) and {name}: {_estimate(value)}")


def lexicon(
    pairs: Pairs,
    output: options.Output,
    longest: Annotated[int, typer.Option(help="Words of the longest phrase.")] = 3,
    least: Annotated[int, typer.Option(help="Times an entry must have been seen.")] = 2,
    sample: Annotated[int, typer.Option(help="Pairs to learn from, by chance.")] = 500_000,
    seed: options.Seed = 1,
) -> None:
    """Make a paraphrase lexicon: phrases that stand for each other, scored, with examples.

    Example: `paraloom lexicon pairs.parquet -o lexicon.tsv`
    """
    from paraloom.workflows.analysis import write_lexicon

    settings = {"max_phrase_length": longest, "min_count": least, "sample": sample}
    typer.echo(f"{write_lexicon(pairs, output, seed=seed, **settings):,} entries in {output}")


def tune(
    pairs: Pairs,
    sts: Annotated[Path, typer.Option(help="A folder of similarity tasks.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Run folder.")] = Path("runs/tune"),
    grids: Annotated[
        list[str] | None,
        typer.Option(
            "--grid", help="A preset (w17-overlap …: an unknown one lists all), or an SQL condition. Repeatable."
        ),
    ] = None,
    size: Annotated[int, typer.Option(help="Pairs of each selection.")] = 24_000,
    epochs: Annotated[int, typer.Option(help="Passes at most; the best one counts.")] = 10,
    seeds: Annotated[int, typer.Option(help="Times that each selection is drawn and trained.")] = 1,
    random_seeds: Annotated[int, typer.Option(help="The same for the random selection.")] = 5,
    development: Annotated[str, typer.Option(help="The task that decides.")] = "STS-B/dev",
    spec: Annotated[str, typer.Option(help="Parts of the encoder.")] = "word,trigram",
    workers: options.Workers = None,
    seed: options.Seed = 1,
) -> None:
    """Find the filter whose pairs train the best encoder, against random pairs; stopped, the same command goes on.

    Example: `paraloom tune scored.parquet --sts data/sts --grid w17-overlap --grid "src_tokens > 5" -o runs/tune`
    """
    from paraloom.report import write_report
    from paraloom.workflows.tune import Tuning
    from paraloom.workflows.tune import tune as run_tuning

    tuning = Tuning(
        pairs=pairs,
        grids=grids or ["w17-overlap"],
        sts=str(sts),
        development=development,
        size=size,
        epochs=epochs,
        seeds=seeds,
        random_seeds=random_seeds,
        encoder={"spec": spec},
    )
    found = run_tuning(tuning, output, workers=workers, seed=seed)
    typer.echo(f"{'selection':<44} {'pairs':>8} {'epoch':>6} {'Pearson':>8}")
    for row in found.rows:
        interval = f"  [{row['low']:.2f}, {row['high']:.2f}] over {row['seeds']} seeds" if "low" in row else ""
        typer.echo(f"{row['selection']:<44} {row['pairs']:>8,} {row['epoch']:>6} {row['dev_pearson']:>8.2f}{interval}")
    typer.echo(f"{found}\nReport: {write_report(output, output / 'report.html')}")


def judge_sample(
    pairs: Pairs,
    output: Annotated[Path, typer.Option("--output", "-o", help="The sheet, tab-separated.")] = Path("sheet.tsv"),
    by: Annotated[str, typer.Option(help="The score whose ranges are drawn from.")] = "paraphrase_score",
    count: Annotated[int, typer.Option(help="Pairs from each range.")] = 100,
    seed: options.Seed = 1,
) -> None:
    """Draw pairs from each range of a score into a sheet for raters to label.

    Example: `paraloom judge sample scored.parquet -o sheet.tsv`
    """
    from paraloom.workflows.analysis import draw_sheet

    key = draw_sheet(pairs, output, by=by, count=count, seed=seed)
    typer.echo(f"Give each rater a copy of {output}; keep {key}.")


def judge_table(
    sheets: Annotated[list[Path], typer.Argument(help="Labelled sheets, one a rater.")],
    key: Annotated[Path, typer.Option(help="The key that was written beside the sheet.")],
    as_json: options.Json = False,
) -> None:
    """Count the labels in each range, and how far two raters agree.

    Example: `paraloom judge table rater1.tsv rater2.tsv --key sheet.tsv.key.tsv`
    """
    from paraloom.pairs.annotation import LABELS, summarize_ratings

    table = summarize_ratings(sheets, key)
    if as_json:
        typer.echo(json.dumps(table))
        return
    heads = "".join(f"{f'{kind} {value}':>13}" for kind, known in LABELS.items() for value in known)
    typer.echo(f"{'range':<14}{'in corpus':>12}{'overlap':>10}{heads}")
    for row in table["rows"]:
        counts = "".join(f"{row[kind][str(value)]:>13}" for kind, known in LABELS.items() for value in known)
        overlap = "" if row["trigram_overlap"] is None else f"{row['trigram_overlap']:.2f}"
        typer.echo(f"{row['range']:<14}{row['in_corpus']:>12,}{overlap:>10}{counts}")
    for kind, kappa in table["agreement"].items():
        said = "undefined, all labels are the same" if kappa is None else f"{kappa:.2f}"
        typer.echo(f"Cohen's kappa of {kind}: {said}")


def _result(work: dict[str, Any], field: str, corpus: str, seed: int) -> Any:
    """The result.json of one stage over a corpus."""
    from paraloom.workflows.analysis import result_of

    return result_of(work, field, corpus, seed=seed)


def _estimate(value: dict[str, float] | None) -> str:
    if value is None:
        return ""
    if value["low"] == value["high"]:
        return f"{value['value']:,.0f}"
    return f"{value['value']:.4g} [{value['low']:.4g}, {value['high']:.4g}]"


VERBS = {"stats": stats, "lexicon": lexicon, "tune": tune}
JUDGING = {"sample": judge_sample, "table": judge_table}
