"""How alike trees are: subtree, subset tree and partial tree kernels (Moschitti 2006), for syntactic diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, nearest
from paraloom.diversity import tree_kernel_sums as delta_kernels
from paraloom.diversity import tree_order_kernels as order_kernels
from paraloom.diversity.tree_order_kernels import LABELS, PRODUCTIONS, SUBTREES, made_ready, most_children
from paraloom.diversity.trees import Trees

Kind: TypeAlias = Literal["st", "sst", "ptk"]
KINDS = ("st", "sst", "ptk")

MOST_CHILDREN = 1000
"""Children of a node up to which partial trees are counted: their work grows with the third power."""

TOO_WIDE = f"a node of more than {MOST_CHILDREN} children"
NO_NUMBER = "a kernel with itself that is no finite number above 0"


@dataclass(frozen=True)
class TreeKernel:
    """Which fragments of trees are counted, and what each weighs.

    kind: 'st', subtrees, a node with all that is below it; 'sst', subset trees, which end anywhere but never divide
    the children of a node; 'ptk', partial trees, which may leave children out.  The first two are those of "Making
    tree kernels practical for natural language learning", the third of "Efficient convolution kernels for dependency
    and constituent syntactic trees" (Moschitti 2006), whose program counts the children skipped, as here.
    decay: λ, above 0 to 1; a subtree or subset tree weighs λ to the power of its nodes with children.
    height_decay: μ of partial trees, above 0 to 1.
    bare_words: in 'st' and 'sst', whether a word alone is a fragment of weight λ as well; 'ptk' always counts words.

    The defaults are those of Moschitti's program.  BBH22 are the settings of BBH22's script.
    """

    kind: Kind = "sst"
    decay: float = 0.4
    height_decay: float = 0.4
    bare_words: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(f"unknown tree kernel '{self.kind}'{nearest(self.kind, KINDS)}")
        for name in ("decay", "height_decay"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"{name} is above 0 and 1 at most, not {getattr(self, name)}")

    def signature(self, trees: Trees) -> str:
        """What stands beside figures of this kernel over such trees; whose parses they are, the parser's tells.

        >>> from paraloom.diversity.trees import read_trees
        >>> TreeKernel().signature(read_trees([])).rpartition("|")[0]
        'tree_kernel|kind:sst|decay:0.4|bare_words:no|leaves:dummy'
        """
        own: dict[str, object] = {"kind": self.kind, "decay": self.decay}
        own |= {"height_decay": self.height_decay} if self.kind == "ptk" else {"bare_words": self.bare_words}
        return signature("tree_kernel", **own, leaves=trees.leaves)


BBH22 = TreeKernel("sst", decay=1.0, bare_words=True)
"""Subset trees as the script of BBH22 counts them: without decay, and each pair of words as one more fragment."""


def kernel(
    a: Trees,
    b: Trees,
    setting: TreeKernel | Kind = "sst",
    *,
    pairs: npt.ArrayLike | None = None,
    normalised: bool = True,
) -> npt.NDArray[np.float64]:
    """How alike trees of a and of b are, float64 (pairs,): 0 (no fragment in common) to 1 (the same tree).

    pairs: int (pairs, 2), places of a tree in a and of one in b; None: each tree of a with that of b in its place.
    normalised: K(x, y) / √(K(x, x) K(y, y)); otherwise K itself, the weighed number of fragments in common.
    NaN where one of both is no tree or its kernel with itself no finite number (see `failures`).
    Raises ConfigError where numbers of trees, or their leaves, differ.

    >>> from paraloom.diversity.trees import read_trees
    >>> trees = read_trees(["(NP (D the) (N man))", "(NP (D a) (N day))", "(NP (N men))"])
    >>> kernel(trees, trees, TreeKernel(decay=1.0), normalised=False).tolist()
    [6.0, 6.0, 3.0]
    >>> kernel(trees, trees, pairs=[(0, 1), (0, 2)]).round(3).tolist()
    [1.0, 0.324]
    """
    setting = TreeKernel(setting) if isinstance(setting, str) else setting
    if a.leaves != b.leaves:
        raise ConfigError(f"trees with {a.leaves} and trees with {b.leaves} do not compare")
    if pairs is None and len(a) != len(b):
        raise ConfigError(f"{len(a)} trees have no counterparts in {len(b)}", remedy="Give the pairs to compare.")
    if pairs is None:
        first = second = np.arange(len(a))
    else:
        first, second = np.array(np.asarray(pairs, np.int64).reshape(-1, 2).T, order="C")
    for places, trees in ((first, a), (second, b)):
        if len(places) and not 0 <= places.min() <= places.max() < len(trees):
            raise ConfigError(f"places among {len(trees)} trees are 0 to {len(trees) - 1}")
    a_own, b_own = own_kernels(a, setting)[first], own_kernels(b, setting)[second]
    able = ~np.isnan(a_own) & ~np.isnan(b_own)
    values = np.full(len(first), np.nan)
    values[able] = _sums(a, b, first[able], second[able], setting)
    if not normalised:
        return values
    with np.errstate(over="ignore", under="ignore"):
        product = a_own * b_own
        norm = np.where(np.isfinite(product) & (product > 0), np.sqrt(product), np.sqrt(a_own) * np.sqrt(b_own))
    found: npt.NDArray[np.float64] = np.minimum(values / norm, 1.0)
    return found


def own_kernels(trees: Trees, setting: TreeKernel) -> npt.NDArray[np.float64]:
    """K(x, x) of each tree, float64 (n,), worked out once; NaN where `failures` counts it."""
    if setting not in trees.cache:
        able = np.flatnonzero(trees.good & ~_too_wide(trees, setting))
        own = np.full(len(trees), np.nan)
        own[able] = _sums(trees, trees, able, able, setting)
        own[~(np.isfinite(own) & (own > 0))] = np.nan
        trees.cache[setting] = own
    values: npt.NDArray[np.float64] = trees.cache[setting]
    return values


def failures(trees: Trees, setting: TreeKernel | Kind = "sst") -> dict[str, int]:
    """How many of the texts cannot be compared, by reason: those that are no tree, and those this kernel cannot count.

    >>> from paraloom.diversity.trees import read_trees
    >>> wide = f"(NP {'(N x)' * 5000})"
    >>> failures(read_trees(["(NP (D the))", "(NP (D the)", wide]), TreeKernel(decay=1.0))
    {'a bracket is never closed': 1, 'a kernel with itself that is no finite number above 0': 1}
    """
    setting = TreeKernel(setting) if isinstance(setting, str) else setting
    wide = trees.good & _too_wide(trees, setting)
    other = trees.good & ~wide & np.isnan(own_kernels(trees, setting))
    counts = {TOO_WIDE: int(wide.sum()), NO_NUMBER: int(other.sum())}
    return trees.failures() | {reason: count for reason, count in counts.items() if count}


def _too_wide(trees: Trees, setting: TreeKernel) -> npt.NDArray[np.bool_]:
    if setting.kind != "ptk":
        return np.zeros(len(trees), np.bool_)
    wide: npt.NDArray[np.bool_] = _children(trees) > MOST_CHILDREN
    return wide


def _children(trees: Trees) -> npt.NDArray[np.int64]:
    """int64 (n,): the most children of a node of each tree."""
    if "children" not in trees.cache:
        trees.cache["children"] = most_children(trees.sizes, trees.offsets)
    found: npt.NDArray[np.int64] = trees.cache["children"]
    return found


def _sums(
    a: Trees, b: Trees, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], setting: TreeKernel
) -> npt.NDArray[np.float64]:
    """K of each pair of trees."""
    a_side, b_side = _side(a, setting), _side(b, setting)
    found: npt.NDArray[np.float64]
    if setting.kind == "st":
        nodes = a.sizes if setting.bare_words else order_kernels.inner_nodes(a.sizes)
        found = delta_kernels.subtree_sums(a_side, setting.decay ** nodes.astype(np.float64), b_side, first, second)
    elif setting.kind == "sst":
        found = delta_kernels.subset_sums(a_side, b_side, first, second, setting.decay, setting.bare_words)
    else:
        most = min(MOST_CHILDREN, max(int(_children(trees).max(initial=1)) for trees in (a, b)))
        found = delta_kernels.partial_sums(a_side, b_side, first, second, setting.decay, setting.height_decay, most)
    return found


def _side(trees: Trees, setting: TreeKernel) -> tuple[Any, ...]:
    """What `delta_kernels` read of trees, worked out once: sizes and offsets, then what `order_kernels` make ready."""
    leaves = setting.kind == "ptk" or setting.bare_words
    name = ("side", setting.kind, leaves)
    if name not in trees.cache:
        matched_by = {"st": SUBTREES, "sst": PRODUCTIONS, "ptk": LABELS}[setting.kind]
        ready = made_ready(trees.labels, trees.sizes, trees.offsets, matched_by, leaves)
        trees.cache[name] = (trees.sizes, trees.offsets, *ready)
    found: tuple[Any, ...] = trees.cache[name]
    return found
