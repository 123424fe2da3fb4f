"""How far long work is, with rate and time left: a bar on a terminal, a line a minute in a log; never in a result."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.progress import Task

Advance: TypeAlias = Callable[[int], None]
"""Called with the number of rows (steps, sentences …) that were done since the last call."""

# Seconds: between two lines of a log, and between two signs to another process.
_LINE = 60.0
_SIGN = 0.2


@dataclass(frozen=True)
class Position:
    """Where some work stands.  done, total: in `unit`; total is None where nobody knows it."""

    label: str
    done: int
    total: int | None
    unit: str

    def continues(self, before: Position) -> bool:
        """Whether it is the same work, further on."""
        return replace(self, done=before.done) == before and self.done >= before.done


Listener: TypeAlias = Callable[[Position], None]
"""Called with where the work stands, whenever it has moved."""

_listener: Listener | None = None


def silence() -> None:
    """Nothing is shown by this process from now on: for workers, whose progress is shown by who started them."""
    global _listener
    _listener = _ignore


@contextmanager
def telling(listener: Listener) -> Iterator[None]:
    """What the block's work would show is told to `listener` instead, a few times a second at most."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


@contextmanager
def progress(label: str, total: int | None = None, *, done: int = 0, unit: str = "rows") -> Iterator[Advance]:
    """Shows on stderr how far the block is, from `done` of `total`, None where nobody knows how much there is.

    On a terminal it is a bar, elsewhere a line for each minute that it takes.

    >>> with progress("decoding", total=3) as advance:
    ...     for _ in range(3):
    ...         advance(1)
    """
    start = Position(label, done, total, unit)
    if _listener is None:
        with showing(start) as show:
            yield _counting(start, show)
    else:
        _listener(start)
        yield _counting(start, _seldom(_listener))


@contextmanager
def showing(start: Position) -> Generator[Listener, None, None]:
    """Shows on stderr where work stands that tells it by itself, and which may become other work on its way."""
    if _listener is not None:
        yield _listener
    elif sys.stderr.isatty():
        with _bar(start) as show:
            yield show
    else:
        yield _lines(start)


@contextmanager
def _bar(start: Position) -> Generator[Listener, None, None]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
    from rich.table import Column
    from rich.text import Text

    class Rest(ProgressColumn):
        """How much is done, how fast lately and how long it will take; at the end, how long it took."""

        def render(self, task: Task) -> Text:
            took = task.fields.get("took")
            words = _words(task.fields["position"], task.speed if took is None else None)
            if took is not None or not words:
                words.append(duration((task.elapsed or 0) if took is None else took))
            return Text(", ".join(words), style="progress.remaining")

    # What does not fit in the line is taken from the label.
    label = TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1))
    rest = Rest(Column(no_wrap=True, min_width=34))  # so that the bar stays in its place
    with Progress(label, BarColumn(20), rest, console=Console(stderr=True), expand=True) as shown:
        task = shown.add_task(start.label, total=start.total, completed=start.done, position=start)
        before, began = start, time.monotonic()

        def show(now: Position) -> None:
            nonlocal before
            if now.continues(before):
                shown.update(task, completed=now.done, position=now)
            else:
                shown.reset(task, total=now.total, completed=now.done, description=now.label, position=now)
            before = now

        yield show
        # What became other work on its way ends as a whole.
        last = before if before.label == start.label else start
        shown.update(task, description=start.label, total=1, completed=1, position=last, took=time.monotonic() - began)


def _lines(start: Position) -> Listener:
    """A line where a minute has gone by, so that short work leaves none."""
    said = since = time.monotonic()
    before = start

    def show(now: Position) -> None:
        nonlocal said, since, before
        clock = time.monotonic()
        if not now.continues(before):
            before, since = now, clock
        elif clock - said >= _LINE and clock > since:
            words = _words(now, (now.done - before.done) / (clock - since))
            print(f"{now.label}: {', '.join(words)}", file=sys.stderr, flush=True)
            before, since, said = now, clock, clock

    return show


def _words(at: Position, speed: float | None) -> list[str]:
    """How much is done, the rate and the time left, as far as they are known."""
    words = []
    if at.done or at.total is not None:
        words.append(f"{at.done:,}{'' if at.total is None else f'/{at.total:,}'} {at.unit}")
    if speed:
        words.append(f"{speed:,.{0 if speed >= 10 else 1}f}/s")
        if at.total is not None and at.total > at.done:
            words.append(f"{duration((at.total - at.done) / speed)} left")
    return words


def duration(seconds: float) -> str:
    """A time as people say it, in the two largest units.

    >>> duration(42), duration(125), duration(7384)
    ('42 s', '2 min 05 s', '2 h 03 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours = minutes // 60
    if hours:
        return f"{hours} h {minutes % 60:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _counting(start: Position, show: Listener) -> Advance:
    done = start.done

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        show(replace(start, done=done))

    return advance


def _seldom(listener: Listener) -> Listener:
    told = time.monotonic()

    def tell(now: Position) -> None:
        nonlocal told
        if time.monotonic() - told >= _SIGN:
            listener(now)
            told = time.monotonic()

    return tell


def _ignore(position: Position) -> None:
    pass
