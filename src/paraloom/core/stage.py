"""Stages of a pipeline: Source reads, Map works row by row, Fit turns corpora into an artifact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import pyarrow as pa

from paraloom.core.config import Config
from paraloom.core.digests import digest
from paraloom.core.protocols import CorpusReader
from paraloom.core.resources import ONE_CPU, Resources

BATCH_ROWS = 1024  # Rows to a batch of most stages; fixed, because seeds, and so bytes, depend on it
Json: TypeAlias = Any  # A value that `json.dumps` accepts: surveys and figures are made of these


@dataclass(frozen=True)
class StageContext:
    """Context that the engine hands to a stage besides its rows."""

    # From 0 to 2**31 − 1, derived from the run's seed, the stage's name and (for a Map) the shard and the position of
    # the batch in it: the same at any number of workers, different for each batch.
    seed: int
    # Folder of each stage or path that the stage's `inputs` fields refer to: a corpus, or an artifact such as a
    # translator. A field that holds a list gives `field.0`, `field.1` …; one that is None gives nothing.
    inputs: Mapping[str, Path] = field(default_factory=dict)
    survey: Json = None  # What `Map.survey` returned
    shard: str = ""  # For a Map: file name of the shard that the batch is from
    first_row: int = 0  # For a Map: position of the batch's first row in that shard, from 0

    def paths(self, name: str) -> tuple[Path, ...]:
        """The folders of an `inputs` field that holds a list, in order."""
        count = sum(key.rpartition(".")[0] == name for key in self.inputs)
        return tuple(self.inputs[f"{name}.{index}"] for index in range(count))


def _refers(kind: object) -> bool:
    """Whether an annotation, evaluated or not, is that of a field that refers to stages."""
    return (
        bool(re.search(r"\bRef\b", kind))
        if isinstance(kind, str)
        else kind is Stage or any(map(_refers, get_args(kind)))
    )


@dataclass(frozen=True, kw_only=True)
class Stage(Config):
    """Base of all stages: a frozen dataclass whose fields are its whole configuration.

    Args:
        name: Name of the stage in its pipeline: its folder, its seeds and references to it go by this name. Default:
            the name of the kind of stage, such as `score`.

    Class attributes:
        version: Changes with the meaning of the output, so that old results are made again.
        inputs: Names of the fields that refer to earlier stages or paths, as their annotations say (`Ref`, a tuple of
            `Ref`, or either or None). The engine resolves them into `StageContext.inputs`; their content is part of the
            stage's digest.
        output_schema: Schema of the resulting corpus (PAIRS, VARIANTS …); '' where a Map keeps that of its input.
        optional_fields: Fields that are left out of the digest while they have their default, so that runs made before
            the field existed stay valid.
        removed_fields: Fields of earlier versions and their defaults, which count, so that runs made then stay valid.
        in_memory: Names of fields that hold data, which cannot be written down in TOML.
    """

    version: ClassVar[str] = "1"
    inputs: ClassVar[tuple[str, ...]] = ()
    output_schema: ClassVar[str] = ""
    optional_fields: ClassVar[tuple[str, ...]] = ()
    removed_fields: ClassVar[Mapping[str, Json]] = {}
    in_memory: ClassVar[tuple[str, ...]] = ()
    type_description: ClassVar[str] = "a stage or a path"  # for messages about fields that refer to stages

    name: str = ""

    def __init_subclass__(cls) -> None:
        if "inputs" not in vars(cls):
            inherited = [name for base in cls.__bases__ for name in getattr(base, "inputs", ())]
            own = [name for name, kind in vars(cls).get("__annotations__", {}).items() if _refers(kind)]
            cls.inputs = tuple(dict.fromkeys(inherited + own))

    def configuration(self) -> dict[str, Json]:
        """The fields as JSON values, without references and paths: those count by the digest of what they refer to.

        What bytes do not depend on does not count: what a worker needs, a check before the work, data in memory.
        """
        left_out = {"name", "resources", "check_languages", *self.inputs, *self.in_memory}
        left_out |= {
            f.name for f in fields(self) if f.name in self.optional_fields and getattr(self, f.name) == f.default
        }
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}
        return {**self.removed_fields, **{name: value for name, value in values.items() if not _paths(value)}}

    def refs(self) -> Iterator[tuple[str, Ref]]:
        """Key (`field`, or `field.0` … for a list) and value of everything this stage refers to."""
        for name in self.inputs:
            value = getattr(self, name)
            if isinstance(value, tuple):
                yield from ((f"{name}.{index}", item) for index, item in enumerate(value))
            elif value:
                yield name, value

    def companions(self) -> tuple[Stage, ...]:
        """Stages that a pipeline runs before this one, because it refers to them by name."""
        return ()

    def with_references(self, references: Mapping[str, str | Path]) -> Stage:
        """This stage with names and paths in place of what it refers to, by the keys of `refs`."""
        values: dict[str, Any] = {}
        for name in self.inputs:
            value = getattr(self, name)
            if isinstance(value, tuple):
                values[name] = tuple(references[f"{name}.{index}"] for index in range(len(value)))
            elif value:
                values[name] = references[name]
        return replace(self, **values) if values else self

    def files(self) -> tuple[Path, ...]:
        """The files that `Path` fields name; their bytes are part of the digest.

        A stage whose field is a pattern (Moses' `train.{cs,en}`) overrides this with the files it stands for.
        """
        return tuple(path for f in fields(self) if f.name not in self.inputs for path in _paths(getattr(self, f.name)))

    def digest(self) -> str:
        """SHA-256 of class, version and configuration; independent of workers, engine and paths."""
        return digest([type(self).__name__, self.version, self.configuration()])


Ref: TypeAlias = str | Path | Stage
"""Input of a stage: the name of an earlier stage, that stage itself, or a path outside of the run."""


@dataclass(frozen=True, kw_only=True)
class Source(Stage):
    """A stage that reads: files in, a corpus out. Whatever computes is a Map or a Fit.

    The engine reads in one process, in order, and cuts shards by row count alone, whatever the size of the batches.
    `output_schema` must name the schema.

    Args:
        shard_rows: Rows in a shard, rejected ones included.
    """

    shard_rows: int = 5000

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All rows in order, every batch with the same columns.

        Unusable rows are not skipped: if there are any, all batches have the columns `keep` and `reason` (see `Map`),
        and the engine moves those rows to `rejected/`.

        Args:
            context: Seed and inputs.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Map(Stage):
    """A row-local stage: record batch in, record batch out, so that any engine may process shards independently.

    A filter is a 'same' map that adds `keep` (bool) and `reason` (string, null where kept); the writer then splits
    kept from rejected rows and drops the two columns from the kept ones.

    Args:
        input: The corpus to map: an earlier stage or a path. Default: the nearest earlier stage that yields a corpus.
        resources: What each worker needs: `{ cpus = 2, gpus = 1, memory = "8 GB" }`; default: one processor.

    Class attributes:
        input_columns: Columns that must be there.
        rows: 'same': each row comes out once, in order. 'many': a row may give several; the output has an int32 column
            `_source`, the row of the input batch that each output row came from (the engine drops it after checking
            the row counts; a row that gave nothing counts as failed, one all of whose output has `keep` false as
            rejected).
        batch_rows: Rows that `apply` gets at a time, at most: more, where a call costs more than its rows.
    """

    inputs: ClassVar[tuple[str, ...]] = ()  # not `input`, which the engine maps
    input_columns: ClassVar[tuple[str, ...]] = ()
    rows: ClassVar[Literal["same", "many"]] = "same"
    batch_rows: ClassVar[int] = BATCH_ROWS

    input: Ref | None = None
    resources: Resources = ONE_CPU

    @property
    def loads_models(self) -> bool:
        """True if `apply` loads what a process of its own should hold and free, and compute with one thread: models."""
        return any(getattr(self, name) for name in self.inputs)

    def configuration(self) -> dict[str, Json]:
        """The fields as JSON values, without references and paths."""
        return {name: value for name, value in super().configuration().items() if name != "input"}

    def survey(self, corpus: CorpusReader, context: StageContext) -> Json:
        """Compute facts about the whole corpus that `apply` needs (a quantile, say), once per stage.

        Args:
            corpus: The input.
            context: Seed and inputs.

        Returns:
            JSON values, which `apply` finds in `context.survey`.
        """
        return None

    def check_input(self, corpus: CorpusReader, context: StageContext) -> Mapping[str, Json]:
        """Look at the input before any row is processed: raise an error or warn if it does not fit the stage.

        Its figures do not count for digests. A stage that is done already is not checked again.

        Args:
            corpus: The input.
            context: Seed and inputs.

        Returns:
            Figures for run.json.

        Raises:
            DataError: The input does not fit; names rows, and how to fix it.
        """
        return {}

    def final_figures(self, context: StageContext) -> Mapping[str, Json]:
        """Figures for run.json that are known when all rows are processed, such as what was paid for."""
        return {}

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """Process one batch, which has at least one row. Load heavy things lazily, once per worker.

        The resulting columns and types must be the same for every batch.

        Args:
            batch: Rows of the input.
            context: Seed, inputs and the survey.

        Returns:
            The resulting rows.

        Raises:
            DataError: For unusable data, with `row` counted from 1 in this batch: the engine turns it into the row of
                the shard, or moves that row to `failed/`.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Fit(Stage):
    """A stage that turns whole corpora into an artifact folder: a translator, an encoder, a table of results.

    Files named `timings.*` may differ from run to run and are left out of digests; everything else must not differ.

    Args:
        resources: What its process needs of this machine, where it runs with any engine: `{ gpus = 1 }` gives it one
            GPU, if there is one.

    Class attributes:
        sentinel: A file, or a glob pattern, that every artifact of this kind has. A command replaces an existing
            folder only if it finds this in it.
    """

    sentinel: ClassVar[str] = ""

    resources: Resources = ONE_CPU

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the artifact into `folder`.

        `folder` survives a kill and is renamed into its final position when this returns. Keep checkpoints in it under
        `checkpoint/` (removed at the end), resume from them if they exist, and end with the same bytes either way.

        Args:
            folder: An existing folder.
            context: Seed and inputs.

        Returns:
            Figures for run.json.
        """
        raise NotImplementedError


def _paths(value: Json) -> tuple[Path, ...]:
    values = value if isinstance(value, tuple) else (value,)
    return tuple(item for item in values if isinstance(item, Path))
