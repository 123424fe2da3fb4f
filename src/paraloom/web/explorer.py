"""The page of `paraloom explore` from Python: served in the background, for notebooks and scripts."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from markupsafe import Markup

from paraloom.api.pair_inputs import PairsLike, as_pairs
from paraloom.web.app import App
from paraloom.web.library import Library
from paraloom.web.server import ExploreServer, start_server
from paraloom.web.templates import draw


@contextmanager
def opened(library: Library, port: int = 0) -> Iterator[ExploreServer]:
    """A server of the pages about a library, which it closes; `serve_forever` answers requests."""
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


def open_browser(server: ExploreServer, folder: Path) -> None:
    """Open the page in a browser where there is one."""
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin":
        webbrowser.open(launcher(server, folder).as_uri())


class Explorer:
    """A page that is served until it is closed, or the process ends."""

    def __init__(self, server: ExploreServer, resources: ExitStack) -> None:
        self.url = server.url
        self._server = server
        self._resources = resources
        self._thread = threading.Thread(target=server.serve_forever, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Serve the page until Ctrl-C, and close it: for scripts."""
        with suppress(KeyboardInterrupt):
            while self._thread.is_alive():
                time.sleep(0.2)
        self.close()

    def close(self) -> None:
        """Stop serving the page."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._resources.close()

    def __enter__(self) -> Explorer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Explorer {self.url}>"

    def _repr_html_(self) -> str:
        """A link, for notebooks."""
        return str(Markup("<a href='{0}' target='_blank' rel='noopener'>{0}</a>").format(self.url))


def explore(
    pairs: PairsLike, second: PairsLike | None = None, *, browser: bool = True, port: int = 0, **options: Any
) -> Explorer:
    """Open a local page over pairs or a run: search, sort and filter, drag thresholds, judge, compare.

    The page is served in the background, and only to this machine. In a script, call `wait()` on what it returns.

    Args:
        pairs: Pairs in any form that `as_pairs` takes, or the folder of a run.
        second: Other pairs, or another run, to compare with the first.
        browser: Open the page in a browser, where there is one.
        port: Port of the page; 0 for any free one.
        **options: Those of `paraloom explore`, such as `encoder`, which shows the nearest rows of each row.

    Returns:
        The page, as an object with `url`, `wait()` and `close()`; a notebook shows it as a link.

    Raises:
        DataError: The pairs cannot be read.

    Example:
        >>> with explore([("A cat sleeps.", "The cat is asleep.")], browser=False) as page:
        ...     page.url.startswith("http://127.0.0.1:")
        True
    """
    with ExitStack() as stack:
        sources = [None if one is None else _source(one, stack) for one in (pairs, second)]
        assert sources[0] is not None
        server = stack.enter_context(opened(Library(sources[0], second=sources[1], **options), port))
        if browser:
            open_browser(server, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        return Explorer(server, stack.pop_all())


def _source(pairs: PairsLike, stack: ExitStack) -> str | Path:
    if isinstance(pairs, (str, Path)):
        return pairs
    known = as_pairs(pairs)
    stack.callback(lambda: known)  # their temporary folder lives as long as they do
    return known.corpus().folder
