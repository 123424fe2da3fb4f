"""Executes one stage: a Source is read, a Map goes to the engine shard by shard, a Fit to a separate process.

A Map with few shards left and no models runs in this process, whatever the number of workers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import ConfigError, DataError, RunError, nearest
from paraloom.core.events import emit
from paraloom.core.progress import Advance, ProgressState, progress, show_progress
from paraloom.core.resources import ONE_CPU
from paraloom.core.schema import SCHEMAS, require
from paraloom.core.seeds import derive_seed
from paraloom.core.stage import Fit, Json, Map, Source, StageContext
from paraloom.core.stage_cache import begin_stage
from paraloom.io import Corpus, seal_corpus, write_shard
from paraloom.io.corpus import DESCRIPTION
from paraloom.io.shards import open_shard
from paraloom.pipeline.counts import RowCounts, total
from paraloom.pipeline.engines.base import Engine, Inline
from paraloom.pipeline.engines.local import Local
from paraloom.pipeline.fit import ARTIFACT, FitTask, commit_artifact
from paraloom.pipeline.manifest import ShardRecord
from paraloom.pipeline.memory import peak_memory
from paraloom.pipeline.shard import OnError, ShardTask
from paraloom.pipeline.splits import FOLDERS, ShardWriter, SplitName
from paraloom.pipeline.state import State, shard_keys, survey_of
from paraloom.pipeline.store import sweep

if TYPE_CHECKING:
    from paraloom.pipeline.remote_manifest import Elsewhere, RemoteShardTask


class ShardRecords:
    """The shards of one stage. Until `close`, its folder is not a corpus that could be opened."""

    def __init__(self, state: State, kind: str, input_kind: str) -> None:
        if kind not in SCHEMAS:
            raise ConfigError(f"unknown schema '{kind}' of the stage's output{nearest(kind, list(SCHEMAS))}")
        self.state = state
        self.kinds: dict[SplitName, str] = {"kept": kind, "rejected": kind, "failed": input_kind}
        self.records: dict[str, ShardRecord] = {}
        self.written = 0
        for below in FOLDERS.values():
            (state.folder / below / DESCRIPTION).unlink(missing_ok=True)

    def enter(self, record: ShardRecord, *, new: bool = True) -> None:
        """Add a finished shard, and record it in the manifest if it is new; RunError if its columns differ."""
        first = next((other for other in self.records.values() if other.columns), record)
        if record.columns and record.columns != first.columns:
            raise RunError(
                f"its columns differ from those of {first.name}: {self._difference(first, record)}",
                file=self.state.folder / record.name,
                remedy="A stage must give each batch the same columns and types: this is a bug of the stage.",
            )
        if new:
            record = ShardRecord.from_dict(self.state.manifest.put("shard", record.as_dict(), record.name))
            self.written += 1
            emit(
                "shard_end",
                stage=self.state.folder_name,
                shard=record.name,
                counts=record.counts.as_dict(),
                seconds=record.seconds,
                memory=record.memory,
            )
        self.records[record.name] = record

    def close(self, figures: Mapping[str, Json] | None = None) -> dict[str, Any]:
        """Check the row counts, make the folder a corpus, and return the closing record of the manifest."""
        records = [self.records[name] for name in sorted(self.records)]
        folder = self.state.folder
        self.state.manifest.fetch({name: known for record in records for name, known in record.files.items()})
        counts = total(record.counts for record in records).check(stage=self.state.folder_name)
        files = {name: file_hash for record in records for name, file_hash in record.files.items()}
        if not counts.out:
            name = self._write_empty(records)
            files[name] = file_digest(folder / name)
        sweep(folder, set(files))
        for split_name, below in FOLDERS.items():
            shards = [folder / name for name in files if (folder / name).parent == folder / below]
            if shards:
                seal_corpus(folder / below, shards, kind=self.kinds[split_name])
                files[f"{below}{DESCRIPTION}"] = file_digest(folder / below / DESCRIPTION)
        end = {
            "key": self.state.whole,
            "kind": self.kinds["kept"],
            "files": files,
            "counts": counts.as_dict(),
            "shards": len(records),
            "seconds": round(sum(record.seconds for record in records), 3),
            "memory": max(record.memory for record in records),
            **({"figures": figures} if figures else {}),
        }
        return self.state.manifest.put("end", end)

    def _write_empty(self, records: list[ShardRecord]) -> str:
        """Write an empty shard with the right columns, if no row was kept: a corpus has at least one shard."""
        rejected = next((name for record in records for name in record.files if name.startswith("rejected/")), None)
        if rejected is None:
            raise RunError(
                "every row failed", file=self.state.folder / "failed", remedy="Its column 'error' says why, row by row."
            )
        with open_shard(self.state.folder / rejected) as file:
            schema = file.schema_arrow
        write_shard(self.state.folder / records[0].name, [], schema.remove(schema.get_field_index("reason")))
        return records[0].name

    def _difference(self, first: ShardRecord, record: ShardRecord) -> str:
        fields: list[set[str]] = []
        self.state.manifest.fetch({**first.files, **record.files})
        for name in (first.name, record.name):
            with open_shard(Path(self.state.folder / name)) as file:
                fields.append({f"{field.name} {field.type}" for field in file.schema_arrow})
        return ", ".join(sorted(fields[0] ^ fields[1])) or "their order, or their signatures"


Seeds: TypeAlias = tuple[int, str]  # The run's seed and the stage's name

Closed: TypeAlias = tuple[dict[str, Any], int]
"""A stage's closing record, and how many of its shards were written in this run."""

