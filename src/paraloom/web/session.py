"""Opens the page over a file or a run, and cleans up when it closes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paraloom.web.app import App
from paraloom.web.library import Library
from paraloom.web.markup import element
from paraloom.web.server import ExploreServer, start_server


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
        source: A corpus folder, a file of pairs, `PREFIX.{de,en}`, or a run folder.
        second: Another one to compare it with; of a run, its last corpus is compared.
        encoder: A bundled encoder, a folder, or a sentence-transformers model: shows the nearest rows of each row.
        sheet: Sheet of pairs to judge, from `judge sample` or to be drawn; default: beside the source.
        src_column: Column of the source side of a table.
        tgt_column: Column of the target side.
        scratch: Folder for temporary files; default: the system's.
        port: Port to listen on; 0 for any free one.

    Yields:
        The server; its `url` is the address to open.

    Raises:
        DataError: Nothing that can be explored is there.
        ConfigError: The port cannot be used.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "hello.de-en.tsv"
        >>> _ = file.write_text("Hallo\\tHello\\n")
        >>> with opened(file) as server:
        ...     server.url.startswith("http://127.0.0.1:")
        True
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
    """A page that leads to the server, for a browser to open: other users can see a command line, and not this file.

    Args:
        server: The server.
        folder: A folder that only this user can read.
    """
    path = folder / "open.html"
    refresh = element("meta", http_equiv="refresh", content=f"0; url={server.url}")
    path.write_text(f"<!doctype html>\n{refresh}\n", encoding="utf-8")
    return path
