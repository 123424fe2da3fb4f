"""Verbs about extraction: extract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options


def extract(
    output: Annotated[
        str, typer.Option("--output", "-o", help="The corpus folder; what became no document is in set-aside.jsonl.")
    ],
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE...", help="Folders of pages, pages (.html .txt), .warc .warc.gz, @FILE: a list of those."
        ),
    ] = None,
    listed: Annotated[
        list[str] | None, typer.Option("--list", help="A list of sources, a path a line, as @FILE. Repeatable.")
    ] = None,
    main_text: Annotated[
        str,
        typer.Option(
            help="site: all but what a site repeats; trafilatura; justext; auto: site from 20 pages on, "
            "trafilatura below."
        ),
    ] = "auto",
    lang: Annotated[str | None, typer.Option(help="Language of all pages; by default what each page says.")] = None,
    languages: Annotated[
        str | None, typer.Option(help="Languages that may occur, such as de,en; by default all that lingua knows.")
    ] = None,
    keep_languages: Annotated[
        bool, typer.Option("--keep-languages", help="Keep pages that read as another language than they say.")
    ] = False,
    least: Annotated[int, typer.Option(help="Characters of main text that make a document.")] = 50,
    media: Annotated[
        list[Path] | None, typer.Option(help="A folder where pictures may be, after the page's own. Repeatable.")
    ] = None,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Extract documents from web pages: main text, title, language, pictures with hashes.

    Example: `paraloom extract site/de site/en crawl.warc.gz -o documents`
    """
    from paraloom.workflows.extract import ExtractConfig, extract_documents

    named = [*(sources or []), *(f"@{each}" for each in listed or [])]
    if not named:
        raise typer.BadParameter("name a folder, a file, an archive or a list", param_hint="SOURCE")
    config = ExtractConfig(
        main_text=main_text,
        lang=lang,
        languages=[each.strip() for each in languages.split(",")] if languages else (),
        keep_languages=keep_languages,
        least=least,
        media=media or (),
    )
    counts = extract_documents(named, output, config, workers=workers)
    if as_json:
        typer.echo(json.dumps(counts.to_json()))
    else:
        typer.echo(counts.render(), err=True)


VERBS = {"extract": extract}
