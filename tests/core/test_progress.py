"""Progress: a bar on a terminal, lines in a log, calls of a callback, or nothing."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable

import pytest
from screen import Screen

from paraloom.core import progress as module
from paraloom.core.progress import (
    ProgressState,
    disable_progress,
    format_duration,
    loading,
    progress,
    report_progress_to,
    show_progress,
)


def stderr(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> Screen:
    """Replace stderr; to be called within the test, because pytest replaces it too."""
    screen = Screen(terminal)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "120")
    return screen


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Advance the clock by some seconds."""
    now = 1000.0

    def wait(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr("time.monotonic", lambda: now)
    return wait


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


def test_a_bar_of_several_parts_ends_under_its_first_label(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stderr(monkeypatch, terminal=True)
    whole = ProgressState("first (3 of 9)", 0, None, "")
    with show_progress(whole) as show:
        show(ProgressState("first (3 of 9): training", 0, 50, "steps"))
        show(ProgressState("first (3 of 9): training", 49, 50, "steps"))
        show(ProgressState("first (3 of 9): translating", 8, 10, "sentences"))
    last = [line for line in re.split(r"[\r\n]+", terminal.text()) if line.strip()][-1]
    assert "first (3 of 9) " in last
    assert "translating" not in last
    assert re.search(r"\d s ", last)
    assert "\x1b[?25h" in terminal.getvalue(), "the cursor is visible again"


def test_a_log_line_every_15_seconds(clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    log = stderr(monkeypatch, terminal=False)
    with progress("training", 1500, done=300, unit="steps") as advance:
        clock(1)
        advance(0)
        for _ in range(8):
            clock(5)
            advance(30)
    assert log.getvalue().splitlines() == [
        "training: 330/1,500 steps",
        "training: 420/1,500 steps, 6.0/s, 3 min 00 s left",
        "training: 510/1,500 steps, 6.0/s, 2 min 45 s left",
    ]


def test_the_time_left_does_not_count_the_time_of_loading(
    clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = stderr(monkeypatch, terminal=False)
    with progress("translating", 100) as advance:
        clock(100)  # the model is loaded, and the first 10 rows are translated
        advance(10)
        clock(20)
        advance(20)
    assert log.getvalue().splitlines()[-1] == "translating: 30/100 rows, 1.0/s, 1 min 10 s left"


def test_the_time_left_after_a_resume_does_not_count_what_was_done_before(
    clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = stderr(monkeypatch, terminal=False)
    with progress("translating", 10_000) as advance:
        advance(0)
        clock(1)
        advance(1)
        clock(1)
        advance(4000)  # answers that were paid for
        for _ in range(6):
            clock(5)
            advance(50)
    assert log.getvalue().splitlines()[-1] == "translating: 4,301/10,000 rows, 10/s, 9 min 30 s left"


def test_short_work_logs_nothing(clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    log = stderr(monkeypatch, terminal=False)
    with progress("training", 10) as advance:
        for _ in range(10):
            clock(0.19)
            advance(1)
    assert log.getvalue() == ""


def test_work_that_reports_nothing_still_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    log = stderr(monkeypatch, terminal=False)
    monkeypatch.setattr(module, "_FIRST_LINE", 0.0)
    printed = threading.Event()
    monkeypatch.setattr(log, "flush", printed.set, raising=False)
    with progress("learning to align", 3, unit="texts"):
        assert printed.wait(30)
    assert log.getvalue().startswith("learning to align: 0/3 texts, ")
    assert "so far" in log.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_slow_loading_says_what_is_loaded(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    log = stderr(monkeypatch, terminal=terminal)
    monkeypatch.setattr(module, "_LOADING_LINE", 0.0)
    monkeypatch.setattr(module, "_LOG_INTERVAL", 0.0)
    printed = threading.Event()
    monkeypatch.setattr(log, "flush", lambda: printed.set() if "so far" in log.getvalue() else None, raising=False)
    with loading("the encoder english"), loading("its inner parts"):
        assert printed.wait(30)
    assert log.getvalue().startswith("loading the encoder english …\nloading the encoder english: 0 s so far\n")
    assert "inner parts" not in log.getvalue()


def test_loading_is_silent_if_short_in_workers_and_while_progress_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    log = stderr(monkeypatch, terminal=False)
    with loading("a model"):
        pass
    monkeypatch.setattr(module, "_LOADING_LINE", 0.0)
    with progress("encoding"), loading("a model"):
        time.sleep(0.05)
    with report_progress_to(lambda state: None), loading("a model"):
        time.sleep(0.05)
    assert log.getvalue() == ""


def test_log_lines_of_several_parts(clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    log = stderr(monkeypatch, terminal=False)
    with show_progress(ProgressState("first", 0, None, "")) as show:
        show(ProgressState("first: training", 0, 100, "rows"))
        clock(10)
        show(ProgressState("first: training", 30, 100, "rows"))
        clock(10)
        show(ProgressState("first: training", 60, 100, "rows"))
        clock(10)
        show(ProgressState("first: translating", 8, 100, "rows"))
        clock(10)
        show(ProgressState("first: translating", 28, 100, "rows"))
        clock(20)
        show(ProgressState("first: translating", 48, 100, "rows"))
    assert log.getvalue().splitlines() == [
        "first: training: 30/100 rows",
        "first: translating: 8/100 rows, 0 s so far",
        "first: translating: 48/100 rows, 1.0/s, 52 s left",
    ], "the rate is that of the current part"


def test_the_bar_ends_with_the_total_duration(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stderr(monkeypatch, terminal=True)
    with show_progress(ProgressState("first", 0, None, "")) as show:
        time.sleep(1.1)
        show(ProgressState("first: training", 0, 100, "rows"))
    assert terminal.text().rstrip().endswith("1 s")


def test_disabled_progress_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stderr(monkeypatch, terminal=True)
    monkeypatch.setattr(module, "_callback", None)
    disable_progress()
    with progress("decoding", 3) as advance:
        advance(3)
    with show_progress(ProgressState("decoding", 0, 3, "rows")) as show:
        show(ProgressState("decoding", 3, 3, "rows"))
    assert terminal.getvalue() == ""


def test_a_callback_is_called_a_few_times_a_second(
    clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = stderr(monkeypatch, terminal=True)
    states: list[ProgressState] = []
    with report_progress_to(states.append), progress("training", 1000, unit="steps") as advance:
        for _ in range(1000):
            clock(0.001)
            advance(1)
    assert [state.done for state in states] == pytest.approx([0, 200, 400, 600, 800], abs=5)
    assert states[0] == ProgressState("training", 0, 1000, "steps")
    assert terminal.getvalue() == ""
    with progress("shown again") as advance:
        advance(1)
    assert "shown again" in terminal.text()


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (3599.7, "1 h 00 min"), (90000, "25 h 00 min")],
)
def test_durations(seconds: float, expected: str) -> None:
    assert format_duration(seconds) == expected
