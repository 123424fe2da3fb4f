"""The pages of a run: its stages while it runs, and the way of one row through them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.reasons import NOT_SAMPLED, is_not_sampled
from paraloom.io.shards import open_shard, read_batches
from paraloom.pipeline.splits import FOLDERS
from paraloom.web.formatting import count, duration, share
from paraloom.web.layout import View, plural
from paraloom.web.limits import check_limit
from paraloom.web.run_folder import RunView, StageView
from paraloom.web.sources import REASON, stage_folders, stage_source
from paraloom.web.state import ViewState
from paraloom.web.templates import draw

_RECENT = 60.0  # Seconds since the last change of a file for which a stage counts as running

_MAX_FOUND = 50

_COUNTS = ("read", "kept", "rejected", "failed", "time")  # Heads of the columns after the stage


def run_page(run: RunView) -> View:
    """The stages of a run, finished ones with their counts, and what the current one has written so far."""
    folders = {folder.name: folder for folder in stage_folders(run.root)}
    lines = [_finished(stage) for stage in run.stages]
    is_running = False
    done = {stage.folder for stage in run.stages}
    for name in run.pending:
        folder = next((f for f in folders.values() if f.name.split("-", 1)[-1] == name and f.name not in done), None)
        line, changing = _pending(name, folder)
        is_running = is_running or changing
        lines.append(line)
    total = len(run.stages) + len(run.pending)
    text = f"{len(run.stages)} of {plural(total, 'stage')} are done"
    text += "; the run is in progress." if is_running else "." if not run.pending else "; the run does not seem active."
    return View("Run", results=draw("run", text, bool(run.pending), _COUNTS, lines))


def written_rows(folder: Path) -> dict[str, int]:
    """Rows in the shards of a stage so far, kept, rejected and failed."""
    counts: dict[str, int] = {}
    for status, below in FOLDERS.items():
        counts[status] = 0
        for path in (folder / below).glob("*.parquet"):
            try:
                with open_shard(path) as file:
                    counts[status] += file.metadata.num_rows
            except DataError:
                continue
    return counts


def trace_page(run: RunView, state: ViewState) -> View:
    """Where a pair is found in the stages of a run, kept, rejected or failed."""
    pair_id = state.extra.get("id", "")
    if not pair_id:
        raise ConfigError("'id' is missing", remedy="Follow the link on the page of a row.")
    sections = []
    for folder in stage_folders(run.root):
        items = list(_find(folder, pair_id))
        if not items and not any(folder.glob("*.parquet")):
            continue
        sections.append((folder.name, [_trace_line(folder.name, item) for item in items]))
    return View("Way through the run", results=draw("trace", pair_id, sections))


_Line = tuple[str, str, str, Sequence[str], str]
"""A stage: its name, the address of its rows, its kind, the cells of its counts, and a class."""


def _finished(stage: StageView) -> _Line:
    href, counts = "", ["–"] * 4
    if stage.kind != "fit":
        href = ViewState(corpus=stage.folder).url("/pairs")
        parts = {"": stage.rejected - stage.not_sampled, f" {NOT_SAMPLED}": stage.not_sampled}
        shown = [f"{count(rows)}{what} ({share(rows, stage.read)})" for what, rows in parts.items() if rows]
        counts = [count(stage.read), count(stage.kept), ", ".join(shown) or "0", count(stage.failed)]
    return stage.folder, href, stage.use, [*counts, duration(stage.seconds)], ""


def _pending(name: str, folder: Path | None) -> tuple[_Line, bool]:
    if folder is None:
        return (name, "", "", ["", "", "", "", "to do"], "quiet"), False
    newest = max((path.stat().st_mtime for path in folder.rglob("*") if path.is_file()), default=0.0)
    is_running = time.time() - newest < _RECENT
    counts = written_rows(folder)
    has_rows = any(counts.values())
    href = ViewState(corpus=folder.name).url("/pairs") if has_rows else ""
    numbers = [count(counts[status]) if has_rows else "" for status in ("kept", "rejected", "failed")]
    state = "in progress" if is_running else "unfinished"
    return (folder.name, href, "", ["", *numbers, state], "now" if is_running else ""), is_running


def _find(folder: Path, pair_id: str) -> Iterator[dict[str, object]]:
    count_found, row = 0, 0
    for path, status in stage_source(folder, folder.name).shards:
        try:
            with open_shard(path) as file:
                names, rows = file.schema_arrow.names, file.metadata.num_rows
        except DataError:
            continue
        if "pair_id" in names:
            wanted = [name for name in ("pair_id", "src", "tgt", "text", REASON, "error") if name in names]
            start = row
            for batch in read_batches(path, wanted, 8192):
                check_limit()
                for index in pc.indices_nonzero(pc.equal(batch.column("pair_id"), pair_id)).to_pylist():
                    values = {name: batch.column(name)[index].as_py() for name in wanted}
                    unsampled = status == "rejected" and is_not_sampled(values.get(REASON))
                    yield {**values, "status": NOT_SAMPLED if unsampled else status, "row": start + index}
                    count_found += 1
                    if count_found == _MAX_FOUND:
                        return
                start += batch.num_rows
        row += rows


def _trace_line(stage: str, item: dict[str, Any]) -> tuple[str, str, Sequence[str], str, int]:
    reason = item.get(REASON) or item.get("error")
    texts = [item[name][:600] for name in ("src", "tgt", "text") if item.get(name)]
    href = ViewState(corpus=stage).url("/row", row=item["row"] + 1)
    return item["status"], str(reason or ""), texts, href, item["row"] + 1
