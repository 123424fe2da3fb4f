"""Parses that another program wrote: a bracketed tree per line, or CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from paraloom.core.errors import DataError
from paraloom.io import read_lines
from paraloom.io.compression import without_compression
from paraloom.syntax.brackets import dependency_tree, read_tree

CONLLU = (".conllu", ".conll")
_FIELDS = 8
_MAX_DIGITS = 100
"""Fields of a word that are read: id, form, lemma, two tags, features, head, relation."""


def read_parses(path: str | Path) -> Iterator[str | None]:
    """Read the tree of each sentence of a file, in order.

    Args:
        path: A file with the suffix .conllu or .conll has a block of lines for each sentence, which becomes a
            dependency tree (`brackets.dependency_tree`); a block of comments alone stands for a sentence without a
            tree. Any other file has a bracketed tree per line, or a blank line, `null`, `()` or `(())` for none.
            Compressed files are decompressed.

    Yields:
        The trees, None where there is none.

    Raises:
        DataError: A line is neither; the error has file and row.
    """
    if without_compression(path).suffix in CONLLU:
        yield from _read_conllu(path)
        return
    for row, line in enumerate(read_lines(path), start=1):
        try:
            yield read_tree(line)
        except DataError as error:
            error.at(file=path, row=row)
            raise


def _read_conllu(path: str | Path) -> Iterator[str | None]:
    block: list[tuple[int, str]] = []
    for row, line in enumerate(chain(read_lines(path), [""]), start=1):
        if line.strip():
            block.append((row, line))
        elif block:
            yield _read_block(block, path)
            block = []


def _read_block(block: list[tuple[int, str]], path: str | Path) -> str | None:
    words, heads, relations = list[str](), list[int](), list[str]()
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
        words.append(fields[1])
        heads.append(int(fields[6]))
        relations.append(fields[7])
    try:
        return dependency_tree(words, heads, relations)
    except DataError as error:
        error.at(file=path, row=block[0][0])
        raise
