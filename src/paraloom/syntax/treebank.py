"""Trees of a treebank: of brackets or dependencies, without traces and function tags, binarized for a grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from paraloom.core.errors import DataError, MissingExtraError
from paraloom.io import read_lines
from paraloom.syntax.conllu import is_conllu, read_conllu
from paraloom.syntax.constituents import constituent_tree

if TYPE_CHECKING:
    from nltk.tree import Tree

TRACE = "-NONE-"
CHAIN = "+"
"""Between the labels of phrases that are one node: `S+VP` is an S over a single VP."""

_FUNCTION = re.compile(r"[-=|].*")


def read_brackets(path: str | Path) -> Iterator[tuple[int, str]]:
    """Read the bracketed trees of a file; a tree may span several lines."""
    depth, first_row, pieces = 0, 0, list[str]()
    for row, line in enumerate(read_lines(path), 1):
        if not depth and not line.strip():
            continue
        if not depth:
            first_row = row
            if not line.lstrip().startswith("("):
                raise DataError("not a bracketed tree", file=path, row=row, remedy="A tree looks like (S (NP …)).")
        depth += line.count("(") - line.count(")")
        if depth < 0:
            raise DataError("a closing bracket has no opening bracket", file=path, row=row)
        pieces.append(line.strip())
        if not depth:
            yield first_row, " ".join(pieces)
            pieces.clear()
    if depth:
        raise DataError(f"{depth} brackets of the tree are not closed", file=path, row=first_row)


def read_treebank(path: str | Path) -> Iterator[Tree | None]:
    """Read the trees of a file, cleaned by `clean`."""
    tree_class = _tree_class()
    if is_conllu(path):
        for row, words in read_conllu(path):
            if words and all(word.tag == "_" for word in words):
                raise DataError(
                    "the words have no Penn tags",
                    file=path,
                    row=row,
                    remedy="Tags are in the fifth field of a line, such as NNS.",
                )
            try:
                tree = constituent_tree(words) if words else None
            except DataError as error:
                error.at(file=path, row=row)
                raise
            # nltk takes a backslash before a bracket for an escape.
            yield None if tree is None else tree_class.fromstring(tree.replace("\\", "/"))
        return
    for row, text in read_brackets(path):
        try:
            tree = clean(tree_class.fromstring(text, remove_empty_top_bracketing=True))
        except (ValueError, IndexError) as error:
            raise DataError(f"not a tree: {str(error).splitlines()[0]}", file=path, row=row) from None
        yield tree


def clean(tree: Tree) -> Tree | None:
    """Remove traces, function tags and phrases without words; None if nothing is left."""
    if tree.label() == TRACE:
        return None
    words = [isinstance(child, str) for child in (tree[0], *tree[1:])]
    if all(words):
        return tree
    if any(words):
        raise ValueError(f"a {tree.label() or 'phrase without a label'} has both words and phrases")
    children = [cleaned for child in tree if (cleaned := clean(child)) is not None]
    return _tree_class()(strip_function(tree.label()), children) if children else None


def strip_function(label: str) -> str:
    """Remove function tags and numbers from a label."""
    return label if label.startswith("-") else _FUNCTION.sub("", label) or label


def _tree_class() -> type[Tree]:
    try:
        from nltk.tree import Tree
    except ImportError:
        raise MissingExtraError.for_verb("reading a treebank", "syntax") from None
    return Tree
