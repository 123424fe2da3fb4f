"""Tree kernels: subtree and subset tree kernels (Moschitti 2006), for syntactic diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Floats, Ints
from paraloom.core.config import check_range
from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, nearest
from paraloom.evaluate.diversity.tree_index_kernels import PRODUCTIONS, SUBTREES, count_phrases, index_nodes
from paraloom.evaluate.diversity.tree_kernel_sums import subset_sums, subtree_sums
from paraloom.evaluate.diversity.trees import Trees

Kind: TypeAlias = Literal["st", "sst"]
KINDS = ("st", "sst")

NO_NUMBER = "a kernel with itself that is not a finite number above 0"
"""Why a tree cannot be compared, besides `trees.REASONS`."""


@dataclass(frozen=True)
class TreeKernel:
    """Settings of a tree kernel: by default those of Moschitti's program (2006); `BBH22` are those of its script."""

    # 'st', subtrees: a node with everything below it. 'sst', subset trees: may end at any node, but never split
    # the children of a node.
    kind: Kind = "sst"
    decay: float = 0.4  # λ, above 0 and at most 1. A fragment weighs λ to the power of its nodes with children.
    bare_words: bool = False  # Whether a word alone is a fragment, of weight λ

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(f"unknown tree kernel '{self.kind}'{nearest(self.kind, KINDS)}")
        check_range(self, "decay", above=0, high=1)

    def signature(self, trees: Trees) -> str:
        """The signature of figures of this kernel over such trees; the parser has a signature of its own."""
        settings = {"kind": self.kind, "decay": self.decay, "bare_words": self.bare_words}
        return signature("tree_kernel", **settings, leaves=trees.leaves)


BBH22 = TreeKernel("sst", decay=1.0, bare_words=True)
"""Subset trees as the script of BBH22 counts them: without decay, each pair of words as one more fragment."""


def kernel(
    a: Trees,
    b: Trees,
    setting: TreeKernel,
    *,
    pairs: npt.ArrayLike | None = None,
    normalize: bool = True,
) -> Floats:
    """Compute the kernel of pairs of trees: K(x, y) / √(K(x, x) K(y, y)) (Moschitti 2006; see `TreeKernel`)."""
    if a.leaves != b.leaves:
        raise ConfigError(f"trees with leaves '{a.leaves}' and '{b.leaves}' cannot be compared")
    if pairs is None and len(a) != len(b):
        raise ConfigError(f"expected as many trees in b as in a, got {len(b)} and {len(a)}", remedy="Give 'pairs'.")
    if pairs is None:
        first = second = np.arange(len(a))
    else:
        first, second = np.array(np.asarray(pairs, np.int64).reshape(-1, 2).T, order="C")
    for indices, trees in ((first, a), (second, b)):
        if len(indices) and not 0 <= indices.min() <= indices.max() < len(trees):
            raise ConfigError(
                f"indices of {len(trees)} trees must be 0 to {len(trees) - 1}, got {indices.min()} to {indices.max()}"
            )
    a_own, b_own = own_kernels(a, setting)[first], own_kernels(b, setting)[second]
    able = ~np.isnan(a_own) & ~np.isnan(b_own)
    values = np.full(len(first), np.nan)
    values[able] = _sums(a, b, first[able], second[able], setting)
    if not normalize:
        return values
    with np.errstate(over="ignore", under="ignore"):
        product = a_own * b_own
        norm = np.where(np.isfinite(product) & (product > 0), np.sqrt(product), np.sqrt(a_own) * np.sqrt(b_own))
    normalized: Floats = np.minimum(values / norm, 1.0)
    return normalized


def own_kernels(trees: Trees, setting: TreeKernel) -> Floats:
    """K(x, x) of each tree, float64 (n,), computed once; NaN for those that `failures` counts."""
    if setting not in trees.cache:
        able = np.flatnonzero(trees.good)
        own = np.full(len(trees), np.nan)
        own[able] = _sums(trees, trees, able, able, setting)
        own[~(np.isfinite(own) & (own > 0))] = np.nan
        trees.cache[setting] = own
    values: Floats = trees.cache[setting]
    return values


def failures(trees: Trees, setting: TreeKernel) -> dict[str, int]:
    """Number of texts that cannot be compared, by reason: no trees, or none that this kernel counts."""
    other = int((trees.good & np.isnan(own_kernels(trees, setting))).sum())
    return trees.failures() | ({NO_NUMBER: other} if other else {})


def _sums(a: Trees, b: Trees, first: Ints, second: Ints, setting: TreeKernel) -> Floats:
    a_side, b_side = _side(a, setting), _side(b, setting)
    if setting.kind == "st":
        nodes = a.sizes if setting.bare_words else count_phrases(a.sizes)
        return subtree_sums(a_side, setting.decay ** nodes.astype(np.float64), b_side, first, second)
    return subset_sums(a_side, b_side, first, second, setting.decay, setting.bare_words)


def _side(trees: Trees, setting: TreeKernel) -> tuple[Any, ...]:
    """Sizes, offsets and node index of trees, computed once."""
    name = ("side", setting.kind, setting.bare_words)
    if name not in trees.cache:
        matched_by = SUBTREES if setting.kind == "st" else PRODUCTIONS
        index = index_nodes(trees.labels, trees.sizes, trees.offsets, matched_by, setting.bare_words)
        trees.cache[name] = (trees.sizes, trees.offsets, *index)
    side: tuple[Any, ...] = trees.cache[name]
    return side
