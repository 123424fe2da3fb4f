"""The status of a run from its folder: where it is, how fast, what failed; while it runs and after."""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from paraloom.core.errors import DataError, ParaloomError
from paraloom.core.progress import format_bytes, format_duration
from paraloom.core.reasons import NOT_SAMPLED
from paraloom.pipeline.definition import OF_COMMAND
from paraloom.pipeline.manifest import Manifest
from paraloom.pipeline.monitor import STATUS
from paraloom.pipeline.result import count_not_sampled
from paraloom.pipeline.store import LOCK, REPORT, read_report

RunState: TypeAlias = Literal["running", "done", "failed", "interrupted", "killed", "stopped"]
"""'killed': it has ended without a word; 'stopped': the same, in a folder of a version that wrote no status."""

_SILENT = 60.0  # Seconds without a sign of life after which a run is said to be silent
_SHOWN = 5  # Shards with failed rows that are named for a stage


@dataclass(frozen=True)
class StageStatus:
    """A stage of a run."""

    name: str
    state: str  # 'done', 'to do', or for the current stage the state of the run
    folder: str = ""  # Name of its folder, '' if it has none yet
    counts: Mapping[str, int] = field(default_factory=dict)  # Its row counts, if it is done
    seconds: float | None = None  # Time of work, summed over workers and runs, if it is done
    memory: int | None = None  # Peak of its largest worker in bytes, if it is done
    # Name of each shard with failed rows → number of these rows.
    failed: Mapping[str, int] = field(default_factory=dict)
    not_sampled: int = 0  # Rows that a filter's random sample left out, among those rejected


@dataclass(frozen=True)
class RunStatus:
    """The status of a run."""

    folder: Path | str  # Text where it is a URL
    name: str
    state: RunState
    stages: tuple[StageStatus, ...]  # All stages of the pipeline, in order
    # Folder name of the current stage, or of that where the run ended early; None before and after.
    stage: str | None = None
    number: int | None = None  # Number of this stage, from 1
    of: int | None = None  # Number of stages that were to run
    # Of this stage: `label`, `done`, `total`, `unit`, `rate` (units per second), `remaining` (seconds) and `idle`
    # (seconds without progress); None if unknown.
    progress: Mapping[str, Any] | None = None
    # Of each machine that has begun shards of this stage: `machine`, the `shards` that it has, how many it has `done`
    # with how many `rows`, `rate` (rows per second) and `idle` (seconds since it began or finished one).
    machines: tuple[Mapping[str, Any], ...] = ()
    others: tuple[RunStatus, ...] = ()  # Further processes that run the same at this URL
    seconds: float | None = None  # How long the run took so far
    memory: int | None = None  # Memory of the run and its workers on this machine when the status was written, in bytes
    peak_memory: int | None = None  # The most of that, as far as it was observed
    process: int | None = None  # Process number of the run
    host: str | None = None  # Its machine
    updated: str | None = None  # When the status was written (UTC)
    age: float | None = None  # Seconds since then
    error: Mapping[str, Any] | None = None  # What the run failed with: `message`, `stage`, `file`, `row`, `remedy`

    def to_dict(self) -> dict[str, Any]:
        values = {**asdict(replace(self, others=())), "folder": str(self.folder)}
        return {**values, "others": [other.to_dict() for other in self.others]}

    def format(self) -> str:
        """The status in lines: the state, the current stage, memory, all stages, failed rows, the error."""
        name = "" if self.name == OF_COMMAND else f" ({self.name})"
        lines = [f"{self.folder}{name}: {self._headline()}"]
        lines += [line for line in (self._position(), self._memory()) if line]
        lines += self._machines()
        for other in self.others:
            lines += [
                f"also on {other.host}: {other._headline()}",
                *(line for line in (other._position(),) if line),
                *other._machines(),
            ]
        lines += self._table()
        for stage in self.stages:
            if stage.failed:
                lines.append(_failed_rows(stage))
        if self.error:
            where: Any = {key: self.error.get(key) for key in ("stage", "file", "row", "remedy")}
            lines.append(f"error: {ParaloomError(str(self.error.get('message')), **where)}")
        return "\n".join(lines)

    def _headline(self) -> str:
        if self.state == "running":
            return self._running()
        lasted = "" if self.seconds is None else format_duration(self.seconds)
        if self.state == "done":
            to_do = any(stage.state == "to do" for stage in self.stages)
            return f"done{lasted and f' in {lasted}'}{', as far as it was to run (--until)' * to_do}"
        after = f" after {lasted}" if lasted and self.state != "stopped" else ""
        ago = f" ({format_duration(self.age)} ago)" if self.state == "killed" and self.age is not None else ""
        fixed = "when that is fixed, " if self.state == "failed" else ""
        return f"{self.state}{after}{ago}; {fixed}the same command resumes"

    def _running(self) -> str:
        age = self.age or 0
        lasted = "" if self.seconds is None else f" for {format_duration(self.seconds + age)}"
        process = f", process {self.process} on {self.host}" if self.process else ""
        silent = f"; no sign of life for {format_duration(age)}: suspended, or its disk does not answer"
        return f"running{lasted}{process}{silent if age > _SILENT else ''}"

    def _position(self) -> str:
        if self.stage is None:
            return ""
        text = f"stage {self.number} of {self.of}, {self.stage}"
        at = self.progress
        if at is None:
            return text
        part = str(at["label"]).partition("): ")[2]
        text += f": {part + ': ' if part else ''}{at['done']:,}"
        text += f"{'' if at['total'] is None else '/' + format(at['total'], ',')} {at['unit']}".rstrip()
        if at["rate"]:
            text += f", {at['rate']:,.{0 if at['rate'] >= 10 else 1}f}/s"
        if self.state == "running":
            if at["remaining"]:
                text += f", {format_duration(at['remaining'])} left in this stage"
            if at["idle"] > _SILENT:
                text += f", no progress for {format_duration(at['idle'])}"
        return text

    def _machines(self) -> list[str]:
        if self.state != "running":
            return []
        lines = []
        for at in self.machines:
            shards, idle = at["shards"], at["idle"] + (self.age or 0)
            more = f" and {len(shards) - _SHOWN} more" if len(shards) > _SHOWN else ""
            text = f"{', '.join(name.removesuffix('.parquet') for name in shards[:_SHOWN])}{more}" or "no shard"
            text += f", {at['done']:,} done"
            text += f", {at['rate']:,.{0 if at['rate'] >= 10 else 1}f} rows/s" if at["rate"] else ""
            lines.append(f"  on {at['machine']}: {text}; last began or finished one {format_duration(idle)} ago")
        return lines

    def _memory(self) -> str:
        if not self.peak_memory:
            return ""
        peak = f"at most {format_bytes(self.peak_memory)}"
        return f"memory {format_bytes(self.memory or 0)}, {peak}" if self.state == "running" else f"memory {peak}"

    def _table(self) -> list[str]:
        names = [stage.folder or stage.name for stage in self.stages]
        width = max(map(len, names), default=0)
        lines = []
        for name, stage in zip(names, self.stages, strict=True):
            notes = [f"{stage.counts['out']:,} rows"] if stage.counts.get("read") or stage.counts.get("out") else []
            left_out = {
                "rejected": stage.counts.get("rejected", 0) - stage.not_sampled,
                NOT_SAMPLED: stage.not_sampled,
                "failed": stage.counts.get("failed", 0),
            }
            notes += [f"{rows:,} {what}" for what, rows in left_out.items() if rows]
            notes += [] if stage.seconds is None else [format_duration(stage.seconds)]
            lines.append(f"  {name:<{width}}  {stage.state:<7}  {', '.join(notes)}".rstrip())
        return lines


