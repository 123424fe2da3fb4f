"""Verbs that measure: evaluate sts, compare, translation and comet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options


def sts(
    encoder: Annotated[Path, typer.Argument(help="An encoder folder.")],
    folder: Annotated[Path, typer.Argument(help="A folder of similarity tasks, such as data/sts.")],
    task: Annotated[list[str] | None, typer.Option(help="Only this one, such as 2012 or sick2014. Repeatable.")] = None,
    published: Annotated[bool, typer.Option("--published", help="Print the papers' rows below ours.")] = False,
    mteb: Annotated[Path | None, typer.Option(help="Also write STS12.json and so on here, as MTEB keeps them.")] = None,
    as_json: options.Json = False,
) -> None:
    """Pearson and Spearman with human scores: each subset, mean over subsets, all pairs.

    Example: `paraloom evaluate sts encoder data/sts --published`
    """
    from paraloom.embed.loading import open_encoder
    from paraloom.evaluate.mteb import write_mteb
    from paraloom.evaluate.sts import evaluate_sts

    table = evaluate_sts(open_encoder(encoder), folder, task or None)
    if mteb is not None:
        write_mteb(table, mteb)
    typer.echo(json.dumps(table.to_json(), ensure_ascii=False) if as_json else table.render(published=published))


def compare(
    encoders: Annotated[list[Path], typer.Argument(metavar="ENCODER...", help="Encoder folders, two or more.")],
    sts_folder: Annotated[Path, typer.Option("--sts", help="A folder of similarity tasks, such as data/sts.")],
    task: Annotated[list[str] | None, typer.Option(help="Only this one. Repeatable.")] = None,
    resamples: Annotated[int, typer.Option(help="Bootstrap samples.")] = 1000,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Encoders side by side: means and differences with bootstrap intervals, and mean absolute differences.

    Example: `paraloom evaluate compare word trigram lstm --sts data/sts`
    """
    from paraloom.embed.loading import open_encoder
    from paraloom.evaluate.compare import compare_encoders

    opened = {str(path): open_encoder(path) for path in encoders}
    found = compare_encoders(opened, sts_folder, task or None, resamples=resamples, seed=seed)
    typer.echo(json.dumps(found.to_json(), ensure_ascii=False) if as_json else found.render())


def translation(
    hypotheses: Annotated[str, typer.Argument(metavar="HYP", help="A translation a line.")],
    references: Annotated[str, typer.Argument(metavar="REF", help="As many lines.")],
    as_json: options.Json = False,
) -> None:
    """BLEU and chrF, with sacreBLEU's signatures.

    Example: `paraloom evaluate translation hypotheses.txt references.txt`
    """
    from paraloom.evaluate.translation import evaluate_translation
    from paraloom.io import read_lines

    figures = evaluate_translation(list(read_lines(hypotheses)), list(read_lines(references)))
    if as_json:
        typer.echo(json.dumps(figures))
    else:
        for name, shown in (("bleu", "BLEU"), ("chrf", "chrF")):
            interval = figures[f"{name}_interval"]
            margin = "" if interval is None else f" ± {interval:.2f}"
            typer.echo(f"{shown} {figures[name]:.2f}{margin}   {figures[f'{name}_signature']}")


def comet(
    sources: Annotated[str, typer.Argument(metavar="SRC", help="A sentence a line.")],
    hypotheses: Annotated[str, typer.Argument(metavar="HYP", help="Its translation.")],
    references: Annotated[str, typer.Argument(metavar="REF", help="Its reference.")],
    python: Annotated[str, typer.Option(help="The python of an environment of its own that has unbabel-comet.")],
    model: Annotated[str, typer.Option(help="A model of COMET's, or a file .ckpt.")] = "wmt20-comet-da",
    as_json: options.Json = False,
) -> None:
    """COMET, by an interpreter of its own: its packages need not agree with ours.

    Example: `paraloom evaluate comet src.txt hyp.txt ref.txt --python comet/bin/python`
    """
    from paraloom.evaluate.comet import comet_figures, comet_scores
    from paraloom.io import read_lines

    lines = [list(read_lines(path)) for path in (sources, hypotheses, references)]
    scores, made_by = comet_scores(*lines, python=python, model=model)
    figures = comet_figures(scores, made_by)
    if as_json:
        typer.echo(json.dumps({"n": len(scores), **figures}))
    else:
        interval = figures["comet_interval"]
        margin = "" if interval is None else f" ± {interval:.4f}"
        typer.echo(f"COMET {figures['comet']:.4f}{margin}   {figures['comet_signature']}")


VERBS = {"sts": sts, "compare": compare, "translation": translation, "comet": comet}
