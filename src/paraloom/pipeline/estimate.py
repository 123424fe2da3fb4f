"""A forecast of a run: time, memory and disk of each stage for all rows, measured on two samples of them."""

from __future__ import annotations

import json
import math
import os
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow.compute as pc

from paraloom.core.digests import digest
from paraloom.core.errors import ConfigError, ParaloomError
from paraloom.core.progress import format_bytes, format_duration
from paraloom.core.results import text_table
from paraloom.core.seeds import generator
from paraloom.core.stage import Fit, Json, Source, Stage
from paraloom.io import Corpus
from paraloom.io.atomic import atomic_write
from paraloom.io.corpus import DESCRIPTION
from paraloom.pipeline.definition import Definition, Step
from paraloom.pipeline.manifest import Manifest
from paraloom.pipeline.memory import peak_memory
from paraloom.pipeline.result import RunResult, StageResult
from paraloom.pipeline.runner import StagePlan, run_pipeline
from paraloom.pipeline.sampling import InputSample, inputs_of, on_samples, sample_inputs
from paraloom.pipeline.store import claimed

ESTIMATE = "estimate.json"  # Name of the file in a run folder that holds what was expected of the run
_STEPS = 90  # Updates of a training on the larger sample

_LONGEST = 20.0
"""Seconds that a sample of ten times the rows may take, which light stages need to show what a row costs."""

_BUSY = 1.15
"""Share of processor time to time above which the other work on the machine is mentioned."""

_RESAMPLES = 1000
_ENDS = (None, 0, 1)
_USAGE = ("requests", "input_tokens", "output_tokens", "cost")  # Figures of stages that ask endpoints


@dataclass(frozen=True)
class StageEstimate:
    """Estimate of a stage."""

    name: str
    kind: Literal["source", "map", "fit"]
    units: int  # Rows that it will read, or updates of a training; 0 where neither is known
    rows: int
    seconds_once: float  # Seconds whatever the number of rows, such as the loading of a model; once per worker
    seconds_all: float  # Seconds of work on all rows, on one core
    memory: int  # Peak of its largest worker on the sample, in bytes
    disk: int  # Bytes that it will write
    measured: int  # Units of the larger sample
    is_fixed: bool = False  # Whether the units are updates, whose number does not depend on the rows
    # Shards of its input, the last one as the part of a shard that it is; 0 where they are not known.
    shards: float = 0.0
    requests: int = 0  # Requests that it will send to endpoints, repeated ones included
    input_tokens: int = 0  # Tokens of their prompts
    output_tokens: int = 0  # Tokens of the answers
    cost: float = 0.0  # Their price; 0 without prices
    sample_requests: int = 0  # Requests that were sent to measure this; the run does not use their answers
    # Digest of its kind, version and configuration, by which a run knows an estimate of other settings.
    settings: str = ""
    # Lowest and highest share of `seconds_all` that the samples leave open: where shards are timed, a bootstrap
    # interval of 95 % over them; else between a constant with work that grows with the units, and such work
    # alone.
    spread: tuple[float, float] = (1.0, 1.0)
    decoded: int = 0  # Tokens that a translator on this machine will decode

    def work_seconds(self, workers: int, end: int | None = None) -> float:
        """Seconds of work, summed over a number of workers, as results count them; or an end of the interval."""
        share = 1.0 if end is None else self.spread[end]
        return self.seconds_once * (workers if self.kind == "map" else 1) + self.seconds_all * share

    def seconds(self, workers: int, share: float = 1.0) -> float:
        """Wall seconds with a number of workers, which share the shards of maps; `share` of the expected work."""
        if self.kind == "map":
            rounds = math.ceil(math.ceil(self.shards) / workers)
            share *= min(1.0, rounds / self.shards) if self.shards else 1 / workers
        return self.seconds_once + self.seconds_all * share

    def times(self, factor: float) -> StageEstimate:
        """The stage with a number of times as much work."""
        names = ("units", "rows", "decoded", *_USAGE[:3], *(() if self.kind == "fit" else ("disk",)))
        work: dict[str, Any] = {name: round(getattr(self, name) * factor) for name in names}
        work |= {name: getattr(self, name) * factor for name in ("seconds_all", "shards", "cost")}
        return replace(self, **work)


