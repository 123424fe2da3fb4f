"""Bracketed trees as flat arrays, read straight from their text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Bools, Ids, Int32s, Ints
from paraloom.core.errors import ConfigError, nearest
from paraloom.evaluate.diversity.tree_reading_kernels import GOOD, MAX_NODES, read_brackets
from paraloom.text.buffers import Texts, text_buffers
from paraloom.text.token_kernels import insert
from paraloom.text.tokens import token_hash

Leaves: TypeAlias = Literal["dummy", "words"]

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
    f"more than {MAX_NODES} nodes",
)
"""Why a text is not a tree, by the codes in `Trees.reasons`; code 0 is a tree."""

_LEAVES = ("dummy", "words")


@dataclass(frozen=True, eq=False)
class Trees:
    """n trees in flat, read-only arrays, each node before its children; what is not a tree has none, and a reason."""

    # uint64 (nodes,), the `token_hash` of each label. Words have ids of their own; with `leaves` = 'dummy' they
    # all have the same one.
    labels: Ids
    sizes: Int32s  # int32 (nodes,), nodes of the subtree, itself included
    offsets: Ints  # int64 (n + 1,): tree k has the nodes offsets[k] to offsets[k + 1]
    reasons: npt.NDArray[np.uint8]  # uint8 (n,), indices of `REASONS`
    leaves: Leaves = "dummy"
    cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    """Cache of what kernels computed from these trees: tables of nodes, and kernels of each tree with itself."""

    def __post_init__(self) -> None:
        for name in ("labels", "sizes", "offsets", "reasons"):
            values = getattr(self, name).view()
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.reasons)

    def __getitem__(self, i: int) -> tuple[Ids, Int32s]:
        """Labels and sizes of tree i, without a copy."""
        i = range(len(self))[i]
        part = slice(self.offsets[i], self.offsets[i + 1])
        return self.labels[part], self.sizes[part]

    @property
    def good(self) -> Bools:
        """bool (n,): which texts are trees."""
        good: Bools = self.reasons == GOOD
        return good

    def failures(self) -> dict[str, int]:
        """Number of texts that are not trees, by reason."""
        counts = np.bincount(self.reasons, minlength=len(REASONS))
        return {reason: int(count) for reason, count in zip(REASONS, counts, strict=True) if reason and count}


def read_trees(texts: Texts, *, leaves: Leaves = "dummy", labels: Iterable[str] | None = None) -> Trees:
    """Read bracketed trees, one per text, without the Penn Treebank's outer pair of brackets."""
    if leaves not in _LEAVES:
        raise ConfigError(f"unknown leaves '{leaves}'{nearest(leaves, _LEAVES)}")
    return Trees(*read_brackets(*text_buffers(texts), leaves == "dummy", _label_table(labels)), leaves)


def _label_table(labels: Iterable[str] | None) -> Ids:
    """A hash table of the allowed labels; an empty one for any."""
    if labels is None:
        return np.empty(0, np.uint64)
    ids = np.array([token_hash(label) for label in labels], np.uint64)
    table = np.zeros(1 << (2 * len(ids)).bit_length(), np.uint64)
    insert(ids, table)
    return table
