"""Syntactic diversity: BBH22's tree kernel difference of the variants of each source, as sums that can be added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Floats
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.stats import Moments
from paraloom.evaluate.diversity.tree_index_kernels import pairs_within
from paraloom.evaluate.diversity.tree_kernels import TreeKernel, failures, kernel, own_kernels
from paraloom.evaluate.diversity.trees import Trees


def tree_kernel_difference(trees: Trees, groups: npt.ArrayLike, setting: TreeKernel) -> Floats:
    """100 − 100 · the mean normalized kernel of all pairs of trees of a group (BBH22 §2.2; its settings: `BBH22`)."""
    numbers = np.asarray(groups)
    if numbers.shape != (len(trees),):
        raise DataError(f"expected a group number for each of {len(trees)} trees, got shape {numbers.shape}")
    if len(numbers) and (numbers.dtype.kind not in "iu" or numbers.min() < 0):
        raise ConfigError("group numbers of trees must be whole numbers of 0 or more")
    count = int(numbers.max()) + 1 if len(numbers) else 0
    able = np.flatnonzero(~np.isnan(own_kernels(trees, setting)))
    members = able[np.argsort(numbers[able], kind="stable")]
    starts = np.searchsorted(numbers[members], np.arange(count + 1)).astype(np.int64)
    first, second, of = pairs_within(members, starts)
    values = kernel(trees, trees, setting, pairs=np.stack([first, second], axis=1))
    pairs = np.bincount(of, minlength=count)
    with np.errstate(invalid="ignore"):
        differences: Floats = 100 - 100 * np.bincount(of, values, minlength=count) / pairs
    return differences


@dataclass(frozen=True)
class TreeStatistics:
    """Sums over groups of trees; two of them can be added."""

    groups: int = 0
    short: int = 0
    trees: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    differences: Moments = field(default_factory=Moments)
    signature: str = ""

    @classmethod
    def of(cls, trees: Trees, groups: npt.ArrayLike, setting: TreeKernel) -> TreeStatistics:
        values = tree_kernel_difference(trees, groups, setting)
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
            raise ConfigError(f"figures of different kernels cannot be added: '{self.signature}', '{other.signature}'")
        return TreeStatistics(
            self.groups + other.groups,
            self.short + other.short,
            self.trees + other.trees,
            dict(Counter(self.failed) + Counter(other.failed)),
            self.differences + other.differences,
            self.signature or other.signature,
        )
