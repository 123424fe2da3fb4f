"""Verbs that make pages to look at: show documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options


def documents(
    source: Annotated[str, typer.Argument(metavar="SRC", help="A corpus of documents, as `extract` makes it.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Another, in another language.")],
    pairs: Annotated[Path, typer.Option(help="Their pairs, as `align documents` wrote them.")],
    links: Annotated[Path, typer.Option(help="Links within the pairs, as `align sentences --documents` wrote them.")],
    media: Annotated[
        list[Path] | None, typer.Option(help="A folder with pictures of the documents. Repeatable.")
    ] = None,
    show: Annotated[int, typer.Option(help="Pairs on the page: sure, middling and unsure ones, by lot.")] = 20,
    seed: options.Seed = 1,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("documents.html"),
) -> None:
    """One self-contained HTML page that shows aligned documents side by side, with their pictures and links.

    Example: `paraloom show documents pages.de pages.en --pairs pairs.tsv --links links.parquet --media pictures`
    """
    from paraloom.core.errors import ConfigError
    from paraloom.report import write_aligned_documents

    for folder in media or []:
        if not folder.is_dir():
            raise ConfigError(f"there is no folder '{folder}'", remedy="Name the folder that holds the pictures.")
    found = write_aligned_documents(
        source, target, output, pairs=pairs, links=links, media=media or [], show=show, seed=seed
    )
    typer.echo(f"{len(found.shown):,} of {len(found.pairs):,} pairs in {output}", err=True)


SHOWING = {"documents": documents}
