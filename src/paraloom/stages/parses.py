"""The stage that brings in parses another program has made of a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.schema import add_column
from paraloom.core.stage import Ref, Source, StageContext
from paraloom.io import Corpus
from paraloom.syntax.parsers.files import read_parses


@dataclass(frozen=True, kw_only=True)
class ReadParses(Source):
    """Adds the trees of files to a corpus, as columns `src_parse` and so on: the same rows, in the same order.

    corpus: of pairs, variants or sentences.  parses: for each of `columns` the file of its trees, one for each row of
    the corpus: a bracketed tree a line, or CoNLL-U (paraloom.syntax.parsers.files says how a missing tree is written).
    columns: the text columns that were parsed.  output_schema: the corpus's schema.
    """

    inputs: ClassVar[tuple[str, ...]] = ("corpus",)

    corpus: Ref
    parses: tuple[Path, ...]
    columns: tuple[str, ...] = ("tgt",)
    output_schema: str = "PAIRS"  # type: ignore[misc]  # other sources have one schema, this one its input's

    def validate(self) -> None:
        if len(self.parses) != len(self.columns) or not self.columns:
            raise ConfigError(f"there are {len(self.parses)} files of parses for {len(self.columns)} columns")

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All rows in order.  Raises DataError with file and row where a file has fewer trees than rows, or more."""
        corpus = Corpus.open(context.inputs["corpus"])
        for name in self.columns:
            if name not in corpus.schema.names:
                raise ConfigError(f"there is no column '{name}'{nearest(name, corpus.schema.names)}")
        if corpus.kind != self.output_schema:
            raise ConfigError(f"the corpus is of kind {corpus.kind}", remedy=f'Write output_schema = "{corpus.kind}".')
        files = [
            (f"{name}_parse", path, read_parses(path), signature("parses", file=file_digest(path)[:12]))
            for name, path in zip(self.columns, self.parses, strict=True)
        ]
        row = 0
        for batch in corpus.batches():
            for column, path, trees, said in files:
                found = list(islice(trees, batch.num_rows))
                if len(found) < batch.num_rows:
                    raise _other_count(path, row + len(found), corpus.rows)
                batch = add_column(batch, column, pa.array(found, pa.string()), said)
            row += batch.num_rows
            yield batch
        for _, path, trees, _ in files:
            if more := sum(1 for _ in trees):
                raise _other_count(path, row + more, corpus.rows)


def _other_count(path: Path, found: int, rows: int) -> DataError:
    return DataError(
        f"there are {found:,} parses for {rows:,} rows",
        file=path,
        row=min(found, rows) + 1,
        remedy="Give one parse for each row of the corpus, in its order; a blank line where there is none.",
    )
