"""Opens the page over a file or a run, and cleans up when it closes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paraloom.web.app import App
from paraloom.web.library import Library
from paraloom.web.server import ExploreServer, start_server
from paraloom.web.templates import draw


@contextmanager
def opened(
    source: str | Path,
    second: str | Path | None = None,
    *,
    encoder: str | None = None,
    sheet: Path | None = None,
    src_column: str | None = None,
    tgt_column: str | None = None,
    scratch: Path | None = None,
    port: int = 0,
) -> Iterator[ExploreServer]:
    """A server of the pages about a file, a corpus or a run; `serve_forever` answers requests.

    Args:
        source: Pairs or a run.
        second: Other pairs, or another run, to compare with the first.
        encoder: Shows the nearest rows of each row, by this encoder: a bundled name or a folder.
        sheet: Sheet of pairs to judge, from `judge sample` or drawn on the page; default: beside the file.
        src_column: Source column of a table: a name, or a number from 1.
        tgt_column: Target column of a table: a name, or a number from 1.
        scratch: Folder for temporary files, which take as much space as the texts; default: the system's.
        port: Port of the page; 0 for any free one.
    """
    library = Library(
        source,
        second=second,
        encoder=encoder,
        sheet=sheet,
        src_column=src_column,
        tgt_column=tgt_column,
        scratch=scratch,
    )
    try:
        if not library.is_run:
            library.get()
        server = start_server(App(library), port)
        try:
            yield server
        finally:
            server.server_close()
    finally:
        library.close()


def launcher(server: ExploreServer, folder: Path) -> Path:
    """A page that leads to the server, for a browser to open: other users can see a command line, and not this file."""
    path = folder / "open.html"
    path.write_text(f"<!doctype html>\n{draw('redirect', server.url)}\n", encoding="utf-8")
    return path
