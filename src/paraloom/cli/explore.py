"""The command that opens a local page to explore pairs and runs."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

import paraloom.web as explorer
from paraloom.cli.declaration import Command


def _explore(source: str | Path, second: str | Path | None = None, *, browser: bool = True, **options: Any) -> None:
    """Open a local page: search, sort and filter pairs, drag thresholds, judge, compare. Stop it with Ctrl-C.

    Args:
        source: Pairs: a corpus folder, a file, PREFIX.{de,en}; or a run folder.
        second: Other pairs, or another run, to compare with the first.
        browser: Open the page in a browser.
    """
    with explorer.opened(source, second, **options) as server:
        _serve(server, browser)


def _demo(
    *,
    paraphraser: str = "english",
    encoder: str = "english",
    sentences: str | Path | None = None,
    port: int = 0,
    browser: bool = True,
) -> None:
    """Open a local page to try the models: paraphrase, back-translate, find similar sentences. Stop it with Ctrl-C.

    Args:
        paraphraser: english, or a folder of `train paraphraser`.
        encoder: Finds similar sentences, and measures meaning: a bundled name or a folder.
        sentences: The sentences that are searched, one per line. Default: those of the bundled sample.
        port: Port of the page; 0 for any free one.
        browser: Open the page in a browser.
    """
    demo = explorer.Demo(paraphraser=paraphraser, encoder=encoder, sentences=sentences)
    with explorer.demo_server(demo, port) as server:
        _serve(server, browser)


def _serve(server: explorer.ExploreServer, browser: bool) -> None:
    """Open the page in a browser where there is one, and answer until Ctrl-C."""
    with tempfile.TemporaryDirectory() as private:
        typer.echo(f"{server.url}\nStop with Ctrl-C.")
        if browser and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"):
            webbrowser.open(explorer.launcher(server, Path(private)).as_uri())
        with suppress(KeyboardInterrupt):
            server.serve_forever()


DECLARED = [
    Command(name="demo", run=_demo, examples=("",)),
    Command(
        name="explore",
        run=_explore,
        of="paraloom.web.explorer:opened",
        settings={"source": {"metavar": "FILE_OR_RUN"}},
        examples=("scored.parquet", "runs/german", "strict.parquet loose.parquet"),
    ),
]
