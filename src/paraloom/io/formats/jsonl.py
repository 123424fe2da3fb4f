"""JSON Lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.io.compression import decode, open_write, read_raw_lines
from paraloom.io.fields import json_text
from paraloom.io.formats.base import PROVENANCE, PairRow, ReadOptions, json_column, json_object, raw_text


def read(options: ReadOptions) -> Iterator[PairRow]:
    """Read pairs from two keys of each object (`src` and `tgt` by default); blank lines are skipped."""
    src, tgt = str(options.src_column or "src"), str(options.tgt_column or "tgt")
    for row, line in enumerate(read_raw_lines(options.path), 1):
        if not line.strip():
            continue
        try:
            value = json_object(decode(line, options.path, row))
            sides = [json_text(value, key) for key in (src, tgt)]
            provenance = [json_text(value, key) if value.get(key) is not None else None for key in PROVENANCE]
        except DataError as error:
            options.reject(row, error, raw_text(line))
        else:
            yield PairRow(row, *sides, *provenance)


def write(batches: Iterable[pa.RecordBatch], names: Sequence[str], target: str) -> int:
    rows = 0
    with open_write(target) as stream:
        for batch in batches:
            columns = [json_column(batch.column(name)) for name in names]
            for values in zip(*columns, strict=True):
                stream.write((json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False) + "\n").encode())
            rows += batch.num_rows
    return rows
