"""Verbs about pairs: filter."""

from __future__ import annotations

from typing import Annotated

import typer

from paraloom.cli import options


def filter_pairs(
    pairs: Annotated[str, typer.Argument(help="Scored pairs: a corpus folder or a table.")],
    output: options.Output = "",
    where: Annotated[str, typer.Option(help="An SQL condition over the columns.")] = "",
    top: Annotated[float | None, typer.Option(help="Keep the best share (0–1) by the column --by.")] = None,
    tenth: Annotated[
        int | None, typer.Option(help="Keep one tenth (1–10) of the ranking by --by; 1 has the lowest values.")
    ] = None,
    by: Annotated[str, typer.Option(help="Column that --top and --tenth rank by.")] = "",
    best: Annotated[str, typer.Option(help="lowest or highest; default: the score's own direction.")] = "",
    sample: Annotated[float | None, typer.Option(help="Keep a random share (below 1) or number of rows.")] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only count what each condition alone, and all together, would keep.")
    ] = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    seed: options.Seed = 1,
) -> None:
    """Keep the pairs that meet all conditions: where, then top or tenth, then sample.

    Example: `paraloom filter scored.parquet -o kept.parquet
    --where "trigram_overlap <= 0.7 and tgt_tokens between 3 and 30"`
    """
    from paraloom.cli.summary import summary
    from paraloom.core.errors import ConfigError
    from paraloom.workflows.run import corpus_stages, run_tables

    criteria = {
        "where": where,
        "top": top,
        "decile": tenth,
        "by": by,
        "best": best,
        "sample": int(sample) if sample is not None and sample >= 1 else sample,
    }
    if preview:
        from paraloom.pairs.filtering.filters import CriterionCount, format_preview
        from paraloom.workflows.analysis import result_of

        found = result_of({"use": "preview-filter", **criteria}, "pairs", pairs, seed=seed)
        typer.echo(format_preview([CriterionCount(**each) for each in found]))
        return
    if not output:
        raise ConfigError("there is no output", remedy="Give -o, or --preview to count only.")
    stages, reference = corpus_stages(pairs)
    work = {"use": "filter", "input": reference, **criteria}
    result = run_tables([*stages, work], output, engine=engine, workers=workers, seed=seed)
    typer.echo(summary(result), err=True)


VERBS = {"filter": filter_pairs}
