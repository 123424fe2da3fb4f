"""Progress: a bar on a terminal, lines in a log, told to another process from within one; silent where asked to be."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from screen import Screen

from paraloom.core import progress as module
from paraloom.core.progress import Position, duration, progress, showing, silence, telling


def stderr(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> Screen:
    """Called within the test: before it, pytest sets its own."""
    screen = Screen(terminal)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "120")
    return screen


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets seconds go by."""
    now = 1000.0

    def go_on(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr("time.monotonic", lambda: now)
    return go_on


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stderr(monkeypatch, terminal=True)
    with progress("decoding", total=2000, done=500) as advance:
        advance(1000)
    assert "decoding" in terminal.text()
    assert "1,500/2,000 rows" in terminal.text()


def test_an_unknown_total(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stderr(monkeypatch, terminal=True)
    with progress("reading") as advance:
        advance(12)
    assert "12 rows" in terminal.text()


def test_the_bar_fits_into_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stderr(monkeypatch, terminal=True)
    monkeypatch.setenv("COLUMNS", "80")
    with progress("a-stage-with-a-rather-long-name (41 of 88): training", 1500, done=700, unit="steps") as advance:
        advance(1)
    lines = re.split(r"[\r\n]+", terminal.text())
    assert max(map(len, lines)) <= 80
    assert any("a-stage" in line and "701/1,500 steps" in line for line in lines)


def test_a_bar_becomes_other_work_and_ends_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stderr(monkeypatch, terminal=True)
    whole = Position("first (3 of 9)", 0, None, "")
    with showing(whole) as show:
        show(Position("first (3 of 9): training", 0, 50, "steps"))
        show(Position("first (3 of 9): training", 49, 50, "steps"))
        show(Position("first (3 of 9): translating", 8, 10, "sentences"))
    last = [line for line in re.split(r"[\r\n]+", terminal.text()) if line.strip()][-1]
    assert "first (3 of 9) " in last
    assert "translating" not in last
    assert "0 s" in last
    assert "\x1b[?25h" in terminal.getvalue(), "the cursor is back"


def test_a_line_a_minute_in_a_log(clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    log = stderr(monkeypatch, terminal=False)
    with progress("training", 1500, done=300, unit="steps") as advance:
        for _ in range(5):
            clock(20)
            advance(30)
    assert log.getvalue() == "training: 390/1,500 steps, 1.5/s, 12 min 20 s left\n"


def test_short_work_leaves_no_line(clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    log = stderr(monkeypatch, terminal=False)
    with progress("training", 10) as advance:
        for _ in range(10):
            clock(5)
            advance(1)
    assert log.getvalue() == ""


def test_lines_of_work_that_becomes_other_work(clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    log = stderr(monkeypatch, terminal=False)
    with showing(Position("first", 0, None, "")) as show:
        clock(50)
        show(Position("first: training", 0, 100, "rows"))
        clock(10)
        show(Position("first: training", 30, 100, "rows"))
        clock(50)
        show(Position("first: translating", 8, 100, "rows"))
        clock(20)
        show(Position("first: translating", 28, 100, "rows"))
    assert log.getvalue() == (
        "first: training: 30/100 rows, 3.0/s, 23 s left\nfirst: translating: 28/100 rows, 1.0/s, 1 min 12 s left\n"
    ), "the rate is that of the work itself"


def test_the_bar_says_in_the_end_how_long_all_of_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stderr(monkeypatch, terminal=True)
    with showing(Position("first", 0, None, "")) as show:
        time.sleep(1.1)
        show(Position("first: training", 0, 100, "rows"))
    assert terminal.text().rstrip().endswith("1 s")


def test_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stderr(monkeypatch, terminal=True)
    monkeypatch.setattr(module, "_listener", None)
    silence()
    with progress("decoding", 3) as advance:
        advance(3)
    with showing(Position("decoding", 0, 3, "rows")) as show:
        show(Position("decoding", 3, 3, "rows"))
    assert terminal.getvalue() == ""


def test_it_is_told_a_few_times_a_second(clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stderr(monkeypatch, terminal=True)
    heard: list[Position] = []
    with telling(heard.append), progress("training", 1000, unit="steps") as advance:
        for _ in range(1000):
            clock(0.001)
            advance(1)
    assert [each.done for each in heard] == pytest.approx([0, 200, 400, 600, 800], abs=5)
    assert heard[0] == Position("training", 0, 1000, "steps")
    assert terminal.getvalue() == ""
    with progress("shown again") as advance:
        advance(1)
    assert "shown again" in terminal.text()


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (3599.7, "1 h 00 min"), (90000, "25 h 00 min")],
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said