def read_status(folder: str | Path) -> RunStatus:
    folder = Path(folder)
    if not is_run(folder):
        raise DataError(
            f"not a run folder: {REPORT} not found" if folder.is_dir() else "run folder not found",
            file=folder,
            remedy=_nearby(folder) or "Give the folder that `paraloom run` writes.",
        )
    return status_of(folder, folder, written_in(folder), _run_file(folder), is_locked(folder))


def status_of(
    shown: Path | str, folder: Path, written: Mapping[str, Any], run: Mapping[str, Any], locked: bool | None
) -> RunStatus:
    """The status of a run from what it wrote: its status and its run.json."""
    updated = _time(written.get("updated"))
    age = None if updated is None else max(0.0, (datetime.now(UTC) - updated).total_seconds())
    state = _state(written, run, locked, age)
    current = written.get("stage") if state != "done" else None
    of_current = current["folder"] if current else None
    stages = tuple(_stage(folder, record, of_current, state) for record in run["stages"])
    return RunStatus(
        folder=shown,
        name=str(run.get("name") or written.get("name") or folder.name),
        state=state,
        stages=stages,
        stage=of_current,
        number=current["number"] if current else None,
        of=current["of"] if current else None,
        progress=written.get("progress") if current else None,
        machines=tuple(written.get("machines") or ()) if current else (),
        others=(),
        error=written.get("error"),
        age=age,
        **{key: written.get(key) for key in ("seconds", "memory", "peak_memory", "process", "host", "updated")},
    )


def is_run(folder: Path) -> bool:
    """True if a folder is that of a run, which may have just begun."""
    return (folder / REPORT).is_file() or (folder / STATUS).is_file()


