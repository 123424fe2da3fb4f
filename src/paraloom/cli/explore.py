"""The command that opens a local page to explore pairs and runs."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

import paraloom.web as explorer
from paraloom.cli import options


def explore(
    source: Annotated[
        str,
        typer.Argument(metavar="FILE_OR_RUN", help="Pairs: a corpus folder, a file, PREFIX.{de,en}; or a run folder."),
    ],
    second: Annotated[
        str | None, typer.Argument(metavar="[SECOND]", help="Other pairs, or another run, to compare with the first.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(help="Shows the nearest rows of each row, by this encoder: a bundled name or a folder."),
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option(
            help="Sheet of pairs to judge, from `judge sample` or drawn on the page; default: beside the file."
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the page; 0 for any free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    src_column: options.SrcColumn = None,
    tgt_column: options.TgtColumn = None,
    scratch: Annotated[
        Path | None,
        typer.Option(help="Folder for temporary files, which take as much space as the texts; default: the system's."),
    ] = None,
) -> None:
    """Open a local page: search, sort and filter pairs, drag thresholds, judge, compare. Stop it with Ctrl-C.

    Example: `paraloom explore scored.parquet`

    Example: `paraloom explore runs/german`

    Example: `paraloom explore strict.parquet loose.parquet`
    """
    with (
        explorer.opened(
            source,
            second,
            encoder=encoder,
            sheet=sheet,
            src_column=src_column,
            tgt_column=tgt_column,
            scratch=scratch,
            port=port,
        ) as server,
        tempfile.TemporaryDirectory() as private,
    ):
        typer.echo(f"{server.url}\nStop with Ctrl-C.")
        if browser and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"):
            webbrowser.open(explorer.launcher(server, Path(private)).as_uri())
        with suppress(KeyboardInterrupt):
            server.serve_forever()


COMMANDS: options.Commands = {"explore": explore}
