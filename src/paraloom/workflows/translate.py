"""Lines of text through a translator, streaming, on all cores."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import pyarrow as pa

from paraloom.core.errors import ConfigError
from paraloom.core.progress import progress
from paraloom.core.protocols import Variant
from paraloom.core.schema import VARIANTS
from paraloom.io import read_lines, write_table
from paraloom.io.compression import open_write
from paraloom.mt import Translator, parse_decoding, translate_stream
from paraloom.mt.decoding import Beam

CHUNK = 500
"""Lines a core takes at a time: enough to sort by length, few enough to share out evenly."""


def translate_lines(
    model: str,
    source: str,
    output: str,
    *,
    decode: str = "beam:5",
    nbest: int | None = None,
    threads: int | None = None,
    seed: int = 1,
) -> int:
    """Translate the lines of `source` into `output` ('-' is a pipe); returns how many.

    One translation a line where one is asked for and the suffix names no table; else the VARIANTS schema, as the
    suffix says (.tsv, .jsonl, .parquet), with the line's number, from 1, as pair_id.
    """
    decoding = parse_decoding(decode)
    if nbest is not None:
        if isinstance(decoding, Beam):
            decoding = replace(decoding, size=max(nbest, decoding.size))
        decoding = replace(decoding, nbest=nbest)
    translator = Translator.load(model, decode=decoding)
    table = any(f".{kind}" in output for kind in ("tsv", "jsonl", "parquet"))
    if decoding.nbest > 1 and not table:
        raise ConfigError(
            f"{decoding.nbest} translations a line do not fit a text file", remedy="Name an output such as out.tsv."
        )
    cores = threads or os.cpu_count() or 1
    count = 0

    def results() -> Iterator[list[list[Variant]]]:
        nonlocal count
        with progress("translating", unit="lines") as advance:
            for found in translate_stream(translator, _chunks(read_lines(source), CHUNK), threads=cores, seed=seed):
                yield found
                count += len(found)
                advance(len(found))

    if table:
        write_table(_variants(results(), decode), output)
    else:
        with open_write(output) as stream:
            for found in results():
                stream.write("".join(f"{variants[0].text}\n" for variants in found).encode())
    return count


def _chunks(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    remaining = iter(lines)
    while chunk := list(islice(remaining, size)):
        yield chunk


def _variants(results: Iterable[list[list[Variant]]], method: str) -> Iterator[pa.RecordBatch]:
    line = 0
    for found in results:
        rows: list[tuple[str, int, str, str, float, int]] = []
        for variants in found:
            line += 1
            for rank, each in enumerate(variants):
                rows.append((str(line), rank, each.text, method, each.logprob, each.tokens))
        columns: list[Sequence[object]] = list(zip(*rows, strict=True)) if rows else [() for _ in VARIANTS]
        yield pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, VARIANTS, strict=True)], schema=VARIANTS)
