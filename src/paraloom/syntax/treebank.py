"""Trees of a treebank: read from brackets, freed of traces and function tags, made binary for a grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from paraloom.core.errors import DataError, MissingExtraError
from paraloom.io import read_lines

if TYPE_CHECKING:
    from nltk.tree import Tree

TRACE = "-NONE-"
CHAIN, BETWEEN, ABOVE = "+", "|", "^"
"""How binary labels are put together: `S+VP` is an S over a lone VP, `NP|<NN>` a piece of an NP of more than two
children, `NP^<S>` an NP below an S."""

_FUNCTION = re.compile(r"[-=|].*")


def read_brackets(path: str | Path) -> Iterator[tuple[int, str]]:
    """Each bracketed tree of a file and the row it begins in; a tree may go over several lines.

    Raises DataError with the row where brackets do not close, or where there is text between trees.
    """
    depth, begun, pieces = 0, 0, list[str]()
    for row, line in enumerate(read_lines(path), 1):
        if not depth and not line.strip():
            continue
        if not depth:
            begun = row
            if not line.lstrip().startswith("("):
                raise DataError("not a bracketed tree", file=path, row=row, remedy="A tree looks like (S (NP …)).")
        depth += line.count("(") - line.count(")")
        if depth < 0:
            raise DataError("a bracket closes that was never opened", file=path, row=row)
        pieces.append(line.strip())
        if not depth:
            yield begun, " ".join(pieces)
            pieces.clear()
    if depth:
        raise DataError(f"{depth} brackets of the tree are never closed", file=path, row=begun)


def read_treebank(path: str | Path) -> Iterator[Tree]:
    """The trees of a file of brackets, plain (see `plain`), those without words left out.

    Raises DataError for what is no tree, with its row.
    """
    tree_class = _tree_class()
    for row, text in read_brackets(path):
        try:
            tree = plain(tree_class.fromstring(text, remove_empty_top_bracketing=True))
        except (ValueError, IndexError) as error:
            raise DataError(f"not a tree: {str(error).splitlines()[0]}", file=path, row=row) from None
        if tree is not None:
            yield tree


def plain(tree: Tree) -> Tree | None:
    """The tree without traces, function tags and empty phrases; None when nothing is left.

    >>> from nltk.tree import Tree
    >>> print(plain(Tree.fromstring("(S (NP-SBJ-1 (-NONE- *)) (VP (VB Go)))")))
    (S (VP (VB Go)))
    """
    if tree.label() == TRACE:
        return None
    if isinstance(tree[0], str):
        return tree
    kept = [found for child in tree if (found := plain(child)) is not None]
    return _tree_class()(bare(tree.label()), kept) if kept else None


def binary(tree: Tree) -> Tree:
    """The tree with two children a node at most, labels annotated with one neighbour and the parent.

    Johnson 1998 and Klein and Manning 2003: a grammar read off such trees knows where a phrase stands.
    """
    tree = tree.copy(deep=True)
    tree.collapse_unary(collapsePOS=False, collapseRoot=True, joinChar=CHAIN)
    tree.chomsky_normal_form(factor="right", horzMarkov=1, vertMarkov=1, childChar=BETWEEN, parentChar=ABOVE)
    return tree


def opened(label: str) -> tuple[str, ...]:
    """The plain labels that a binary one stands for, outermost first; none for a piece of a phrase.

    >>> opened("S+VP^<SBAR>"), opened("NP|<NN>^<S>")
    (('S', 'VP'), ())
    """
    return () if BETWEEN in label else tuple(label.split(ABOVE)[0].split(CHAIN))


def bare(label: str) -> str:
    """A label without function tags and numbers.

    >>> bare("NP-SBJ-1"), bare("-LRB-")
    ('NP', '-LRB-')
    """
    return label if label.startswith("-") else _FUNCTION.sub("", label) or label


def _tree_class() -> type[Tree]:
    try:
        from nltk.tree import Tree
    except ImportError:
        raise MissingExtraError.for_verb("a grammar", "syntax") from None
    return Tree
