"""Shows the progress of long work on stderr: a bar on a terminal, a line every 15 seconds in a log."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from rich.progress import Task

Advance: TypeAlias = Callable[[int], None]
"""Called with the number of rows (steps, sentences …) finished since the last call."""

ProgressCallback: TypeAlias = Callable[[Any], None]
"""Called by a task while it runs: with a ProgressState, or with the number of rows finished since the last call."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOG_INTERVAL = 15.0  # Seconds between two lines of a log
_FIRST_LINE = 2.0  # Seconds until the first line of a log: shorter work prints none
_LOADING_LINE = 1.5  # Seconds until a line says what is being loaded
_REPORT_INTERVAL = 0.2  # Seconds between two calls of a callback


@dataclass(frozen=True)
class ProgressState:
    """Progress of some work."""

    label: str
    done: int
    total: int | None
    unit: str

    def continues(self, before: ProgressState) -> bool:
        """True if this is the same work as `before`, equally far or further."""
        return replace(self, done=before.done) == before and self.done >= before.done


_callback: ProgressCallback | None = None
_observers: tuple[ProgressCallback, ...] = ()
_visible = False  # True if something is shown already, which says that the program is at work


def disable_progress() -> None:
    """Show no progress in this process: for workers, whose progress their parent process shows."""
    global _callback
    _callback = _ignore


@contextmanager
def report_progress_to(callback: ProgressCallback) -> Iterator[None]:
    """Send the progress of the block to a callback, a few times a second, instead of showing it."""
    global _callback, _observers
    before, observers = _callback, _observers
    # Whoever asks for the progress of the block passes it on to the observers, if it shows it.
    _callback, _observers = callback, ()
    try:
        yield
    finally:
        _callback, _observers = before, observers


@contextmanager
def observe_progress(observer: ProgressCallback) -> Iterator[None]:
    """Send the progress of the block to a callback too, as often as it is shown or reported."""
    global _observers
    before, _observers = _observers, (*_observers, observer)
    try:
        yield
    finally:
        _observers = before


@contextmanager
def progress(label: str, total: int | None = None, *, done: int = 0, unit: str = "rows") -> Iterator[Advance]:
    """Show the progress of the block."""
    start = ProgressState(label, done, total, unit)
    if _callback is None:
        with show_progress(start) as show:
            yield _counter(start, show)
    else:
        callback = _observed(_callback)
        callback(start)
        yield _counter(start, _throttled(callback))


