"""Toy stages, quick and with known results, for the tests of runs; they record what they do in $TOY_MARKS/marks."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from safetensors import SafetensorError

from paraloom.core.errors import DataError
from paraloom.core.progress import ProgressCallback, progress
from paraloom.core.protocols import CorpusReader
from paraloom.core.schema import SENTENCES
from paraloom.core.stage import Fit, Json, Map, Ref, Source, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.io import Corpus, read_shard


def mark(event: str) -> None:
    """Record an event in a file that all processes append to; with $TOY_HOLD events there, wait to be killed."""
    folder, hold = os.environ.get("TOY_MARKS"), os.environ.get("TOY_HOLD")
    if folder:
        path = Path(folder) / "marks"
        with path.open("a") as stream:
            stream.write(event + "\n")
        if hold and len(path.read_text().splitlines()) >= int(hold):
            time.sleep(3600)


@dataclass(frozen=True, kw_only=True)
class Count(Source):
    """The sentences 's0', 's1' … (from `first`); the last `bad` of them are rejected as they are read."""

    output_schema: ClassVar[str] = "SENTENCES"

    sentences: int = 100
    first: int = 0
    bad: int = 0
    shard_rows: int = 40
    piece: int = 33

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """The rows in batches of `piece` rows; shards must not depend on it."""
        for first in range(self.first, self.sentences, self.piece):
            numbers = range(first, min(first + self.piece, self.sentences))
            rows = [{"doc_id": "d", "sent_id": n, "lang": "en", "text": f"s{n}"} for n in numbers]
            batch = pa.RecordBatch.from_pylist(rows, schema=SENTENCES)
            if self.bad:
                keep = [n < self.sentences - self.bad for n in numbers]
                batch = batch.append_column("keep", pa.array(keep))
                batch = batch.append_column("reason", pa.array([None if k else "bad" for k in keep], pa.string()))
            yield batch


@dataclass(frozen=True, kw_only=True)
class Lines(Source):
    """The lines of a file."""

    output_schema: ClassVar[str] = "SENTENCES"

    path: Path
    shard_rows: int = 40

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All lines in one batch."""
        rows = [
            {"doc_id": self.path.name, "sent_id": n, "lang": "en", "text": line}
            for n, line in enumerate(self.path.read_text().splitlines())
        ]
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=SENTENCES)


@dataclass(frozen=True, kw_only=True)
class Bulk(Source):
    """Many sentences of some 350 characters, generated fast."""

    output_schema: ClassVar[str] = "SENTENCES"

    sentences: int

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """The rows, a thousand at a time."""
        for first in range(0, self.sentences, 1000):
            numbers = pa.array(range(first, first + 1000), pa.int32())
            names = numbers.cast(pa.string())
            text = pc.binary_join_element_wise(*[names] * 50, " ")
            yield pa.RecordBatch.from_arrays([names, numbers, names, text], schema=SENTENCES)


@dataclass(frozen=True, kw_only=True)
class Grow(Map):
    """Adds the length of the text."""

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The rows, with `length`."""
        return batch.append_column("length", pc.utf8_length(batch["text"]))


@dataclass(frozen=True, kw_only=True)
class Upper(Map):
    """Upper-cases the text, adds a seeded column, and takes `delay` seconds a batch."""

    input_columns: ClassVar[tuple[str, ...]] = ("text",)

    suffixes: tuple[str, ...] = ()
    delay: float = 0.0

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The rows, with `noise`."""
        mark(f"upper {batch['sent_id'][0]}")
        time.sleep(self.delay)
        texts = pa.array([text.upper() + "".join(self.suffixes) for text in batch["text"].to_pylist()])
        noise = np.random.default_rng(context.seed).random(batch.num_rows)
        return batch.set_column(3, "text", texts).append_column("noise", pa.array(noise))


@dataclass(frozen=True, kw_only=True)
class Even(Map):
    """Keeps even sentences."""

    every: int = 2

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The rows with `keep` and `reason`."""
        keep = [n % self.every == 0 for n in batch["sent_id"].to_pylist()]
        batch = batch.append_column("keep", pa.array(keep, pa.bool_()))
        return batch.append_column("reason", pa.array([None if k else "odd" for k in keep], pa.string()))


@dataclass(frozen=True, kw_only=True)
class Echo(Map):
    """Repeats sentence n n % 3 times: every third one is dropped."""

    rows: ClassVar[Literal["same", "many"]] = "many"

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The copies, with `_source`."""
        source = [row for row, n in enumerate(batch["sent_id"].to_pylist()) for _ in range(n % 3)]
        return batch.take(pa.array(source, pa.int32())).append_column("_source", pa.array(source, pa.int32()))


