"""A pipeline on samples: rows from all over its inputs in place of all of them, and trainings of few steps."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.seeds import derive_seed
from paraloom.core.stage import BATCH_ROWS, Fit, Map, Source, Stage, StageContext
from paraloom.io import Corpus
from paraloom.pipeline.definition import Definition, Step, detached

_BLOCK = 10  # Rows in a row that are sampled together


@dataclass(frozen=True)
class InputSample:
    """Rows of an input."""

    rows: int
    kind: str
    blocks: tuple[pa.RecordBatch, ...]
    seconds: float = 0.0
    shards: int = 0

    @property
    def sampled(self) -> int:
        return sum(block.num_rows for block in self.blocks)

    def every(self, step: int) -> InputSample:
        return replace(self, blocks=self.blocks[step // 2 :: max(1, step)] or self.blocks)


@dataclass(frozen=True, kw_only=True)
class SampledInput(Source):
    """The rows of a sample, in place of the stage or the corpus that they are from."""

    in_memory: ClassVar[tuple[str, ...]] = ("sample",)

    sample: InputSample

    @property
    def output_schema(self) -> str:  # type: ignore[override]
        return self.sample.kind

    def configuration(self) -> dict[str, Any]:
        """The number of rows: nothing that is made of a sample is kept for another run."""
        return {"rows": self.sample.sampled}

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        yield from pa.Table.from_batches(self.sample.blocks).combine_chunks().to_batches(max_chunksize=BATCH_ROWS)


def sample_inputs(definition: Definition, steps: Sequence[Step], rows: int) -> dict[str, InputSample]:
    """Read every input of a pipeline once, and keep rows that are spread over all of it."""
    samples: dict[str, InputSample] = {}
    for step in steps:
        if _reads_files(step):
            context = StageContext(
                derive_seed(definition.seed, step.name), {key: Path(value) for key, value in step.references.items()}
            )
            source = detached(step)
            assert isinstance(source, Source)
            samples[step.name] = _sample(source.batches(context), source.output_schema, rows, step.name)
        for corpus in _outside_corpora(step):
            if str(corpus) not in samples:
                opened = Corpus.open(corpus)
                sample = _sample(opened.batches(), opened.kind, rows, corpus.name)
                samples[str(corpus)] = replace(sample, shards=len(opened.shards))
    return samples


def on_samples(
    definition: Definition,
    steps: Sequence[Step],
    samples: Mapping[str, InputSample],
    *,
    num_steps: int,
    num_shards: int,
) -> Definition:
    shares = _shares(steps, samples)
    corpora = {corpus for step in steps for corpus in _outside_corpora(step)}
    names = {str(corpus): f"input-{number}" for number, corpus in enumerate(sorted(corpora), start=1)}
    sampled = [_step(names[str(corpus)], samples[str(corpus)], num_shards) for corpus in sorted(corpora)]
    for step in steps:
        if step.name in samples:
            sampled.append(_step(step.name, samples[step.name], num_shards))
            continue
        references = {key: names.get(str(value), value) for key, value in step.references.items()}
        source = names.get(str(step.source), step.source)
        stage = _smaller(step, shares[step.name], num_steps)
        sampled.append(replace(step, stage=stage, source=source, references=references))
    return replace(definition, steps=tuple(sampled))


def inputs_of(step: Step) -> list[str]:
    """Names of the steps, and paths of the corpora outside of the run, that a step reads."""
    references = [*step.references.values(), *([step.source] if step.source is not None else [])]
    return [str(reference) for reference in dict.fromkeys(references)]


def _reads_files(step: Step) -> bool:
    """True if it is a source that no earlier step gives its rows to."""
    return isinstance(step.stage, Source) and all(isinstance(value, Path) for value in step.references.values())


def _outside_corpora(step: Step) -> list[Path]:
    if _reads_files(step):
        return []
    return [Path(name) for name in inputs_of(step) if (Path(name) / "corpus.json").is_file()]


def _sample(batches: Iterable[pa.RecordBatch], kind: str, rows: int, label: str) -> InputSample:
    """Keep every k-th block of rows; k doubles whenever there are more than twice as many as asked for."""
    kept: list[tuple[int, pa.RecordBatch]] = []
    count, stride = 0, 1
    started = time.monotonic()
    with progress(f"counting {label}") as advance:
        for batch in batches:
            start = 0
            while start < batch.num_rows:
                number, used = divmod(count + start, _BLOCK)
                size = min(_BLOCK - used, batch.num_rows - start)
                if number % stride == 0:
                    # A slice refers to its whole batch, which is not to be kept in memory.
                    kept.append((number, batch.take(pa.array(range(start, start + size)))))
                start += size
            count += batch.num_rows
            while sum(block.num_rows for _, block in kept) > max(2 * rows, 3 * _BLOCK):
                stride *= 2
                kept = [(number, block) for number, block in kept if number % stride == 0]
            advance(batch.num_rows)
    if not kept:
        raise DataError(f"stage {label} has no rows to sample", remedy="Name files with rows.")
    together = pa.Table.from_batches([block for _, block in kept]).combine_chunks()
    return InputSample(count, kind, tuple(together.to_batches(max_chunksize=_BLOCK)), time.monotonic() - started)


def _step(name: str, sample: InputSample, num_shards: int) -> Step:
    shard_rows = max(1, -(-sample.sampled // num_shards))
    return Step(name, "sampled-rows", SampledInput(name=name, sample=sample, shard_rows=shard_rows))


def _shares(steps: Sequence[Step], samples: Mapping[str, InputSample]) -> dict[str, float]:
    """Share of its rows that each step gets, by the samples that they come from."""
    origins: dict[str, frozenset[str]] = {}
    shares = {}
    for step in steps:
        own = {step.name} if step.name in samples else set()
        own |= {name for name in inputs_of(step) if name in samples}
        origins[step.name] = frozenset(own).union(*(origins.get(name, frozenset()) for name in inputs_of(step)))
        total = sum(samples[name].rows for name in origins[step.name])
        shares[step.name] = sum(samples[name].sampled for name in origins[step.name]) / total if total else 1.0
    return shares


def _smaller(step: Step, share: float, num_steps: int) -> Stage:
    stage, names = step.stage, {f.name for f in fields(step.stage)}
    if isinstance(stage, Fit) and "answers" in names:
        # The answers to each sample are counted by themselves, and what is kept of earlier runs is not asked again.
        return replace(stage, answers="")  # type: ignore[call-arg]
    if isinstance(stage, Fit) and isinstance(getattr(stage, "steps", None), int):
        changes = {"steps": min(stage.steps, num_steps)}  # type: ignore[attr-defined]
        if "warmup_steps" in names:
            changes["warmup_steps"] = min(stage.warmup_steps, max(1, changes["steps"] // 2))  # type: ignore[attr-defined]
        return replace(stage, **changes)
    if isinstance(stage, Map) and isinstance(getattr(stage, "sample", None), int):
        return replace(stage, sample=max(1, round(stage.sample * share)))  # type: ignore[call-arg, attr-defined]
    return stage
