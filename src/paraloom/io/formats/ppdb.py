"""The paraphrase database (PPDB): its released lines, and the bigrams with their words that FCT released."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from paraloom.core.errors import DataError
from paraloom.io.compression import decode, read_raw_lines
from paraloom.io.formats.base import Asked, Pair, raw_text

_BAR = " ||| "


def is_named_ppdb(name: str) -> bool:
    """Whether a file's name is one of PPDB's, which have no suffix of their own.

    >>> is_named_ppdb("ppdb-1.0-s-phrasal.gz"), is_named_ppdb("ppdb.xxl.b2u.train"), is_named_ppdb("news.tsv")
    (True, True, False)
    """
    return name.lower().startswith("ppdb")


def read(asked: Asked) -> Iterator[Pair]:
    """Phrase and paraphrase of each `LHS ||| phrase ||| paraphrase ||| features …` line.

    Where the first line has no bar, records of three lines: `word<TAB>tag` twice, and the word that means both.
    """
    lines = read_raw_lines(asked.path)
    first = next(lines, None)
    if first is None:
        return
    lines = _again(first, lines)
    yield from _barred(asked, lines) if _BAR.encode() in first else _records(asked, lines)


def _barred(asked: Asked, lines: Iterator[bytes]) -> Iterator[Pair]:
    for row, line in enumerate(lines, 1):
        try:
            fields = decode(line, asked.path, row).split(_BAR)
            if len(fields) < 4:
                raise DataError(
                    f"the row has {len(fields)} fields between '|||'",
                    remedy="LHS ||| phrase ||| paraphrase ||| features",
                )
        except DataError as error:
            asked.refuse(row, error, raw_text(line))
            continue
        yield Pair(row, fields[1], fields[2])


def _records(asked: Asked, lines: Iterator[bytes]) -> Iterator[Pair]:
    row = 1
    while record := list(islice(lines, 3)):
        try:
            texts = [decode(line, asked.path, row + place) for place, line in enumerate(record)]
            if len(texts) < 3 or not texts[0].count("\t") == texts[1].count("\t") == 1:
                raise DataError("'word<TAB>tag', 'word<TAB>tag' and a word are expected")
        except DataError as error:
            asked.refuse(row, error, raw_text(record[0]))
        else:
            yield Pair(row, " ".join(text.partition("\t")[0] for text in texts[:2]), texts[2])
        row += 3


def _again(first: bytes, lines: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from lines
