"""Moses pairs: two line-aligned text files, named `PREFIX.{cs,en}` with braces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.io.atomic import atomic_write_all
from paraloom.io.compression import compressed_stream, decode, read_raw_lines
from paraloom.io.formats.base import PairRow, ReadOptions, plain_text, raw_text
from paraloom.io.formats.names import sides


def read(options: ReadOptions) -> Iterator[PairRow]:
    """Read pairs of line n of one file and line n of the other."""
    files = sides(options.path)
    assert files is not None
    counts = [0, 0]
    for row, (src, tgt) in enumerate(zip_longest(read_raw_lines(files.src), read_raw_lines(files.tgt)), 1):
        counts[0] += src is not None
        counts[1] += tgt is not None
        if src is None or tgt is None:
            continue
        try:
            pair = PairRow(row, decode(src, files.src, row), decode(tgt, files.tgt, row))
        except DataError as error:
            options.reject(row, error, f"{raw_text(src)}\t{raw_text(tgt)}")
        else:
            yield pair
    if counts[0] != counts[1]:
        raise DataError(
            f"{Path(files.src).name} has {counts[0]} lines, {Path(files.tgt).name} has {counts[1]}",
            file=options.path,
            remedy="Both files must have equally many lines: copy them again, or align them.",
        )


def write(batches: Iterable[pa.RecordBatch], target: str) -> int:
    files = sides(target)
    assert files is not None
    paths = [Path(files.src), Path(files.tgt)]
    rows = 0
    with atomic_write_all(paths) as temporaries, ExitStack() as opened:
        streams = [
            opened.enter_context(compressed_stream(temporary, path.suffix))
            for temporary, path in zip(temporaries, paths, strict=True)
        ]
        for batch in batches:
            for name, stream, path in zip(("src", "tgt"), streams, paths, strict=True):
                texts = plain_text(batch, name, "\r\n", path, rows)
                stream.write("".join(f"{text}\n" for text in texts).encode())
            rows += batch.num_rows
    return rows
