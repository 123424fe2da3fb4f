"""The two kinds of stage, Map and Fit: frozen dataclasses whose fields are their whole configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import pyarrow as pa

from paraloom.core.io import Corpus
from paraloom.core.signature import digest

Json: TypeAlias = Any
"""What json.dumps can say; surveys and figures are made of it."""


@dataclass(frozen=True)
class Work:
    """What the engine hands to a stage beside its rows.

    seed: derived from the run's seed, the stage's name and (for a Map) the shard, so that it is the same at any
    number of workers.  survey: what Map.survey returned.  inputs: the folder of each stage or path that the pipeline
    names in this stage's `inputs` fields: a corpus, or an artefact such as a translator.
    """

    seed: int
    inputs: Mapping[str, Path] = field(default_factory=dict)
    survey: Json = None


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What Map and Fit share: a version that changes with the meaning of the output, and inputs by name.

    inputs: names of the fields that hold a reference to an earlier stage (or a path); the engine resolves them
    into Work.inputs and their digests are part of this stage's digest.
    """

    version: ClassVar[str] = "1"
    inputs: ClassVar[tuple[str, ...]] = ()

    def configuration(self) -> dict[str, Json]:
        """The fields as JSON values, references left out: they count by the digest of what they point to."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in self.inputs}

    def digest(self) -> str:
        """SHA-256 of class, version and configuration; never of workers, engine or paths."""
        return digest([type(self).__name__, self.version, self.configuration()])


@dataclass(frozen=True, kw_only=True)
class Map(Stage):
    """Row-local: a record batch in, a record batch out, so that any engine may cut the corpus into shards.

    reads: columns that must be there.  rows: 'same', each row comes out once, in order; 'many', a row may give
    several, and the output has an int32 column `_source`, the row of the input batch that each came from (the engine
    drops it after it has balanced the books).  A filter is a 'same' map that adds `keep` (bool) and `reason` (string,
    null where kept); the writer then splits kept from rejected and drops `keep`.
    """

    reads: ClassVar[tuple[str, ...]] = ()
    rows: ClassVar[Literal["same", "many"]] = "same"

    def survey(self, corpus: Corpus, work: Work) -> Json:
        """Facts about the whole corpus that `apply` compares with (a cut for a tenth, say); computed once a stage."""
        return None

    def apply(self, batch: pa.RecordBatch, work: Work) -> pa.RecordBatch:
        """The rows of one batch.  Heavy things load lazily, once a worker, through cached loaders."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Fit(Stage):
    """Whole corpora in, an artefact folder out: a translator, an encoder, a table of results.

    A file named `timings.*` may differ from run to run and stays out of digests; everything else must not.
    """

    def fit(self, folder: Path, work: Work) -> dict[str, Json]:
        """Write the artefact into `folder`; return the figures for run.json.

        `folder` survives a kill, and is renamed into place when this returns: keep checkpoints in it under
        `checkpoint/` (removed at the end), go on from them when they are there, and end with the same bytes.
        """
        raise NotImplementedError
