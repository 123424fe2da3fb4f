"""How much the parses of one source's translations differ: BBH22's tree kernel difference, as statistics that merge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.stats import Estimate, Moments
from paraloom.diversity.tree_kernels import Kind, TreeKernel, failures, kernel, own_kernels
from paraloom.diversity.tree_order_kernels import pairs_within
from paraloom.diversity.trees import Trees


def differences(trees: Trees, groups: npt.ArrayLike, setting: TreeKernel | Kind = "sst") -> npt.NDArray[np.float64]:
    """100 − 100 × the mean normalised kernel over all pairs of a group's trees: 0 (one tree) to 100 (nothing shared).

    groups: int (n,), the group of each tree, counted from 0.  Returns float64 (groups,); higher is more diverse.
    Texts that are no tree are in no pair (`tree_kernels.failures` counts them); NaN where fewer than two are left.
    BBH22 §2.2 takes groups of three outputs, subset trees and dummy words; its script's settings are
    `tree_kernels.BBH22`.

    >>> from paraloom.diversity.trees import read_trees
    >>> texts = ["(S (NP x) (VP x))", "(S (NP x) (VP x))", "(S (NP x) (VP x) (. x))", "(FRAG (NN x))", "(FRAG (NN x)"]
    >>> differences(read_trees(texts), [0, 0, 0, 1, 1]).round(2).tolist()
    [38.71, nan]
    """
    setting = TreeKernel(setting) if isinstance(setting, str) else setting
    numbers = np.asarray(groups)
    if numbers.shape != (len(trees),):
        raise DataError(f"{numbers.shape} group numbers for {len(trees)} trees", remedy="Give each tree its group.")
    if len(numbers) and (numbers.dtype.kind not in "iu" or numbers.min() < 0):
        raise ConfigError("groups of trees are whole numbers, counted from 0")
    count = int(numbers.max()) + 1 if len(numbers) else 0
    able = np.flatnonzero(~np.isnan(own_kernels(trees, setting)))
    members = able[np.argsort(numbers[able], kind="stable")]
    starts = np.searchsorted(numbers[members], np.arange(count + 1)).astype(np.int64)
    first, second, of = pairs_within(members, starts)
    values = kernel(trees, trees, setting, pairs=np.stack([first, second], axis=1))
    pairs = np.bincount(of, minlength=count)
    with np.errstate(invalid="ignore"):
        found: npt.NDArray[np.float64] = 100 - 100 * np.bincount(of, values, minlength=count) / pairs
    return found


@dataclass(frozen=True)
class TreeStatistics:
    """Sums over groups of parses; two of them add up to those of both.

    groups: all, `short` among them: those with fewer than two trees, which have no difference.  trees: texts given,
    `failed` among them, by reason.  differences: of the groups that have one, 0 to 100.  signature: of the kernel.
    """

    groups: int = 0
    short: int = 0
    trees: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    differences: Moments = field(default_factory=Moments)
    signature: str = ""

    @classmethod
    def of(cls, trees: Trees, groups: npt.ArrayLike, setting: TreeKernel | Kind = "sst") -> TreeStatistics:
        """Of a batch of whole groups.

        >>> from paraloom.diversity.trees import read_trees
        >>> found = TreeStatistics.of(read_trees(["(S (NP x))", "(S (NP x))", "(S (NP x))", ""]), [0, 0, 1, 1])
        >>> found.groups, found.short, found.failed, found.figures()["tree_kernel_difference"].value
        (2, 1, {'no tree': 1}, 0.0)
        """
        setting = TreeKernel(setting) if isinstance(setting, str) else setting
        values = differences(trees, groups, setting)
        return cls(
            groups=len(values),
            short=int(np.isnan(values).sum()),
            trees=len(trees),
            failed=failures(trees, setting),
            differences=Moments.of(values),
            signature=setting.signature(trees),
        )

    def __add__(self, other: TreeStatistics) -> TreeStatistics:
        if self.signature and other.signature and self.signature != other.signature:
            raise ConfigError(f"figures of '{self.signature}' and of '{other.signature}' do not add up")
        return TreeStatistics(
            self.groups + other.groups,
            self.short + other.short,
            self.trees + other.trees,
            dict(Counter(self.failed) + Counter(other.failed)),
            self.differences + other.differences,
            self.signature or other.signature,
        )

    def figures(self) -> dict[str, Estimate]:
        """The mean difference of the groups that have one, with its interval."""
        return {"tree_kernel_difference": self.differences.estimate()}
