"""Trees in brackets: read as parsers and treebanks write them, and made from dependency parses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paraloom.core.errors import DataError
from paraloom.text.trees import constituents

NO_TREE = ("", "null", "None", "()", "(())")  # Output of parsers for a sentence that they could not parse
TOP = "TOP"  # Label of the root above several sentences of one text

_EMPTY_TOP = re.compile(r"\s*\(\s*(\(.*\))\s*\)\s*", re.DOTALL)
_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})


def read_tree(line: str) -> str | None:
    """The tree in a line, without the empty outer bracket of the Penn Treebank."""
    line = line.strip()
    if "".join(line.split()) in NO_TREE:
        return None
    tree = strip_empty_top(line)
    constituents(tree)
    return tree


def strip_empty_top(tree: str) -> str:
    """Remove an outer bracket without a label; other trees are returned as they are."""
    match = _EMPTY_TOP.fullmatch(tree)
    return match.group(1) if match else tree


def escape_leaf(word: str) -> str:
    """Write a word as a leaf of a tree: without brackets and white space."""
    return "_".join(word.translate(_BRACKETS).split()) or "_"


def dependency_tree(words: Sequence[str], heads: Sequence[int], relations: Sequence[str]) -> str | None:
    """Write a dependency parse as a bracketed tree of relations; several roots are put below one node TOP."""
    dependents: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for number, (head, word) in enumerate(zip(heads, words, strict=True), start=1):
        if not 0 <= head <= len(words) or head == number:
            raise DataError(
                f"word {number}, '{word}': expected one of the other {len(words)} words as head, got {head}"
            )
        dependents[head].append(number)
    if not words:
        return None
    labels = [escape_leaf(relation) for relation in relations]
    pieces: list[str] = []
    written = 0
    # A stack of what is still to be written instead of recursion, because a chain of words may be long.
    stack: list[int | str] = list(reversed(dependents[0]))
    while stack:
        item = stack.pop()
        if item == ")":
            pieces[-1] += ")"
        elif isinstance(item, str):
            pieces.append(item)
        else:
            written += 1
            pieces.append(f"({labels[item - 1]}")
            before = [number for number in dependents[item] if number < item]
            after = dependents[item][len(before) :]
            stack += reversed([*before, escape_leaf(words[item - 1]), *after, ")"])
    if written < len(words):
        raise DataError(f"the heads of {len(words) - written} of {len(words)} words form a cycle without a root")
    tree = " ".join(pieces)
    return tree if len(dependents[0]) == 1 else f"({TOP} {tree})"
