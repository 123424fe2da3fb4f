"""Does one stage: a Source is read, a Map goes to the engine shard by shard, a Fit to a process of its own."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, replace
from typing import Any, TypeAlias

from paraloom.core.errors import DataError, nearest
from paraloom.core.progress import ProgressState, progress, show_progress
from paraloom.core.seeds import derive_seed
from paraloom.core.stage import Fit, Json, Map, Source, StageContext
from paraloom.io import Corpus
from paraloom.pipeline.engines.base import Engine, Inline
from paraloom.pipeline.engines.local import Local
from paraloom.pipeline.fit import ARTIFACT, FitTask, commit_artifact
from paraloom.pipeline.shard import OnError, ShardTask
from paraloom.pipeline.shard_records import ShardRecords
from paraloom.pipeline.source import read_source
from paraloom.pipeline.state import State, shard_keys, survey_of

Seeds: TypeAlias = tuple[int, str]
"""The run's seed and the stage's name."""

Closed: TypeAlias = tuple[dict[str, Any], int]
"""A stage's closing record, and how many shards were made now."""


def read(source: Source, state: State, seeds: Seeds) -> Closed:
    """Read a Source to its end."""
    ledger = ShardRecords(state, source.output_schema, source.output_schema)
    context = StageContext(derive_seed(*seeds), state.inputs)
    with progress(state.label) as advance:
        for record, new in read_source(source, context, state, advance):
            ledger.enter(record, new=new)
    if not ledger.records:
        raise DataError("there are no rows to read", file=next(iter(source.files()), None), remedy="Name other files.")
    return ledger.close(), ledger.made


def map_shards(mapping: Map, state: State, seeds: Seeds, engine: Engine, on_error: OnError) -> Closed:
    """Map those shards of its corpus that are not done."""
    assert state.source is not None, "the pipeline gives every Map a corpus"
    corpus = Corpus.open(state.source.folder)
    _check_input(mapping, corpus)
    ledger = ShardRecords(state, mapping.output_schema or corpus.kind, corpus.kind)
    survey = _survey(mapping, corpus, state, seeds)
    keys = shard_keys(state, survey)
    tasks = []
    for shard, rows in zip(corpus.shards, corpus.shard_rows, strict=True):
        record = state.shard(shard.name, keys[shard.name])
        if record is not None:
            ledger.enter(record, new=False)
        else:
            tasks.append(
                ShardTask(
                    stage=state.place,
                    file=str(shard),
                    rows=rows,
                    mapping=mapping,
                    folder=state.folder,
                    key=keys[shard.name],
                    stage_key=state.key,
                    kind=ledger.kinds["kept"],
                    seeds=seeds,
                    survey=survey,
                    inputs=state.inputs,
                    on_error=on_error,
                )
            )
    done = corpus.rows - sum(task.rows for task in tasks)
    with progress(state.label, corpus.rows, done=done) as advance, closing(engine.run(tasks, advance)) as records:
        for record in records:
            ledger.enter(record)
    return ledger.close(), ledger.made


def fit(fitting: Fit, state: State, seeds: Seeds, engine: Engine) -> Closed:
    """Run a Fit, in a process of its own on this machine whatever the engine: its memory goes back when it ends."""
    context = StageContext(derive_seed(*seeds), state.inputs)
    task = FitTask(state.place, str(state.folder / ARTIFACT), fitting, state.folder, state.key, context)
    hands = engine if isinstance(engine, Inline) else Local(1, threads=True)
    with show_progress(ProgressState(state.label, 0, None, "")) as show:

        def show_inner(at: ProgressState) -> None:
            show(replace(at, label=f"{state.label}: {at.label}"))

        with closing(hands.run([task], show_inner)) as records:
            (record,) = records
    end = asdict(record)
    state.manifest.put("end", end)
    commit_artifact(state.folder, end)
    return end, 1


def _check_input(mapping: Map, corpus: Corpus) -> None:
    if not corpus.rows:
        raise DataError("the corpus has no rows", file=corpus.folder, remedy="Its folder rejected/ may show why.")
    for column in mapping.input_columns:
        if column not in corpus.schema.names:
            raise DataError(
                f"there is no column '{column}'{nearest(column, corpus.schema.names)}",
                file=corpus.folder,
                remedy="Put the stage that adds it before this one.",
            )


def _survey(mapping: Map, corpus: Corpus, state: State, seeds: Seeds) -> Json:
    known, survey = survey_of(state, mapping)
    if not known:
        survey = mapping.survey(corpus, StageContext(derive_seed(*seeds), state.inputs))
        state.manifest.put("survey", {"key": state.whole, "value": survey})
    return survey
