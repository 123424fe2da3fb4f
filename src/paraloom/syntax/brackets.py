"""Trees in brackets as parsers and treebanks write them: one a line, blank where there is none."""

from __future__ import annotations

import re

from paraloom.text.trees import constituents

NOTHING = ("", "null", "None", "()", "(())")
"""How parsers write that they found no tree."""

_EMPTY_TOP = re.compile(r"\s*\(\s*(\(.*\))\s*\)\s*", re.DOTALL)
_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})


def tree_of(line: str) -> str | None:
    """The tree of a line, without the Penn Treebank's empty outer bracket; None where it says that there is none.

    Raises DataError for what is not one tree.

    >>> tree_of("( (S (NP Snow) (VP falls)) )"), tree_of("(())")
    ('(S (NP Snow) (VP falls))', None)
    """
    line = line.strip()
    if "".join(line.split()) in NOTHING:
        return None
    tree = without_empty_top(line)
    constituents(tree)
    return tree


def without_empty_top(tree: str) -> str:
    """The tree inside a bracket without a label; any other as it is."""
    found = _EMPTY_TOP.fullmatch(tree)
    return found.group(1) if found else tree


def leaf(word: str) -> str:
    """A word as it may stand in a tree: without brackets of its own, and without blanks.

    >>> leaf("New York ("), leaf(" ")
    ('New_York_-LRB-', '_')
    """
    return "_".join(word.translate(_BRACKETS).split()) or "_"
