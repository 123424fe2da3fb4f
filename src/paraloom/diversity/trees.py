"""Bracketed trees as flat arrays, read straight from their text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.text.buffers import Texts, text_buffers
from paraloom.text.token_kernels import insert
from paraloom.text.tokens import token_hash

Leaves: TypeAlias = Literal["dummy", "words"]

LARGEST = 20_000
"""Nodes of the largest tree that is read: the work of a kernel grows with the product of two trees' nodes."""

REASONS = (
    "",
    "no tree",
    "a bracket is never closed",
    "a bracket closes that was never opened",
    "a node has no label",
    "more than one tree",
    "text outside of the tree",
    "a label that is not among the known ones",
    "one node alone, without children",
    f"more than {LARGEST} nodes",
)
"""Why a text is no tree, by the codes in `Trees.reasons`; code 0 is a tree."""

(GOOD, EMPTY, UNCLOSED, UNOPENED, UNLABELLED, SEVERAL, OUTSIDE, UNKNOWN, BARE, TOO_LARGE) = range(10)

_LEAVES = ("dummy", "words")
_SHOWN = 60


@dataclass(frozen=True, eq=False)
class Trees:
    """n trees laid flat, each node before its children; a text that was no tree has no nodes and a reason.

    labels: uint64 (nodes,), the `token_hash` of each label; words have ids of their own, and under `leaves` = 'dummy'
    all one.  sizes: int32 (nodes,), nodes of the subtree, itself included: the first child of node i is i + 1, the
    next sibling of c is c + sizes[c].  offsets: int64 (n + 1,), tree k is what lies from offsets[k] to offsets[k + 1].
    reasons: uint8 (n,), places in REASONS.  All are read-only.
    """

    labels: npt.NDArray[np.uint64]
    sizes: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    reasons: npt.NDArray[np.uint8]
    leaves: Leaves = "dummy"
    cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    """What was worked out from these trees before: orders of nodes, and kernels of each tree with itself."""

    def __post_init__(self) -> None:
        for name in ("labels", "sizes", "offsets", "reasons"):
            values = getattr(self, name).view()
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.reasons)

    def __getitem__(self, i: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]:
        """Labels and sizes of tree i, without a copy."""
        i = range(len(self))[i]
        part = slice(self.offsets[i], self.offsets[i + 1])
        return self.labels[part], self.sizes[part]

    @property
    def good(self) -> npt.NDArray[np.bool_]:
        """bool (n,): which texts were trees."""
        return self.reasons == GOOD

    def failures(self) -> dict[str, int]:
        """How many texts were no tree, by reason; empty where all were.

        >>> read_trees(["(S (NP x))", "(S (NP x)", ""]).failures()
        {'no tree': 1, 'a bracket is never closed': 1}
        """
        counts = np.bincount(self.reasons, minlength=len(REASONS))
        return {reason: int(count) for reason, count in zip(REASONS, counts, strict=True) if reason and count}


def read_trees(
    texts: Texts, *, leaves: Leaves = "dummy", labels: Iterable[str] | None = None, strict: bool = False
) -> Trees:
    """Bracketed trees, one a text, such as `(S (NP (DT The) (NN dog)) (VP (VBZ sleeps)))`.

    Parses by dependencies come as such trees, too: `syntax.parse_files` reads CoNLL-U.

    leaves: 'dummy' puts one dummy in the place of every word, whatever it is made of, so that trees differ by syntax
    alone (BBH22 §2.2); 'words' keeps them.  A word is what stands in a node without brackets of its own, between
    ASCII white space; a node in brackets without children is a leaf that keeps its label, and equals its like only.
    labels: the labels there may be; a tree with another one fails.  None: any.
    An outermost pair of brackets without a label, as in the Penn Treebank, is taken off.
    A text that is no tree gets a reason (`Trees.failures`); `strict` raises DataError with its row instead.

    >>> trees = read_trees(["(NP (DT the) (NN dog))", "( (NP (DT an) (NN e-mail) ))"])
    >>> trees[0][1].tolist(), bool((trees[0][0] == trees[1][0]).all())
    ([5, 2, 1, 2, 1], True)
    """
    from paraloom.diversity import tree_reading_kernels as reading_kernels

    found = reading_kernels.read_brackets(*text_buffers(texts), _dummy(leaves), _table(labels))
    return _checked(Trees(*found, leaves), texts, strict)


def _dummy(leaves: str) -> bool:
    if leaves not in _LEAVES:
        raise ConfigError(f"unknown leaves '{leaves}'{nearest(leaves, _LEAVES)}")
    return leaves == "dummy"


def _table(labels: Iterable[str] | None) -> npt.NDArray[np.uint64]:
    """A hash table of the labels that there may be; an empty one for any."""
    if labels is None:
        return np.empty(0, np.uint64)
    ids = np.array([token_hash(label) for label in labels], np.uint64)
    table = np.zeros(1 << (2 * len(ids)).bit_length(), np.uint64)
    insert(ids, table)
    return table


def _checked(trees: Trees, texts: Texts, strict: bool) -> Trees:
    if strict and not trees.good.all():
        row = int(np.argmin(trees.good))
        text = str(texts[row])
        shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
        raise DataError(
            f"{REASONS[trees.reasons[row]]}: '{shown}'",
            row=row + 1,
            remedy="A tree looks like (S (NP (NN Snow)) (VP (VBZ falls))).",
        )
    return trees
