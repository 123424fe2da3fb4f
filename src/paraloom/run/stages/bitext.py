"""Where a pipeline begins: bitext read from files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from paraloom.core.errors import ConfigError
from paraloom.core.io import read_pairs
from paraloom.run.stage import Source, Work


@dataclass(frozen=True, kw_only=True)
class Bitext(Source):
    """Reads sentence pairs: Moses pairs, TSV, JSONL, Parquet, TMX, plain or compressed.

    source: a file with both sides, or `PREFIX.{de,en}` for Moses pairs; paths stand relative to the pipeline file.
    src_column, tgt_column: names, or numbers from 1, of the sides in a table.  origin: the first part of each
    pair_id; default: the file's name.  limit: rows that are read at most, from the start (0: all).
    """

    makes: ClassVar[str] = "PAIRS"

    source: Path
    src_lang: str | None = None
    tgt_lang: str | None = None
    src_column: str | int | None = None
    tgt_column: str | int | None = None
    origin: str | None = None
    limit: int = 0

    def files(self) -> tuple[Path, ...]:
        """The file, or both sides of Moses pairs."""
        return sides(self.source)

    def batches(self, work: Work) -> Iterator[pa.RecordBatch]:
        """All pairs in order, at most `limit` of them."""
        left = self.limit or None
        for batch in read_pairs(
            str(self.source),
            src_lang=self.src_lang,
            tgt_lang=self.tgt_lang,
            src_column=self.src_column,
            tgt_column=self.tgt_column,
            origin=self.origin,
        ):
            if left is not None and batch.num_rows >= left:
                yield batch.slice(0, left)
                return
            left = None if left is None else left - batch.num_rows
            yield batch


def sides(source: Path) -> tuple[Path, ...]:
    """The files that a bitext argument stands for.

    >>> [path.name for path in sides(Path("train.{de,en}.gz"))]
    ['train.de.gz', 'train.en.gz']
    """
    head, brace, rest = str(source).partition("{")
    if not brace:
        return (source,)
    languages, closed, tail = rest.partition("}")
    if not closed or languages.count(",") != 1:
        raise ConfigError(f"'{source}' is no pair of files", remedy="Write PREFIX.{de,en} for PREFIX.de and PREFIX.en.")
    return tuple(Path(f"{head}{language}{tail}") for language in languages.split(","))
