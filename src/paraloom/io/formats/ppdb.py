"""The paraphrase database (PPDB), and the bigrams with their paraphrases released with FCT."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from paraloom.core.errors import DataError
from paraloom.io.compression import decode, read_raw_lines
from paraloom.io.formats.base import PairRow, ReadOptions, raw_text

_BAR = " ||| "


def read(options: ReadOptions) -> Iterator[PairRow]:
    """Read `LHS ||| phrase ||| paraphrase ||| …` lines, or records of `word<TAB>tag` twice and a word for both."""
    lines = read_raw_lines(options.path)
    first = next(lines, None)
    if first is None:
        return
    lines = chain([first], lines)
    yield from _ppdb_lines(options, lines) if _BAR.encode() in first else _fct_records(options, lines)


def _ppdb_lines(options: ReadOptions, lines: Iterator[bytes]) -> Iterator[PairRow]:
    for row, line in enumerate(lines, 1):
        try:
            fields = decode(line, options.path, row).split(_BAR)
            if len(fields) < 4:
                raise DataError(
                    f"expected 4 fields or more separated by '|||', got {len(fields)}",
                    remedy="A line looks like: LHS ||| phrase ||| paraphrase ||| features",
                )
        except DataError as error:
            options.reject(row, error, raw_text(line))
            continue
        yield PairRow(row, fields[1], fields[2])


def _fct_records(options: ReadOptions, lines: Iterator[bytes]) -> Iterator[PairRow]:
    row = 1
    while record := list(islice(lines, 3)):
        try:
            texts = [decode(line, options.path, row + i) for i, line in enumerate(record)]
            if len(texts) < 3 or not texts[0].count("\t") == texts[1].count("\t") == 1:
                raise DataError("expected three lines: 'word<TAB>tag', 'word<TAB>tag' and a word")
        except DataError as error:
            options.reject(row, error, raw_text(record[0]))
        else:
            yield PairRow(row, " ".join(text.partition("\t")[0] for text in texts[:2]), texts[2])
        row += 3