@contextmanager
def show_progress(start: ProgressState) -> Generator[ProgressCallback, None, None]:
    """Show the progress of work that reports its own states, and that may have several parts."""
    for observer in _observers:
        observer(start)
    if _callback is not None:
        yield _observed(_callback)
    else:
        with (_bar if sys.stderr.isatty() else _log_lines)(start) as show, _shown():
            yield _observed(show)


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Say on stderr what the block loads, after 1.5 s and every 15 s; not in workers, nor beside other progress."""
    if _callback is not None or _visible:
        yield
        return
    stream, began, lines = sys.stderr, time.monotonic(), count()

    def say() -> None:
        took = f": {format_duration(time.monotonic() - began)} so far" if next(lines) else " …"
        print(f"loading {what}{took}", file=stream, flush=True)

    with every(_LOG_INTERVAL, say, first=_LOADING_LINE), _shown():
        yield


@contextmanager
def every(seconds: float, action: Callable[[], None], *, first: float | None = None) -> Iterator[None]:
    """Call `action` from a thread every some seconds during the block, the first time after `first`, or as many."""
    ended = threading.Event()

    def beat() -> None:
        # Signals are for the main thread, which holds them back while it starts workers.
        with suppress(AttributeError):
            signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        delay = seconds if first is None else first
        while not ended.wait(delay):
            action()
            delay = seconds

    thread = threading.Thread(target=beat, name="paraloom-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(5)  # A disk that does not answer must not hold up the end.


@contextmanager
def _shown() -> Iterator[None]:
    global _visible
    before, _visible = _visible, True
    try:
        yield
    finally:
        _visible = before


@contextmanager
def _bar(start: ProgressState) -> Generator[ProgressCallback, None, None]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
    from rich.table import Column
    from rich.text import Text

    class Figures(ProgressColumn):
        """Units done, current rate and time left; at the end, the time it took."""

        def render(self, task: Task) -> Text:
            took = task.fields.get("took")
            parts = _figures(task.fields["state"], task.speed if took is None else None)
            if took is not None or not parts:
                parts.append(format_duration((task.elapsed or 0) if took is None else took))
            return Text(", ".join(parts), style="progress.remaining")

    # Where a line is too short, the label is truncated.
    label = TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1))
    figures = Figures(Column(no_wrap=True, min_width=34))  # so that the bar does not move
    with Progress(label, BarColumn(20), figures, console=Console(stderr=True), expand=True) as bar:
        task = bar.add_task(start.label, total=start.total, completed=start.done, state=start)
        before, started = start, time.monotonic()

        def show(state: ProgressState) -> None:
            nonlocal before
            if state.continues(before):
                bar.update(task, completed=state.done, state=state)
            else:
                bar.reset(task, total=state.total, completed=state.done, description=state.label, state=state)
            before = state

        yield show
        # Work in several parts ends as a whole, under its first label.
        last = before if before.label == start.label else start
        bar.update(task, description=start.label, total=1, completed=1, state=last, took=time.monotonic() - started)


@contextmanager
def _log_lines(start: ProgressState) -> Generator[ProgressCallback, None, None]:
    """Print a line after two seconds, then every 15, also while nothing is reported; shorter work prints none.

    The rate is that of all the work so far in this part, from its first report on (what comes before is loading, which
    says nothing about the time that is left), or that of the last 15 seconds, if that is lower: rows whose answers are
    there already, as after a resume, take no time.
    """
    state = before = start
    began = since = time.monotonic()
    due = began + _FIRST_LINE
    counting = False
    recent: deque[tuple[float, int]] = deque()
    lock = threading.Lock()

    def rate(now: float) -> float:
        while len(recent) > 1 and recent[1][0] <= now - _LOG_INTERVAL:
            recent.popleft()
        whole = (state.done - before.done) / (now - since)
        start, done = recent[0] if recent else (since, before.done)
        last = (state.done - done) / (now - start) if now > start else 0.0
        return min(whole, last) if last else whole

    def print_if_due() -> None:
        nonlocal due
        now = time.monotonic()
        if now < due:
            return
        parts = _figures(state, rate(now) if counting and now > since else None)
        if not counting:
            parts.append(f"{format_duration(now - began)} so far")
        print(f"{state.label}: {', '.join(parts)}", file=sys.stderr, flush=True)
        due = now + _LOG_INTERVAL

    def show(new: ProgressState) -> None:
        nonlocal state, before, since, began, counting
        with lock:
            if not new.continues(state):
                began, counting = time.monotonic(), False
            if not counting:
                counting = new.continues(state) and new.done > state.done
                before, since = new, time.monotonic()
                recent.clear()
            recent.append((time.monotonic(), new.done))
            state = new
            print_if_due()

    def look() -> None:
        with lock:
            print_if_due()

    with every(1, look):
        yield show


def _figures(state: ProgressState, speed: float | None) -> list[str]:
    """Units done, rate and time left, as far as they are known."""
    parts = []
    if state.done or state.total is not None:
        parts.append(f"{state.done:,}{'' if state.total is None else f'/{state.total:,}'} {state.unit}")
    if speed:
        parts.append(f"{speed:,.{0 if speed >= 10 else 1}f}/s")
        if state.total is not None and state.total > state.done:
            parts.append(f"{format_duration((state.total - state.done) / speed)} left")
    return parts


def format_duration(seconds: float) -> str:
    """Format a duration in its two largest units."""
    minutes, rest = divmod(round(seconds), 60)
    hours = minutes // 60
    if hours >= 48:
        return f"{hours // 24} d {hours % 24:02d} h"
    if hours:
        return f"{hours} h {minutes % 60:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def format_bytes(size: float) -> str:
    """Format a number of bytes in decimal units."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit in ("B", "kB") else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def _counter(start: ProgressState, callback: ProgressCallback) -> Advance:
    done = start.done

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        callback(replace(start, done=done))

    return advance


def _throttled(callback: ProgressCallback) -> ProgressCallback:
    reported = time.monotonic()

    def report(state: ProgressState) -> None:
        nonlocal reported
        if time.monotonic() - reported >= _REPORT_INTERVAL:
            callback(state)
            reported = time.monotonic()

    return report


def _observed(callback: ProgressCallback) -> ProgressCallback:
    """A callback that the observers get the same states as."""
    observers = _observers
    if not observers:
        return callback

    def report(state: ProgressState) -> None:
        callback(state)
        for observer in observers:
            observer(state)

    return report


def _ignore(state: ProgressState) -> None:
    pass