@dataclass(frozen=True)
class RunEstimate:
    """Estimate of a run."""

    pipeline: str
    workers: int  # Worker processes that it was measured with
    stages: tuple[StageEstimate, ...] = field(default_factory=tuple)  # Each stage, in order
    seconds: float = 0.0  # How long the measurement took
    own_memory: int = 0  # Peak of the process that starts the workers, in bytes
    done: tuple[str, ...] = ()  # Stages that are left out, or shortened, because they are done, or some of their shards
    start: float = 0.0  # Seconds of a run beside the work of its stages, such as the start of worker processes
    # How many times as long as its processor time the measurement took, by other work on the machine: the run may
    # have less of that, or more.
    slowed: float = 1.0
    gpu: float = 0.0  # Tokens that a GPU decodes in a second, for a line of the table of machines; 0 for none

    def wall_seconds(self, workers: int | None = None, end: int | None = None) -> float:
        """Wall time of the whole run, in seconds; `end` 0 or 1: the lower or upper end of its interval."""
        workers = workers or self.workers
        shares = ((stage, 1.0 if end is None else stage.spread[end]) for stage in self.stages)
        return self._scale(end) * (self.start + sum(stage.seconds(workers, share) for stage, share in shares))

    def _scale(self, end: int | None) -> float:
        """What an end of an interval is multiplied by for the other work on the machine."""
        return 1.0 if end is None else self.slowed ** (1 if end else -1)

    def scaled(self, factor: float) -> RunEstimate:
        """The estimate for a number of times as many rows."""
        return replace(self, stages=tuple(s if s.is_fixed else s.times(factor) for s in self.stages))

    def remaining(self, plans: Sequence[StagePlan]) -> RunEstimate:
        """The estimate of what a run has left to do, by the plan of each stage: done shards take no time any more."""
        left = {one.name: 0.0 if one.state == "done" else 1 - one.done / (one.shards or 1) for one in plans}
        whole = {stage: left.get(stage.name, 1.0) for stage in self.stages}
        some = (stage if share == 1 else stage.times(share) for stage, share in whole.items() if share)
        return replace(self, stages=tuple(some), done=tuple(s.name for s, share in whole.items() if share < 1))

    @property
    def input_rows(self) -> int:
        """Rows of all files that are read."""
        return sum(stage.units for stage in self.stages if stage.kind == "source")

    @property
    def disk(self) -> int:
        """Bytes that the run folder will have."""
        return sum(stage.disk for stage in self.stages)

    @property
    def memory(self) -> int:
        """Memory of the largest stage, in bytes, as far as the samples showed it."""
        return self.memory_of(self.workers)

    def memory_of(self, workers: int) -> int:
        """Memory of all workers of the largest stage, and of the process that starts them, in bytes."""
        mapped = [s.memory * min(workers, math.ceil(s.shards) or workers) for s in self.stages if s.kind == "map"]
        trained = [s.memory for s in self.stages if s.kind == "fit"]  # in a process of its own, as workers are
        read = [s.memory for s in self.stages if s.kind == "source"]
        return max([self.own_memory + max(mapped + trained, default=0), *read])

    def machines(self) -> list[dict[str, float]]:
        """Time with its interval, and memory, on machines with more or fewer cores, and with a GPU that decodes."""
        counts = sorted({1, 8, 100, 1000, self.workers})
        rows = [
            {
                "cores": count,
                "seconds": self.wall_seconds(count),
                "low": self.wall_seconds(count, 0),
                "high": self.wall_seconds(count, 1),
                "memory": self.memory_of(count),
            }
            for count in counts
        ]
        if self.gpu:
            moved = tuple(
                replace(s, seconds_all=s.decoded / self.gpu, shards=0.0, kind="source", spread=(1.0, 1.0))
                if s.decoded
                else s
                for s in self.stages
            )
            (row,) = (one for one in replace(self, stages=moved, gpu=0.0).machines() if one["cores"] == self.workers)
            rows.append({**row, "tokens_per_second": self.gpu})
        return rows

    @property
    def cost(self) -> float:
        """Price of all requests to endpoints; 0 without prices."""
        return sum(stage.cost for stage in self.stages)

    def format(self) -> str:
        """A table with a line for each stage, the totals, the requests, and the time on more workers."""
        header = ("stage", "rows in", "rows out", "rate", "time", "from", "to", "memory", "disk")
        lines: list[Sequence[str]] = []
        for stage in self.stages:
            rate = f"{stage.units / stage.seconds_all:,.0f}/s" if stage.seconds_all > 0 and stage.units else ""
            shares = zip(_ENDS, (1.0, *stage.spread), strict=True)
            times = [self._scale(end) * stage.seconds(self.workers, share) for end, share in shares]
            rows = [f"{count:,}" if count else "" for count in (stage.units, stage.rows)]
            lines.append((stage.name, *rows, rate, *_cells(times, stage.memory, stage.disk)))
        times = [self.wall_seconds(end=end) for end in _ENDS]
        lines.append(("whole run", "", "", "", *_cells(times, self.memory, self.disk)))
        cells = [
            (_machine(row), *_cells([row["seconds"], row["low"], row["high"]], row["memory"]))
            for row in self.machines()
        ]
        machines = text_table(("cores", "time", "from", "to", "memory"), cells, left=0)
        return "\n".join([*text_table(header, lines), *self._requests(), "", *machines, "", *self._notes()])

    def _requests(self) -> Iterator[str]:
        for stage in self.stages:
            if stage.requests:
                price = f", cost {stage.cost:,.2f}" if stage.cost else ", without prices"
                yield (
                    f"{stage.name} sends {stage.requests:,} requests: {stage.input_tokens:,} tokens in, "
                    f"{stage.output_tokens:,} tokens out{price}. Measuring this took {stage.sample_requests:,} more."
                )

    def _notes(self) -> Iterator[str]:
        """What the figures leave out, and how they were measured."""
        if self.done:
            yield f"Done already, as a whole or in part, and not counted: {', '.join(self.done)}."
        yield "Rates are of one core, memory of a stage of one worker; from, to: 95 % by shards of the sample."
        decoded = [f"{stage.decoded:,} by {stage.name}" for stage in self.stages if stage.decoded]
        if decoded:
            yield f"Tokens to be decoded: {', '.join(decoded)}."
        if self.slowed > _BUSY:
            yield (
                f"The machine did other work, too: the samples took {self.slowed:.1f} times their processor time, and "
                "the run may take as many times more or less."
            )
        yield f"Measured on samples in {format_duration(self.seconds)}."

    def compare(self, result: RunResult, wall_seconds: float | None = None) -> str:
        """Expected and actual figures of a run, for the stages that ran from beginning to end."""
        expected = {stage.name: stage for stage in self.stages}
        whole = [s for s in result.stages if s.name in expected and s.written == max(1, s.shards)]
        if not whole:
            return ""
        of_stages = [
            [self._scale(end) * expected[s.name].work_seconds(self.workers, end) for end in _ENDS] for s in whole
        ]
        rows: list[tuple[Any, ...]] = [(s.name, *times, s.seconds) for s, times in zip(whole, of_stages, strict=True)]
        if wall_seconds is not None and len(whole) == len(self.stages):
            rows.append(("on the clock", *(self.wall_seconds(end=end) for end in _ENDS), wall_seconds))
        lines = text_table(("stage", "expected, s", "from", "to", "took, s", "ratio"), map(_compared_times, rows))
        for stage in whole:
            lines += _compared_requests(expected[stage.name], stage)
        return "\n".join(lines)

    def is_of(self, settings: Mapping[str, str]) -> bool:
        """True if it was made for these stages."""
        return all(settings.get(stage.name) == stage.settings for stage in self.stages)

    def to_dict(self) -> dict[str, Any]:
        totals = {"wall_seconds": self.wall_seconds(), "memory": self.memory, "disk": self.disk, "cost": self.cost}
        return {**asdict(self), **totals, "machines": self.machines()}

    def save(self, folder: Path) -> None:
        """Write it into a run folder, where the run will find it."""
        with claimed(folder), atomic_write(folder / ESTIMATE) as temporary:
            temporary.write_text(json.dumps(self.to_dict(), indent=1), encoding="utf-8")


