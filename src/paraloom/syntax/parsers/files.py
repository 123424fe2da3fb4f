"""Parses that another program wrote: a bracketed tree per line, or CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from paraloom.core.errors import DataError
from paraloom.io import read_lines
from paraloom.syntax.brackets import dependency_tree, read_tree
from paraloom.syntax.conllu import is_conllu, read_conllu


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
