"""A bar for long work, with rate and time left: on a terminal only, and never in the way of a result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Advance: TypeAlias = Callable[[int], None]
"""Called with the number of rows (steps, sentences …) that were done since the last call."""

_silent = False


def silence() -> None:
    """No bars in this process from now on: for workers, whose progress is shown by who started them."""
    global _silent
    _silent = True


@contextmanager
def progress(label: str, total: int | None = None, *, done: int = 0, unit: str = "rows") -> Iterator[Advance]:
    """A bar on stderr while the block runs; nothing at all where stderr is no terminal.

    total: how much there is to do, None where nobody knows.  done: how much of it was done before.

    >>> with progress("decoding", total=3) as advance:
    ...     for _ in range(3):
    ...         advance(1)
    """
    if _silent or not sys.stderr.isatty():
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Rows a second, lately."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f} {unit}/s" if speed is not None else "", style="progress.data.speed")

    count = "{task.completed:,.0f}" + ("" if total is None else "/{task.total:,.0f}")
    columns = [TextColumn("{task.description}"), BarColumn(), TextColumn(count), Rate(), TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total, completed=done)
        yield lambda rows: bar.advance(task, rows)


def _ignore(rows: int) -> None:
    pass
