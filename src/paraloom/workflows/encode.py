"""Lines of text through an encoder, streaming."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike
from paraloom.embed.average import SentenceEncoder
from paraloom.embed.loading import open_encoder
from paraloom.embed.store import load_encoder
from paraloom.embed.threads import Team
from paraloom.io import read_lines
from paraloom.io.atomic import atomic_write

CHUNK = 10_000


def encode_lines(encoder: str | Path, source: str, output: Path) -> int:
    """Write the vectors of the lines of `source`, float32 (lines, width); returns how many lines.

    output: a .npy file, which can be memory-mapped, or a .parquet file with the columns `text` and `vector`.
    It is written chunk by chunk (a .npy's header once the lines are counted), and appears whole or not at all.
    encoder: whatever embed.opening opens.
    """
    model = open_encoder(encoder, Team().threads)
    if output.suffix == ".parquet":
        return _to_parquet(model, source, output)
    count = 0
    with atomic_write(output) as temporary, temporary.open("wb") as stream, progress("encoding", unit="lines") as advance:
        _header(stream, 0, model.dimension)
        for lines in _chunks(read_lines(source)):
            model.encode(lines).astype("<f4", copy=False).tofile(stream)
            count += len(lines)
            advance(len(lines))
        stream.seek(0)
        _header(stream, count, model.dimension)
    return count


def _to_parquet(model: EncoderLike, source: str, output: Path) -> int:
    schema = pa.schema([("text", pa.string()), ("vector", pa.list_(pa.float32(), model.dimension))])
    count = 0
    with (
        atomic_write(output) as temporary,
        pq.ParquetWriter(temporary, schema) as writer,
        progress("encoding", unit="lines") as advance,
    ):
        for lines in _chunks(read_lines(source)):
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(model.encode(lines).ravel()), model.dimension)
            writer.write_batch(pa.record_batch([pa.array(lines, pa.string()), vectors], schema=schema))
            count += len(lines)
            advance(len(lines))
    return count


def similarity_lines(encoder: str | Path, first: str, second: str) -> Iterator[float]:
    """The cosine of each line of `first` with the same line of `second`; raises DataError when the counts differ."""
    model: SentenceEncoder = load_encoder(encoder)
    missing = object()
    rows = zip_longest(read_lines(first), read_lines(second), fillvalue=missing)
    count = 0
    while chunk := list(islice(rows, CHUNK)):
        for a, b in chunk:
            count += 1
            if a is missing or b is missing:
                shorter = first if a is missing else second
                raise DataError(f"{shorter} ends before line {count}", remedy="Give two files of as many lines.")
        a_vectors, b_vectors = (model.encode([str(row[side]) for row in chunk]) for side in (0, 1))
        norms = np.linalg.norm(a_vectors, axis=1) * np.linalg.norm(b_vectors, axis=1)
        yield from (np.einsum("nd,nd->n", a_vectors, b_vectors) / np.where(norms > 0, norms, 1)).tolist()


def _header(stream: IO[bytes], rows: int, width: int) -> None:
    # A fixed 128 bytes for any count below 10¹⁵, so that it can be written again over itself.
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": (rows, width)})


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(lines)
    while chunk := list(islice(remaining, CHUNK)):
        yield chunk