@dataclass(frozen=True, kw_only=True)
class Needy(Map):
    """Needs a column that does not exist."""

    input_columns: ClassVar[tuple[str, ...]] = ("txet",)


@dataclass(frozen=True, kw_only=True)
class Above(Map):
    """Adds whether the number of a sentence is above the mean, which a survey computes."""

    def survey(self, corpus: CorpusReader, context: StageContext) -> Json:
        """The mean."""
        mark("survey")
        numbers = [n for batch in corpus.batches(["sent_id"]) for n in batch["sent_id"].to_pylist()]
        return sum(numbers) / len(numbers)

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The rows, with `above`."""
        above = [n > context.survey for n in batch["sent_id"].to_pylist()]
        return batch.append_column("above", pa.array(above))


@dataclass(frozen=True, kw_only=True)
class Faulty(Map):
    """Fails at sentence `at`, in the way that `how` names."""

    how: Literal["data", "batch", "lose", "bug", "die", "kill", "columns", "full", "full-library"]
    at: int = 50

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The rows, unless `at` is among them."""
        numbers = batch["sent_id"].to_pylist()
        if self.at not in numbers:
            return batch
        match self.how:
            case "data":
                raise DataError("the sentence is unusable")
            case "batch":
                raise DataError("the sentence is unusable", row=numbers.index(self.at) + 1)
            case "lose":
                return batch.slice(1)
            case "bug":
                raise ZeroDivisionError("division by zero")
            case "die":
                os._exit(3)
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "full":
                raise OSError(28, os.strerror(28))
            case "full-library":
                raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
        return batch.append_column("more", pa.array(numbers))


@dataclass(frozen=True, kw_only=True)
class Known(Map):
    """Adds whether a file has the text, and how many files a folder from elsewhere has."""

    inputs: ClassVar[tuple[str, ...]] = ("total",)

    words: Path
    total: Ref

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The rows, with `known` and `files`."""
        words = self.words.read_text().lower().splitlines()
        known = [text.lower() in words for text in batch["text"].to_pylist()]
        files = len([path for path in context.inputs["total"].iterdir() if path.suffix in (".txt", ".parquet")])
        names = [name for name in batch.schema.names if name not in ("known", "files")]
        batch = batch.select(names).append_column("known", pa.array(known))
        return batch.append_column("files", pa.array([files] * batch.num_rows))


@dataclass(frozen=True, kw_only=True)
class Total(Fit):
    """Sums the numbers of its corpora, shard by shard, with a checkpoint after each."""

    inputs: ClassVar[tuple[str, ...]] = ("corpora", "other")

    corpora: tuple[Ref, ...]
    other: Ref | None = None
    delay: float = 0.0
    times: int = 1

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """The sum, in `total.txt`."""
        checkpoint = folder / "checkpoint" / "done"
        checkpoint.parent.mkdir(exist_ok=True)
        done = [int(total) for total in checkpoint.read_text().split()] if checkpoint.exists() else []
        shards = [shard for path in context.paths("corpora") for shard in Corpus.open(path).shards]
        with progress("adding", len(shards), done=len(done), unit="shards") as advance:
            for shard in shards[len(done) :]:
                mark(f"fit {shard.parent.name}/{shard.name}")
                time.sleep(self.delay)
                done.append(sum(read_shard(shard)["sent_id"].to_pylist()))
                checkpoint.write_text(" ".join(map(str, done)))
                advance(1)
        (folder / "total.txt").write_text(str(sum(done) * self.times))
        (folder / "timings.txt").write_text(str(time.time()))
        return {"total": sum(done) * self.times}


@cached_per_stage()
def loaded_model(name: str) -> str:
    """A model that takes time to load, marked with the process that loads it."""
    mark(f"load {name} {os.getpid()}")
    return f"{name} of {os.getpid()}"


@dataclass(frozen=True, kw_only=True)
class Heavy(Map):
    """Works with a model that is loaded once a worker; marks the process, its threads and the GPUs that it sees.

    With `crash_at`, the process that meets this sentence first is killed.
    """

    crash_at: int = -1
    delay: float = 0.0

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The rows, unchanged."""
        loaded_model("m")
        variables = ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "PARALOOM_DEVICE")
        mark(" ".join(["heavy", str(os.getpid()), *(f"{name}={os.environ.get(name, '')}" for name in variables)]))
        time.sleep(self.delay)
        crashed = Path(os.environ["TOY_MARKS"], f"crashed-{self.name}")
        if self.crash_at in batch["sent_id"].to_pylist() and not crashed.exists():
            crashed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return batch


class Square:
    """A task for an engine: the square of a number."""

    stage, file, rows = "squares", "n", 1

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, report: ProgressCallback) -> int:
        return self.number**2
