"""The texts of corpora that are held out, for the stages that set aside what stands in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.core.schema import LANGUAGE_OF
from paraloom.io import Corpus
from paraloom.pairs.filtering.held_out import HeldOut
from paraloom.core.stage_cache import cached_per_stage


@cached_per_stage()
def held_out(folders: tuple[Path, ...]) -> HeldOut:
    """All texts of corpora of pairs or of sentences; DataError for a corpus of something else."""

    def texts() -> Iterator[pa.Array]:
        for folder in folders:
            corpus = Corpus.open(folder)
            columns = [name for name in LANGUAGE_OF if name in corpus.schema.names]
            if not columns:
                raise DataError("it holds neither pairs nor sentences", file=folder)
            for batch in corpus.batches(columns):
                yield from batch.columns

    return HeldOut(texts())