def _machine(row: Mapping[str, float]) -> str:
    gpu = row.get("tokens_per_second")
    return f"{row['cores']:,.0f}" + (f", a GPU of {gpu:,.0f} tokens/s" if gpu else "")


def _cells(seconds: Sequence[float], *sizes: float) -> list[str]:
    return [*map(format_duration, seconds), *map(format_bytes, sizes)]


def settings_digest(use: str, version: str, configuration: Mapping[str, Json]) -> str:
    return digest([use, version, configuration])


def read_estimate(folder: Path) -> RunEstimate | None:
    """The estimate in a run folder, None if there is none that can be read."""
    try:
        saved = json.loads((folder / ESTIMATE).read_text(encoding="utf-8"))
        stages = tuple(StageEstimate(**{**one, "spread": tuple(one.get("spread", (1, 1)))}) for one in saved["stages"])
        figures = {key: saved[key] for key in ("own_memory", "start", "slowed", "gpu") if key in saved}
        return RunEstimate(saved["pipeline"], saved["workers"], stages, saved["seconds"], **figures)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def estimate_run(
    definition: Definition, *, workers: int | None = None, until: str | None = None, rows: int = 2000
) -> RunEstimate:
    """Run a pipeline on two samples of its inputs in a temporary folder, and extend both to all rows by a line.

    Every input is read once, to count it and to take rows from all over it. What a stage takes is a constant, such as
    the loading of its models, and a part that grows with its shards and rows, or with the updates of a training: two
    samples, one of a third of the rows, tell them apart. Where that is a matter of seconds, and no endpoint is asked, a
    sample of ten times the rows takes the place of the smaller one.
    """
    if rows < 60:
        raise ConfigError("a sample needs 60 rows", remedy="Ask for more.")
    started = time.monotonic()
    workers = workers or os.cpu_count() or 1
    steps = definition.until(until)
    largest = sample_inputs(definition, steps, 10 * rows)
    samples = {name: sample.every(sample.sampled // rows) for name, sample in largest.items()}
    thirds = {name: sample.every(3) for name, sample in samples.items()}
    with tempfile.TemporaryDirectory(prefix="paraloom-estimate-") as folder:
        small = _measure(definition, steps, thirds, Path(folder) / "small", workers, _STEPS // 3)
        large = _measure(definition, steps, samples, Path(folder) / "large", workers, _STEPS)
        more = any(largest[name].sampled > sample.sampled for name, sample in samples.items())
        if more and not large.asked and _expected_seconds(small, large) < _LONGEST:
            samples, small = largest, large
            large = _measure(definition, steps, samples, Path(folder) / "largest", workers, 10 * _STEPS)
    stages: list[StageEstimate] = []
    for step in steps:
        stages.append(_extend(step, stages, samples, small, large, workers))
    worked = sum(s.seconds / (workers if s.kind == "map" else 1) for s in large.stages.values())
    start = max(0.0, large.wall - worked)
    busy = start + sum(s.seconds for s in large.stages.values())
    slowed = 1.0 if large.asked else max(1.0, busy / large.processor)
    took = time.monotonic() - started
    return RunEstimate(definition.name, workers, tuple(stages), took, peak_memory(), start=start, slowed=slowed)


def _expected_seconds(small: _Measured, large: _Measured) -> float:
    """Seconds that a sample of ten times the rows will take at most, by the rate of each stage between two samples.

    The smaller one was first, and may have had to compile and load what the larger one found: the time of a stage that
    did not grow counts as work.
    """
    rates = (
        _line(small.stages[name].seconds, stage.seconds, small.units[name], large.units[name], 0, stage.kind)[0]
        or stage.seconds / max(1, large.units[name])
        for name, stage in large.stages.items()
    )
    return large.wall + sum(9 * rate * large.units[name] for rate, name in zip(rates, large.stages, strict=True))


@dataclass(frozen=True)
class _Measured:
    """A run on samples."""

    stages: Mapping[str, StageResult]
    units: Mapping[str, int]  # Rows or updates that each had
    disk: Mapping[str, int]  # Bytes in the folder of each
    # Rows and seconds of the shards of each that has any.
    shards: Mapping[str, list[tuple[int, float]]] = field(default_factory=dict)
    wall: float = 0.0
    processor: float = 1.0  # Seconds of processors that it took, those of its workers included
    decoded: Mapping[str, int] = field(default_factory=dict)

    @property
    def asked(self) -> bool:
        return any(stage.figures.get("requests") for stage in self.stages.values())


def _measure(
    definition: Definition,
    steps: tuple[Step, ...],
    samples: Mapping[str, InputSample],
    folder: Path,
    workers: int,
    num_steps: int,
) -> _Measured:
    started, before = time.monotonic(), _processor_seconds()
    smaller = on_samples(definition, steps, samples, num_steps=num_steps, num_shards=5 * workers)
    try:
        result = run_pipeline(smaller, folder, workers=workers)
    except ParaloomError as error:
        error.add_note(
            "This happened on a sample of the rows. If they are too few, take larger ones: `plan_rows` in Python, "
            "`paraloom run --plan-rows`."
        )
        raise
    stages = {stage.name: stage for stage in result.stages}
    units = {}
    for step in smaller.steps:
        counted = [stages[name].counts.out for name in inputs_of(step) if name in stages]
        units[step.name] = _updates(step.stage) or (sum(counted) if counted else stages[step.name].counts.read)
    disk = {name: sum(f.stat().st_size for f in s.folder.rglob("*") if f.is_file()) for name, s in stages.items()}
    shards = {stage.name: _timed_shards(stage) for stage in result.stages if stage.kind != "fit"}
    seconds, processor = time.monotonic() - started, _processor_seconds() - before
    decoded = {step.name: _decoded(step, stages) for step in smaller.steps}
    return _Measured(stages, units, disk, shards, seconds, processor, decoded)


def _processor_seconds() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def _decoded(step: Step, stages: Mapping[str, StageResult]) -> int:
    """Tokens of the translations that a stage made on this machine; 0 for one that makes none."""
    result = stages[step.name]
    if result.kind != "map" or result.figures.get("requests"):
        return 0
    if any(_tokens(stages[name].folder) is not None for name in inputs_of(step) if name in stages):
        return 0
    return _tokens(result.folder) or 0


def _tokens(folder: Path) -> int | None:
    """The sum of the column `tokens` of a corpus; None without one."""
    if not (folder / DESCRIPTION).is_file():
        return None
    corpus = Corpus.open(folder)
    if "tokens" not in corpus.schema.names:
        return None
    return sum(pc.sum(batch.column(0)).as_py() or 0 for batch in corpus.batches(["tokens"]))


def _timed_shards(stage: StageResult) -> list[tuple[int, float]]:
    manifest = Manifest(stage.folder)
    names = [file.name for file in sorted(stage.folder.glob("*.parquet"))]
    records = [record for name in names if (record := manifest.shard(name)) is not None and record.counts.read]
    return [(record.counts.read, record.seconds) for record in records]


def _steady(shards: Sequence[tuple[int, float]], workers: int) -> Sequence[tuple[int, float]]:
    """The shards without the slowest of each worker: the first one, which loads the models."""
    return sorted(shards, key=lambda shard: shard[1] / shard[0])[:-workers] or shards


def _shard_line(
    small: Sequence[tuple[int, float]], large: Sequence[tuple[int, float]], rows: float
) -> tuple[float, float, tuple[float, float]]:
    """Seconds of a shard whatever its rows, seconds a row, and the interval of a shard of `rows` rows, relative to it.

    The line goes through the median shards of two samples. The work of a row is not below 0, and the constant is not
    either; the interval is a bootstrap over the shards.
    """

    def line(few: Any, many: Any) -> Any:
        (first, before), (second, after) = (np.moveaxis(np.median(one, axis=-2), -1, 0) for one in (few, many))
        grown = np.where(second > first, (after - before) / np.maximum(second - first, 1), np.inf)
        rate = np.clip(grown, 0.0, after / second)
        return after - rate * second, rate

    draw = generator(1, 0)
    constant, rate = (float(value) for value in line(small, large))
    constants, rates = line(*(draw.choice(np.asarray(one), (_RESAMPLES, len(one))) for one in (small, large)))
    seconds = constant + rate * rows
    low, high = np.percentile(constants + rates * rows, (2.5, 97.5)).tolist()
    return constant, rate, (min(1.0, low / seconds), max(1.0, high / seconds)) if seconds else (1.0, 1.0)


class _Seconds(NamedTuple):
    """Seconds of a stage: once, for each unit, for all shards; and their 95 % interval, relative to them."""

    once: float
    rate: float
    of_shards: float
    spread: tuple[float, float]


def _seconds(
    name: str, small: _Measured, large: _Measured, units: int, shards: float, workers: int, by_shard: bool
) -> _Seconds:
    """Extend the time of a stage to all units: by the line of its shards, or by that of the two samples."""
    result, second = large.stages[name], large.units[name]
    few, many = (one.shards.get(name) or [] for one in (small, large))
    if few and many and units and by_shard:
        count = max(1, math.ceil(shards))
        of_shard, rate, spread = _shard_line(_steady(few, workers), _steady(many, workers), units / count)
        once = max(0.0, result.seconds - of_shard * len(many) - rate * second)
        return _Seconds(once, rate, of_shard * count, spread)
    rate, once = _line(small.stages[name].seconds, result.seconds, small.units[name], second, units, result.kind)
    high = max(1.0, result.seconds / (rate * second)) if rate * second else 1.0
    return _Seconds(once, rate, 0.0, (1.0, high))


def _extend(
    step: Step,
    before: list[StageEstimate],
    samples: Mapping[str, InputSample],
    small: _Measured,
    large: _Measured,
    workers: int,
) -> StageEstimate:
    result, first, second = large.stages[step.name], small.units[step.name], large.units[step.name]
    sample = samples.get(step.name)
    units = _updates(step.stage) or (sample.rows if sample is not None else _rows_before(step, before, samples))
    shards = _shards(step, before, samples, units)
    used = workers if result.kind == "map" else 1
    by_shard = result.kind == "map" or sample is not None
    time_ = _seconds(step.name, small, large, units, shards, used, by_shard)
    share = units / second if second else 1.0
    is_fit = isinstance(step.stage, Fit)
    grows = not is_fit
    if is_fit and hasattr(step.stage, "answers"):  # those of an endpoint grow with the rows of the stages that ask it
        share, grows = sum(s.rows for s in samples.values()) / sum(s.sampled for s in samples.values()), True
    return StageEstimate(
        name=step.name,
        kind="fit" if is_fit else "source" if sample is not None else result.kind,
        units=units,
        rows=0 if is_fit else round(result.counts.out * share),
        seconds_once=time_.once / used,
        seconds_all=time_.rate * units + time_.of_shards + (sample.seconds if sample is not None else 0.0),
        memory=result.memory,
        disk=round(large.disk[step.name] * (share if grows else 1.0)),
        measured=second,
        is_fixed=_updates(step.stage) > 0,
        shards=shards,
        settings=settings_of(step),
        spread=time_.spread,
        decoded=round(large.decoded.get(step.name, 0) * share),
        **_usage(small.stages[step.name], result, first, second, units),
    )


def _rows_before(step: Step, before: Sequence[StageEstimate], samples: Mapping[str, InputSample]) -> int:
    rows_of = {stage.name: stage.rows for stage in before} | {name: sample.rows for name, sample in samples.items()}
    return sum(rows_of.get(name, 0) for name in inputs_of(step))


def _usage(small: StageResult, large: StageResult, first: int, second: int, units: int) -> dict[str, Any]:
    """Requests that a stage will send to endpoints; the requests by which the server is probed are asked only once."""
    usage: dict[str, object] = {}
    for name in _USAGE:
        before, after = (float(stage.figures.get(name) or 0) for stage in (small, large))
        rate = max(0.0, after - before) / (second - first) if second > first else after / max(1, second)
        value = max(0.0, after - rate * second) + rate * units
        usage[name] = value if name == "cost" else round(value)
    usage["sample_requests"] = sum(int(stage.figures.get("requests") or 0) for stage in (small, large))
    return usage


def _compared_times(row: tuple[Any, ...]) -> list[str]:
    name, expected, *_, took = row
    return [name, *(f"{seconds:,.1f}" for seconds in row[1:]), f"{took / expected:.2f}" if expected > 0 else ""]


def _compared_requests(expected: StageEstimate, stage: StageResult) -> list[str]:
    lines = []
    for name in _USAGE:
        before, after = getattr(expected, name), float(stage.figures.get(name) or 0)
        if before and after:
            digits = 2 if name == "cost" else 0
            label = name.replace("_", " ")
            lines.append(
                f"{stage.name}: {label} expected {before:,.{digits}f}, took {after:,.{digits}f}, "
                f"ratio {after / before:.2f}"
            )
    return lines


def _line(before: float, after: float, first: int, second: int, units: int, kind: str) -> tuple[float, float]:
    """Seconds a unit, and seconds whatever their number, of two measurements."""
    if second > first and after > before:
        rate = (after - before) / (second - first)
        return rate, max(0.0, after - rate * second)
    # A time that does not grow shows no more than its size: for a source, whose work is its rows, that of a row.
    return (after / second, 0.0) if kind == "source" and units > second > 0 else (0.0, after)


def _shards(step: Step, before: list[StageEstimate], samples: Mapping[str, InputSample], rows: int) -> float:
    if isinstance(step.stage, Source):
        return rows / step.stage.shard_rows
    known = {name: sample.shards for name, sample in samples.items()} | {s.name: s.shards for s in before}
    return known.get(str(step.source), 0.0)


def settings_of(step: Step) -> str:
    return settings_digest(step.use, step.stage.version, step.stage.configuration())


def _updates(stage: Stage) -> int:
    """Updates of a training whose number is a setting, else 0."""
    steps = getattr(stage, "steps", None)
    return steps if isinstance(stage, Fit) and isinstance(steps, int) else 0
