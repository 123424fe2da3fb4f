"""Verbs that measure: evaluate sts, evaluate translation."""

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
    as_json: options.Json = False,
) -> None:
    """Pearson and Spearman with human scores: each subset, mean over subsets, all pairs.

    Example: `paraloom evaluate sts encoder data/sts --published`
    """
    from paraloom.embed.store import load_encoder
    from paraloom.evaluate.similarity import evaluate_sts

    table = evaluate_sts(load_encoder(encoder), folder, task or None)
    typer.echo(json.dumps(table.to_json(), ensure_ascii=False) if as_json else table.render(published=published))


def translation(
    hypotheses: Annotated[str, typer.Argument(metavar="HYP", help="A translation a line.")],
    references: Annotated[str, typer.Argument(metavar="REF", help="As many lines.")],
    as_json: options.Json = False,
) -> None:
    """BLEU and chrF, with sacreBLEU's signatures.

    Example: `paraloom evaluate translation hypotheses.txt references.txt`
    """
    from paraloom.core.io import read_lines
    from paraloom.evaluate.translation import evaluate_translation

    figures = evaluate_translation(list(read_lines(hypotheses)), list(read_lines(references)))
    if as_json:
        typer.echo(json.dumps(figures))
    else:
        for name, shown in (("bleu", "BLEU"), ("chrf", "chrF")):
            interval = figures[f"{name}_interval"]
            margin = "" if interval is None else f" ± {interval:.2f}"
            typer.echo(f"{shown} {figures[name]:.2f}{margin}   {figures[f'{name}_signature']}")


VERBS = {"sts": sts, "translation": translation}
