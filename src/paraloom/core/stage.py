"""The two kinds of stage, Map and Fit, and Source, which reads: frozen dataclasses, whose fields configure them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import pyarrow as pa

from paraloom.core.digests import digest
from paraloom.io import Corpus

Json: TypeAlias = Any
"""What json.dumps can say; surveys and figures are made of it."""


@dataclass(frozen=True)
class StageContext:
    """What the engine hands to a stage beside its rows.

    seed: 0 to 2**31 − 1, derived from the run's seed, the stage's name and (for a Map) the shard and the batch's place
    in it, so that it is the same at any number of workers, and another for each batch.  survey: what Map.survey
    returned.  inputs: the folder of each stage or path that the pipeline names in this stage's `inputs` fields: a
    corpus, or an artifact such as a translator.  A field that holds a list gives `field.0`, `field.1` …; an optional
    one that was left empty gives nothing.
    """

    seed: int
    inputs: Mapping[str, Path] = field(default_factory=dict)
    survey: Json = None

    def each(self, name: str) -> tuple[Path, ...]:
        """The folders of an `inputs` field that holds a list, in its order.

        >>> StageContext(0, {"corpora.0": Path("10-a"), "corpora.1": Path("20-b")}).each("corpora")
        (PosixPath('10-a'), PosixPath('20-b'))
        """
        count = sum(key.rpartition(".")[0] == name for key in self.inputs)
        return tuple(self.inputs[f"{name}.{place}"] for place in range(count))


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What all stages share: a version that changes with the meaning of the output, and inputs by name.

    inputs: names of the fields (str, a tuple of str, or either or None) that hold a reference to an earlier stage, or
    a path; the engine resolves them into StageContext.inputs and their digests are part of this stage's digest.
    output_schema: the schema of the corpus that comes out (PAIRS, VARIANTS …); '' where a Map keeps that of its input.
    optional_fields: fields that are left out of the digest while they are empty, so that runs made before the field
    existed stay valid.
    renamed_fields: old name → new name, for errors that say what to write now.
    """

    version: ClassVar[str] = "1"
    inputs: ClassVar[tuple[str, ...]] = ()
    output_schema: ClassVar[str] = ""
    optional_fields: ClassVar[tuple[str, ...]] = ()
    renamed_fields: ClassVar[Mapping[str, str]] = {}

    def configuration(self) -> dict[str, Json]:
        """The fields as JSON values; references and paths left out: they count by the digest of what they point to."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in self.inputs}
        values = {name: value for name, value in values.items() if value or name not in self.optional_fields}
        return {name: value for name, value in values.items() if not _paths(value)}

    def files(self) -> tuple[Path, ...]:
        """The files that the `Path` fields name; the bytes of each count in the digest.

        A stage whose field is a pattern (Moses' `train.{cs,en}`) overrides this with the files it stands for.
        """
        return tuple(path for f in fields(self) if f.name not in self.inputs for path in _paths(getattr(self, f.name)))

    def digest(self) -> str:
        """SHA-256 of class, version and configuration; never of workers, engine or paths."""
        return digest([type(self).__name__, self.version, self.configuration()])


@dataclass(frozen=True, kw_only=True)
class Source(Stage):
    """Files in, a corpus out: where a pipeline begins.  It only reads; whatever computes is a Map or a Fit.

    shard_rows: rows to a shard, rejected ones included.  `output_schema` must name the schema.  The engine reads in one
    process, in order, and cuts shards by count alone, whatever the size of the batches.
    """

    shard_rows: int = 5000

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All rows in order, every batch with the same columns.

        A row that is not fit for use is not skipped: where there are such, all batches have `keep` and `reason`
        (see Map), and the engine sets those rows aside.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Map(Stage):
    """Row-local: a record batch in, a record batch out, so that any engine may cut the corpus into shards.

    input_columns: columns that must be there.  rows: 'same', each row comes out once, in order; 'many', a row may give
    several, and the output has an int32 column `_source`, the row of the input batch that each came from (the engine
    drops it after it has checked the row counts; a row that gave nothing is a failed one).  A filter is a 'same' map that
    adds `keep` (bool) and `reason` (string, null where kept); the writer then splits kept from rejected, and the two
    columns are gone from what was kept.
    """

    input_columns: ClassVar[tuple[str, ...]] = ()
    rows: ClassVar[Literal["same", "many"]] = "same"

    def survey(self, corpus: Corpus, context: StageContext) -> Json:
        """Facts about the whole corpus that `apply` compares with (a cut for a tenth, say); computed once a stage."""
        return None

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The rows of one batch, which has one row at least.  Heavy things load lazily, once a worker.

        For data at fault raise DataError, its `row` counted from 1 in this batch: the engine makes it the shard's
        row, or sets that row aside.  The columns that come out must be the same for every batch, types included.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Fit(Stage):
    """Whole corpora in, an artifact folder out: a translator, an encoder, a table of results.

    A file named `timings.*` may differ from run to run and stays out of digests; everything else must not.
    sentinel: a file, or a pattern of files, that each artifact of this kind has: by it a verb tells an earlier one, which
    it may replace, from a folder of something else.
    """

    sentinel: ClassVar[str] = ""

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the artifact into `folder`; return the figures for run.json.

        `folder` survives a kill, and is renamed into place when this returns: keep checkpoints in it under
        `checkpoint/` (removed at the end), go on from them when they are there, and end with the same bytes.
        """
        raise NotImplementedError


def _paths(value: Json) -> tuple[Path, ...]:
    values = value if isinstance(value, tuple) else (value,)
    return tuple(each for each in values if isinstance(each, Path))
