"""The status of a run at a URL, of all processes on any machine that run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraloom.core.errors import DataError
from paraloom.core.remote_files import as_url, local_copy
from paraloom.io.store import Store
from paraloom.pipeline.remote import STATUSES
from paraloom.pipeline.status import RunStatus, checked_report, is_locked, parse_status, status_of, written_in
from paraloom.pipeline.store import REPORT, parse_report


def read_status_at(url: str | Path) -> RunStatus:
    """Read the status of a run at a URL: this machine's or else the latest, then those that ended after it began."""
    store, copy = Store.open(as_url(url)), local_copy(url)
    report = store.read(REPORT)
    if report is None:
        raise DataError(
            f"not a run: {REPORT} not found", file=store.name, remedy="Give the URL that `paraloom run` writes to."
        )
    run = checked_report(parse_report(report, f"{store.name}/{REPORT}"), f"{store.name}/{REPORT}")
    contents = store.read_all(list(store.list(STATUSES)))
    written = [status for status in map(parse_status, contents.values()) if status]
    written.sort(key=lambda status: str(status.get("updated")), reverse=True)
    here = written_in(copy) if is_locked(copy) else {}
    if here:
        written = [one for one in written if _process(one) != _process(here)]
    first, *others = [here, *written] if here else (written or [{}])
    status = status_of(store.name, copy, first, run, True if here else None)
    began = str(first.get("began"))
    also = (status_of(store.name, copy, one, run, None) for one in others if str(one.get("updated")) >= began)
    return replace(status, others=tuple(replace(one, stages=()) for one in also))


def _process(written: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(written.get(key) for key in ("host", "process", "began"))