SHARDS_INLINE = 2  # So many shards, or fewer, are mapped in this process: before a worker has started, they are done


def read(source: Source, state: State, seeds: Seeds, *, compressed: bool = True) -> Closed:
    shards = ShardRecords(state, source.output_schema, source.output_schema)
    context = StageContext(derive_seed(*seeds), state.inputs)
    with progress(state.label) as advance:
        for record, new in read_source(source, context, state, advance, compressed):
            shards.enter(record, new=new)
    if not shards.records:
        raise DataError("no rows to read", file=next(iter(source.files()), None), remedy="Name files with rows.")
    return shards.close(), shards.written


def map_shards(
    mapping: Map, state: State, seeds: Seeds, engine: Engine, on_error: OnError, elsewhere: Elsewhere | None = None
) -> Closed:
    assert state.source is not None, "every Map of a checked pipeline has an input corpus"
    corpus = Corpus.open(state.source.folder)
    _check_input(mapping, corpus)
    shards = ShardRecords(state, mapping.output_schema or corpus.kind, corpus.kind)
    figures = _checked(mapping, corpus, state, seeds)
    survey = _survey(mapping, corpus, state, seeds)
    keys = shard_keys(state, survey)
    tasks: list[ShardTask | RemoteShardTask] = []
    for shard, rows in zip(corpus.shards, corpus.shard_rows, strict=True):
        record = state.shard(shard.name, keys[shard.name])
        if record is not None and record.counts.read == rows:
            shards.enter(record, new=False)
        else:
            task = ShardTask(
                stage=state.folder_name,
                file=str(shard),
                rows=rows,
                mapping=mapping,
                folder=state.folder,
                key=keys[shard.name],
                stage_key=state.key,
                kind=shards.kinds["kept"],
                seeds=seeds,
                survey=survey,
                inputs=state.inputs,
                on_error=on_error,
            )
            tasks.append(task if state.stored is None else state.stored.task(task, elsewhere))
    done = corpus.rows - sum(task.rows for task in tasks)
    if len(tasks) <= SHARDS_INLINE and isinstance(engine, Local) and not needs_worker(mapping):
        engine = Inline()
    with (
        progress(state.label, corpus.rows, done=done) as advance,
        closing(engine.run(tasks, advance, mapping.resources)) as records,
    ):
        for record in records:
            shards.enter(record)
    context = StageContext(derive_seed(*seeds), state.inputs, survey)
    return shards.close({**figures, **mapping.final_figures(context)}), shards.written


def needs_worker(mapping: Map) -> bool:
    """True if even a few shards need a process of their own: for models, processors, memory or GPUs."""
    return mapping.loads_models or mapping.resources != ONE_CPU