def _state(written: Mapping[str, Any], run: Mapping[str, Any], locked: bool | None, age: float | None) -> RunState:
    state: RunState | None = written.get("state")
    if state is None:  # It began a moment ago, or an earlier version ran it.
        if locked:
            return "running"
        return "done" if all(stage.get("state") == "done" for stage in run["stages"]) else "stopped"
    if state == "running" and locked is None:  # The file system does not say: a run gives a sign every two seconds.
        return "running" if age is not None and age < _SILENT else "killed"
    return "killed" if state == "running" and not locked else state


def is_locked(folder: Path) -> bool | None:
    """True if a run holds the lock of the folder; None if that cannot be found out."""
    try:
        lock = (folder / LOCK).open("rb")
    except FileNotFoundError:
        return False
    except OSError:
        return None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return None
    return False


def written_in(folder: Path) -> dict[str, Any]:
    """Last output of the run; empty where it wrote nothing, or nothing whole."""
    try:
        return parse_status((folder / STATUS).read_bytes())
    except OSError:
        return {}


def parse_status(content: bytes) -> dict[str, Any]:
    """What a run wrote as its status; empty if it is not whole."""
    try:
        status = json.loads(content)
        stage, progress = status["stage"], status["progress"]
        whole = stage is None or {"folder", "number", "of"} <= set(stage)
        whole &= progress is None or {"label", "done", "total", "unit", "rate", "remaining", "idle"} <= set(progress)
        whole &= all(map(_is_machine, status.get("machines", ())))
        return status if whole and status["state"] in RunState.__args__ else {}  # type: ignore[attr-defined]
    except (ValueError, KeyError, TypeError):
        return {}


def _is_machine(value: Mapping[str, Any]) -> bool:
    """True if it says of a machine what is shown of one."""
    figures = [value[name] for name in ("done", "rows", "idle")] + [value["rate"] or 0]
    shards = value["shards"]
    return (
        isinstance(value["machine"], str)
        and isinstance(shards, list)
        and all(isinstance(shard, str) for shard in shards)
        and all(isinstance(figure, int | float) for figure in figures)
    )


def _run_file(folder: Path) -> dict[str, Any]:
    path = folder / REPORT
    try:
        return checked_report(read_report(path), path)
    except FileNotFoundError:
        return {"stages": []}


def checked_report(run: dict[str, Any], path: Path | str) -> dict[str, Any]:
    """The content of a run.json; DataError if stages have no names."""
    try:
        if not all(isinstance(stage["name"], str) for stage in run["stages"]):
            raise TypeError("a stage without a name")
        return run
    except (KeyError, TypeError) as error:
        raise DataError(f"cannot be read ({error!r})", file=path, remedy="Run the pipeline again.") from error


def _stage(root: Path, record: Mapping[str, Any], current: str | None, state: RunState) -> StageStatus:
    name = record["name"]
    folder = str(record.get("folder") or _folder_of(root, name))
    of_stage = str(record.get("state", "to do"))
    if of_stage != "done" and folder and folder == current:
        of_stage = state
    counts = record.get("counts") or {}
    settings = record.get("configuration") or {}
    return StageStatus(
        name=name,
        state=of_stage,
        folder=folder,
        counts=counts,
        seconds=record.get("seconds"),
        memory=record.get("memory"),
        failed=dict(_failed(root / folder)) if folder else {},
        not_sampled=count_not_sampled(root / folder, str(record.get("use")), settings, counts.get("rejected", 0)),
    )


def _folder_of(root: Path, name: str) -> str:
    named = re.compile(rf"\d+-{re.escape(name)}")
    return next((path.name for path in sorted(root.glob("*")) if named.fullmatch(path.name)), "")


def _failed(folder: Path) -> Iterator[tuple[str, int]]:
    """The shards of a stage whose failed rows are on the disk."""
    shards = Manifest(folder).shards()
    failed = {record.name: record.counts.failed for record in shards if record.counts.failed}
    yield from ((name, rows) for name, rows in sorted(failed.items()) if (folder / "failed" / name).is_file())


def _failed_rows(stage: StageStatus) -> str:
    shown = [f"{name} ({rows:,})" for name, rows in list(stage.failed.items())[:_SHOWN]]
    more = len(stage.failed) - len(shown)
    rest = f" and {more:,} more shards" if more else ""
    return f"failed rows: {sum(stage.failed.values()):,}, in {stage.folder}/failed: {', '.join(shown)}{rest}"


def _nearby(folder: Path) -> str:
    """Runs inside of a folder that is none itself, or ''."""
    runs = sorted(path.name for path in folder.iterdir() if path.is_dir() and is_run(path)) if folder.is_dir() else []
    more = " …" if len(runs) > _SHOWN else ""
    return f"Name one of the runs in it: {', '.join(runs[:_SHOWN])}{more}." if runs else ""


def _time(text: object) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else None
