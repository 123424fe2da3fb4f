"""The log file of long work: a line of JSON for each event, and for the progress every few seconds."""

from __future__ import annotations

import json
import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from paraloom.core.errors import RunError
from paraloom.core.events import report_events_to
from paraloom.core.progress import every, observe_progress
from paraloom.core.secrets import redacted
from paraloom.pipeline.memory import memory_in_use
from paraloom.pipeline.monitor import ProgressTracker

PROGRESS_INTERVAL = 15.0  # Seconds between two lines about progress


@contextmanager
def log_to(path: str | Path) -> Iterator[None]:
    """Append the events of the block to a log file, as lines of JSON.

    Each line has `time` (UTC) and `event`. While something advances, a line `progress` follows every 15 seconds, with
    `done`, `total`, `rate` (units per second), `remaining` (seconds) and `memory` (bytes). A log that cannot be
    written any more is given up with a warning; the work continues.
    """
    log = _EventLog(Path(path))
    with (
        log.stream,
        report_events_to(log.write),
        observe_progress(log.progress),
        every(PROGRESS_INTERVAL, log.write_progress),
    ):
        yield


class _EventLog:
    """An open log file; a line is written whole, whichever thread writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stream = _open(path)
        self.progress = ProgressTracker()
        self._lock = threading.Lock()
        self._stage: dict[str, Any] = {}
        self._ended = False

    def write(self, event: str, fields: Mapping[str, object]) -> None:
        if event == "stage_begin":
            self.progress.reset()
            self._stage = {"stage": fields["stage"]}
        self._append(event, fields)
        if event == "stage_end":
            self.progress.reset()
            self._stage = {}

    def write_progress(self) -> None:
        figures = self.progress.figures()
        if figures is not None or self._stage:
            self._append("progress", {**self._stage, **(figures or {}), "memory": memory_in_use()})

    def _append(self, event: str, fields: Mapping[str, object]) -> None:
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = redacted(json.dumps({"time": time, "event": event, **fields}, ensure_ascii=False, default=str)) + "\n"
        with self._lock:
            if self._ended:
                return
            try:
                self.stream.write(line)
                self.stream.flush()
                return
            except OSError as error:
                self._ended = True
                with suppress(OSError):  # What is left in its buffer cannot be written either.
                    self.stream.close()
                reason = os.strerror(error.errno or 0)
        # Without the lock, because a warning is an event itself.
        warnings.warn(f"cannot write {self.path} ({reason}): the log ends here, the work continues", stacklevel=2)


def _open(path: Path) -> TextIO:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Characters that are not Unicode, as in the name of a file, are written as escapes.
        return path.open("a", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise RunError(
            f"cannot write the log file: {os.strerror(error.errno or 0)}",
            file=path,
            remedy="Name a file in a folder that you may write to.",
        ) from error