def fit(fitting: Fit, state: State, seeds: Seeds, engine: Engine) -> Closed:
    """Run a Fit in a separate process on this machine, whatever the engine, so that its memory is freed at the end."""
    context = StageContext(derive_seed(*seeds), state.inputs)
    task = FitTask(state.folder_name, str(state.folder / ARTIFACT), fitting, state.folder, state.key, context)
    if isinstance(engine, Local):
        engine.close()  # Its workers rest; a training needs their memory more.
    own_engine = engine if isinstance(engine, Inline) else Local(1, threads=True)
    with show_progress(ProgressState(state.label, 0, None, "")) as show:

        def show_inner(at: ProgressState) -> None:
            show(replace(at, label=f"{state.label}: {at.label}"))

        with closing(own_engine.run([task], show_inner, fitting.resources)) as records:
            (record,) = records
    end = state.manifest.put("end", asdict(record))
    commit_artifact(state.folder, end)
    return end, 1


class NoRowsError(DataError):
    """A stage has nothing to read: an earlier one kept no row."""


def _check_input(mapping: Map, corpus: Corpus) -> None:
    if not corpus.rows:
        raise NoRowsError(
            "the corpus has no rows", file=corpus.folder, remedy="Its folder rejected/ may show why all were rejected."
        )
    for column in mapping.input_columns:
        if column not in corpus.schema.names:
            raise DataError(
                f"column '{column}' not found{nearest(column, corpus.schema.names)}",
                file=corpus.folder,
                remedy="Put the stage that adds it before this one.",
            )


def _checked(mapping: Map, corpus: Corpus, state: State, seeds: Seeds) -> Mapping[str, Json]:
    """The figures of the check of the input, which is done once; a run that resumes finds them in the manifest."""
    record = state.manifest.get("check")
    if record is not None and record["key"] == state.whole:
        figures: Mapping[str, Json] = record["value"]
        return figures
    begin_stage(state.key)
    figures = mapping.check_input(corpus, StageContext(derive_seed(*seeds), state.inputs))
    if figures:
        state.manifest.put("check", {"key": state.whole, "value": figures})
    return figures


def _survey(mapping: Map, corpus: Corpus, state: State, seeds: Seeds) -> Json:
    known, survey = survey_of(state, mapping)
    if not known:
        survey = mapping.survey(corpus, StageContext(derive_seed(*seeds), state.inputs))
        state.manifest.put("survey", {"key": state.whole, "value": survey})
    return survey


def read_source(
    source: Source, context: StageContext, state: State, advance: Advance, compressed: bool
) -> Iterator[tuple[ShardRecord, bool]]:
    """The record of each shard in order, and whether it was written now."""
    for number, pieces in groupby(_cut(source.batches(context), source.shard_rows), key=lambda piece: piece[0]):
        name = f"part-{number:05d}.parquet"
        key = digest([state.key, name])
        record = state.shard(name, key)
        batches = _counted((batch for _, batch in pieces), advance)
        if record is None:
            yield _write(name, key, batches, source, state, compressed), True
        else:
            for _ in batches:
                pass
            yield record, False


def _write(
    name: str, key: str, batches: Iterator[pa.RecordBatch], source: Source, state: State, compressed: bool
) -> ShardRecord:
    started, read = time.monotonic(), 0
    with ShardWriter(state.folder, name, compressed=compressed) as writer:
        for batch in batches:
            require(batch.schema, SCHEMAS[source.output_schema])
            writer.write_split(batch)
            read += batch.num_rows
    rows = writer.rows
    counts = RowCounts(read, rows["kept"], rows["rejected"], 0, out=rows["kept"]).check(
        stage=state.folder_name, file=name
    )
    seconds = round(time.monotonic() - started, 3)
    return ShardRecord(name, key, writer.files(), writer.columns, counts, seconds, peak_memory())


def _counted(batches: Iterator[pa.RecordBatch], advance: Advance) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch
        advance(batch.num_rows)


def _cut(batches: Iterable[pa.RecordBatch], shard_rows: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The same rows, each piece with the number of the shard it belongs to; no piece spans two."""
    row = 0
    for batch in batches:
        while batch.num_rows:
            number, used = divmod(row, shard_rows)
            piece = batch.slice(0, shard_rows - used)
            yield number, piece
            row += piece.num_rows
            batch = batch.slice(piece.num_rows)
