"""Commands that write HTML pages: report, show documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import paraloom.web as reports
from paraloom.cli import options
from paraloom.cli.output import as_written
from paraloom.core.errors import ConfigError


def report(
    sources: Annotated[
        list[str], typer.Argument(metavar="RUN|FILE...", help="The folder of a run; or files of pairs, one or more.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    as_json: options.Json = False,
) -> None:
    """Write one self-contained HTML page about a run, or about files that commands wrote.

    Example: `paraloom report runs/german -o german.html`

    Example: `paraloom report scored.parquet kept.parquet -o pairs.html`
    """
    if len(sources) == 1 and Path(sources[0]).is_dir() and not (Path(sources[0]) / "corpus.json").is_file():
        page = reports.write_report(sources[0], output)
    else:
        page = reports.write_files_report(sources, output)
    typer.echo(as_written(page) if as_json else str(page))


def documents(
    source: Annotated[str, typer.Argument(metavar="SRC", help="A corpus of documents, from `extract`.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="The same in another language.")],
    pairs: Annotated[Path, typer.Option(help="Their pairs, from `align documents`.")],
    links: Annotated[Path, typer.Option(help="Links within the pairs, from `align sentences --documents`.")],
    media: Annotated[
        list[Path] | None, typer.Option(help="Another folder with pictures, if they moved since `extract`. Repeatable.")
    ] = None,
    show: Annotated[
        int, typer.Option(help="Number of pairs on the page: a sample of confident, medium and doubtful ones.")
    ] = 20,
    everything: Annotated[
        bool, typer.Option("--all", help="Write every pair, on further pages in a folder beside the page.")
    ] = False,
    seed: options.Seed = 1,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("documents.html"),
    as_json: options.Json = False,
) -> None:
    """Write one self-contained HTML page that lists aligned documents and shows them side by side, with their pictures.

    Example: `paraloom show documents pages.de pages.en --pairs pairs.tsv --links links.parquet --media pictures`
    """
    for folder in media or []:
        if not folder.is_dir():
            raise ConfigError(f"folder '{folder}' not found", remedy="Name the folder that holds the pictures.")
    page = reports.write_aligned_documents(
        source,
        target,
        output,
        pairs=pairs,
        links=links,
        media=media or [],
        show=show,
        seed=seed,
        everything=everything,
    )
    if as_json:
        typer.echo(as_written(output, shown=len(page.shown), pairs=len(page.pairs)))
        return
    typer.echo(f"{len(page.shown):,} of {len(page.pairs):,} pairs in {output}", err=True)
    if everything:
        typer.echo(f"all {len(page.pairs):,} pairs in {output.with_name(output.stem + '-pairs')}", err=True)


COMMANDS: options.Commands = {"report": report}
SHOW: options.Commands = {"documents": documents}
