"""CoNLL-U: the words of dependency trees, one per line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from paraloom.core.errors import DataError
from paraloom.io import read_lines
from paraloom.io.compression import without_compression

SUFFIXES = (".conllu", ".conll")

_FIELDS = 8  # Fields of a word that are read: id, form, lemma, two tags, features, head, relation
_MAX_DIGITS = 100


class Word(NamedTuple):
    form: str
    category: str
    tag: str
    head: int
    relation: str


def is_conllu(path: str | Path) -> bool:
    """True if a file has the suffix of CoNLL-U, before that of a compression."""
    return without_compression(path).suffix in SUFFIXES


def read_conllu(path: str | Path) -> Iterator[tuple[int, list[Word]]]:
    block: list[tuple[int, str]] = []
    for row, line in enumerate(chain(read_lines(path), [""]), start=1):
        if line.strip():
            block.append((row, line))
        elif block:
            yield block[0][0], _read_block(block, path)
            block = []


def _read_block(block: list[tuple[int, str]], path: str | Path) -> list[Word]:
    words = list[Word]()
    for row, line in block:
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        # 3-4 is a token of several words, 5.1 an empty node: neither has a head of its own.
        if not fields[0].isdecimal():
            if fields[0].replace("-", "").replace(".", "").isdecimal():
                continue
            raise DataError(f"expected the number of a word, got '{fields[0][:20]}'", file=path, row=row)
        if len(fields) < _FIELDS or not fields[6].isdecimal() or len(fields[6]) > _MAX_DIGITS:
            raise DataError(
                "the line has no head of the word",
                file=path,
                row=row,
                remedy="A line of CoNLL-U has ten fields separated by tabs; the seventh is the number of the head.",
            )
        if len(fields[0]) > _MAX_DIGITS or int(fields[0]) != len(words) + 1:
            raise DataError(f"expected word {len(words) + 1}, got word {fields[0][:20]}", file=path, row=row)
        words.append(Word(fields[1], fields[3], fields[4], int(fields[6]), fields[7]))
    return words
