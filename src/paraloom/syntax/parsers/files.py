"""Parses that another program has written: a tree a line, or CoNLL-U, a sentence a block."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from paraloom.core.errors import DataError
from paraloom.io import read_lines
from paraloom.io.compression import without_compression
from paraloom.syntax.brackets import tree_of
from paraloom.syntax.dependencies import bracketed

CONLLU = (".conllu", ".conll")
_FIELDS = 8
"""Of a word's line as far as it is read: id, form, lemma, two tags, features, head, relation."""


def read_parses(path: str | Path) -> Iterator[str | None]:
    """The tree of each sentence of a file in order, None where there is none; packed files are unpacked.

    A file `.conllu` has a block of lines for each sentence, which gives a dependency tree (dependencies.bracketed); one
    with comments alone has none.  Any other file has a bracketed tree on each line; a blank line, `null`, `()` and
    `(())` say that there is none.  Raises DataError with file and row for what is neither.
    """
    if without_compression(path).suffix in CONLLU:
        yield from _read_conllu(path)
        return
    for row, line in enumerate(read_lines(path), start=1):
        try:
            yield tree_of(line)
        except DataError as error:
            error.at(file=path, row=row)
            raise


def _read_conllu(path: str | Path) -> Iterator[str | None]:
    block: list[tuple[int, str]] = []
    for row, line in enumerate(chain(read_lines(path), [""]), start=1):
        if line.strip():
            block.append((row, line))
        elif block:
            yield _tree(block, path)
            block = []


def _tree(block: list[tuple[int, str]], path: str | Path) -> str | None:
    words, heads, relations = list[str](), list[int](), list[str]()
    for row, line in block:
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        # 3-4 is a token of several words, 5.1 a word that is not said: neither has a head of its own.
        if not fields[0].isdecimal():
            if fields[0].replace("-", "").replace(".", "").isdecimal():
                continue
            raise DataError(f"'{fields[0][:20]}' is no number of a word", file=path, row=row)
        if len(fields) < _FIELDS or not fields[6].isdecimal():
            raise DataError(
                "the line names no head of the word",
                file=path,
                row=row,
                remedy="A line of CoNLL-U has ten fields with tabs between them, the seventh the head's number.",
            )
        if int(fields[0]) != len(words) + 1:
            raise DataError(f"word {fields[0]} stands where {len(words) + 1} should", file=path, row=row)
        words.append(fields[1])
        heads.append(int(fields[6]))
        relations.append(fields[7])
    try:
        return bracketed(words, heads, relations)
    except DataError as error:
        error.at(file=path, row=block[0][0])
        raise
