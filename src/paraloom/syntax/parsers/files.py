"""Parses that another program wrote: a bracketed tree per line, or CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from paraloom.core.errors import DataError
from paraloom.io import read_lines
from paraloom.syntax.brackets import dependency_tree, read_tree
from paraloom.syntax.conllu import is_conllu, read_conllu


def read_parses(path: str | Path) -> Iterator[str | None]:
    """Read the tree of each sentence of a file, in order."""
    if is_conllu(path):
        for row, words in read_conllu(path):
            try:
                yield dependency_tree(
                    [word.form for word in words], [word.head for word in words], [word.relation for word in words]
                )
            except DataError as error:
                error.at(file=path, row=row)
                raise
        return
    for row, line in enumerate(read_lines(path), start=1):
        try:
            yield read_tree(line)
        except DataError as error:
            error.at(file=path, row=row)
            raise
