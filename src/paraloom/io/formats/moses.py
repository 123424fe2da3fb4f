"""Moses pairs: two line-aligned text files, written `PREFIX.{cs,en}` with the braces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.io.atomic import replacing_all
from paraloom.io.compression import decode, packing, read_raw_lines
from paraloom.io.formats.base import Asked, Pair, file_name, raw_text
from paraloom.io.formats.fields import plain_text

_BRACES = re.compile(r"(.*)\{([^{},/]+),([^{},/]+)\}([^{}/]*)", re.DOTALL)


class Sides(NamedTuple):
    """What `PREFIX.{cs,en}` stands for; stem is the name without folder, languages and suffixes."""

    src: str
    tgt: str
    src_lang: str
    tgt_lang: str
    stem: str


def sides(source: str) -> Sides | None:
    """The two files of a name with braces, None where there are no braces.

    >>> sides("data/train.cs-en.{cs,en}.gz")
    Sides(src='data/train.cs-en.cs.gz', tgt='data/train.cs-en.en.gz', src_lang='cs', tgt_lang='en', stem='train.cs-en')
    """
    found = _BRACES.fullmatch(source)
    if found is None:
        return None
    prefix, first, second, suffix = found.groups()
    name = Path(prefix + "_").name[:-1].rstrip(".") or "pairs"
    return Sides(prefix + first + suffix, prefix + second + suffix, first, second, name)


def read(asked: Asked) -> Iterator[Pair]:
    """Line n of one side with line n of the other.

    Raises DataError, with both counts, when one side has more lines; that is never set aside, for no one can say
    which line is the one too many.
    """
    files = sides(asked.path)
    assert files is not None
    counts = [0, 0]
    for row, (src, tgt) in enumerate(zip_longest(read_raw_lines(files.src), read_raw_lines(files.tgt)), 1):
        counts[0] += src is not None
        counts[1] += tgt is not None
        if src is None or tgt is None:
            continue
        try:
            pair = Pair(row, decode(src, files.src, row), decode(tgt, files.tgt, row))
        except DataError as error:
            asked.refuse(row, error, f"{raw_text(src)}\t{raw_text(tgt)}")
        else:
            yield pair
    if counts[0] != counts[1]:
        raise DataError(
            f"{file_name(files.src)} has {counts[0]} lines, {file_name(files.tgt)} {counts[1]}",
            file=asked.path,
            remedy="Both sides must have the same lines; copy them again, or align them anew.",
        )


def write(batches: Iterable[pa.RecordBatch], target: str) -> int:
    """Both sides, renamed into place together; DataError for a text with a line end in it.  Returns the rows."""
    files = sides(target)
    assert files is not None
    paths = [Path(files.src), Path(files.tgt)]
    rows = 0
    with replacing_all(paths) as temporaries, ExitStack() as opened:
        streams = [
            opened.enter_context(packing(temporary, path.suffix))
            for temporary, path in zip(temporaries, paths, strict=True)
        ]
        for batch in batches:
            for name, stream, path in zip(("src", "tgt"), streams, paths, strict=True):
                texts = plain_text(batch, name, "\r\n", path, rows)
                stream.write("".join(f"{text}\n" for text in texts).encode())
            rows += batch.num_rows
    return rows
