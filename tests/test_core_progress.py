"""The bar: on a terminal only, and silent where it is told to be."""

from __future__ import annotations

import io

import pytest

from paraloom.core import progress as module
from paraloom.core.progress import progress


class Screen(io.StringIO):
    """Text that says it is a terminal, or not."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("terminal", "silent", "shown"), [(True, False, True), (False, False, False), (True, True, False)]
)
def test_where_it_shows(terminal: bool, silent: bool, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(terminal)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(module, "_silent", silent)
    monkeypatch.setenv("COLUMNS", "120")
    with progress("decoding", total=2000, done=500) as advance:
        advance(1000)
    assert ("decoding" in screen.getvalue() and "1,500/2,000" in screen.getvalue()) == shown
    assert shown or not screen.getvalue()


def test_an_unknown_total(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(True)
    monkeypatch.setattr("sys.stderr", screen)
    with progress("reading") as advance:
        advance(12)
    assert "12" in screen.getvalue()
