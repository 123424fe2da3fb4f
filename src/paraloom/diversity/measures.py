"""All figures of a corpus of VARIANTS in one pass: the rows of BBH22's Tables 1 to 4, as statistics that merge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, nearest
from paraloom.core.stats import Estimate
from paraloom.diversity import adequacy, lexical, surface
from paraloom.diversity.adequacy import Adequacy
from paraloom.diversity.groups import group_bounds
from paraloom.diversity.lexical import LexicalDiversity
from paraloom.diversity.overlap_metrics import overlap_of_groups
from paraloom.diversity.surface import SurfaceStatistics
from paraloom.diversity.tree_differences import TreeStatistics
from paraloom.diversity.tree_kernels import BBH22, TreeKernel
from paraloom.diversity.trees import read_trees

KERNELS: dict[str, TreeKernel] = {
    "st": TreeKernel("st"),
    "sst": TreeKernel("sst"),
    "ptk": TreeKernel("ptk"),
    "bbh22": BBH22,
}
"""Tree kernels by name: three kinds with the settings of Moschitti's program, and BBH22's setting of subset trees."""

_DIVERSE = "0 to 100, higher is more diverse"
_UNITS = {
    "ibleu": _DIVERSE,
    "ichrf": _DIVERSE,
    "repeated": "share of a source's variants, 0 to 1",
    **surface.UNITS,
    **adequacy.UNITS,
}


def named_kernels(names: Iterable[str]) -> dict[str, TreeKernel]:
    """The kernels of these names; raises ConfigError for one that is not there.

    >>> named_kernels(["bbh22"])["bbh22"].decay
    1.0
    """
    wanted = list(names)
    for name in wanted:
        if name not in KERNELS:
            raise ConfigError(f"unknown tree kernel '{name}'{nearest(name, list(KERNELS))}")
    return {name: KERNELS[name] for name in wanted}


@dataclass(frozen=True)
class VariantStatistics:
    """Sums over groups of variants; two of them add up to those of both.

    lexical, surface, adequacy: see their classes.  trees: by the name of the kernel; none without parses.
    """

    lexical: LexicalDiversity = field(default_factory=LexicalDiversity)
    surface: SurfaceStatistics = field(default_factory=SurfaceStatistics)
    adequacy: Adequacy = field(default_factory=Adequacy)
    trees: Mapping[str, TreeStatistics] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        batch: pa.RecordBatch,
        *,
        trees: str = "",
        kernels: Mapping[str, TreeKernel] | None = None,
        labels: Sequence[str] = (),
        references: Mapping[str, str] | None = None,
    ) -> VariantStatistics:
        """Of a batch of whole groups (groups.whole_groups) with pair_id and text; logprob and tokens where known.

        trees: the column of the parses, '' for none; a null is a text without one.  kernels: by name; default: sst.
        labels: those that trees may have; none: any.  references: pair_id → the text to compare with.

        >>> rows = [{"pair_id": "1", "text": text} for text in ("a dog", "a cat")]
        >>> found = VariantStatistics.of(pa.RecordBatch.from_pylist(rows), references={"1": "a cat"})
        >>> found.figures()["ibleu"].value, round(found.figures()["chrf"].value)
        (50.0, 53)
        """
        texts, bounds = batch.column("text"), group_bounds(batch.column("pair_id"))
        beside = None
        if references is not None:
            ids = batch.column("pair_id").take(pa.array(bounds[:-1])).to_pylist()
            beside = [references.get(pair_id) for pair_id in ids]
        syntax = {}
        if trees:
            read = read_trees(batch.column(trees), labels=labels or None)
            of_group = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
            wanted = kernels or named_kernels(["sst"])
            syntax = {name: TreeStatistics.of(read, of_group, kernel) for name, kernel in wanted.items()}
        return cls(
            LexicalDiversity.of(overlap_of_groups(texts, bounds)),
            SurfaceStatistics.of(texts, bounds),
            Adequacy.of(
                texts, bounds, logprob=_numbers(batch, "logprob"), tokens=_numbers(batch, "tokens"), references=beside
            ),
            syntax,
        )

    def __add__(self, other: VariantStatistics) -> VariantStatistics:
        names = dict.fromkeys([*self.trees, *other.trees])
        nothing = TreeStatistics()
        return VariantStatistics(
            self.lexical + other.lexical,
            self.surface + other.surface,
            self.adequacy + other.adequacy,
            {name: self.trees.get(name, nothing) + other.trees.get(name, nothing) for name in names},
        )

    def counts(self) -> dict[str, int]:
        """What was looked at: groups of two variants and more, groups of one, variants, empty ones among them."""
        found = self.lexical
        return {"groups": found.groups, "alone": found.alone, "variants": found.variants, "empty": found.empty}

    def figures(self) -> dict[str, Estimate]:
        """Every figure with its 95 % interval; NaN where nothing tells it.  Kernels are named kernel_sst and so on."""
        kernels = {f"kernel_{name}": each.differences.estimate() for name, each in self.trees.items()}
        return self.lexical.figures() | kernels | self.surface.figures() | self.adequacy.figures()

    def units(self) -> dict[str, str]:
        """What each of the figures counts, and which way is better."""
        return {name: _UNITS.get(name, _DIVERSE) for name in self.figures()}

    def signatures(self) -> dict[str, str]:
        """How each of the figures was made."""
        kernels = {f"kernel_{name}": each.signature for name, each in self.trees.items()}
        words = {name: signature(name, words="white space") for name in surface.UNITS}
        return lexical.signatures() | kernels | words | adequacy.signatures()


def _numbers(batch: pa.RecordBatch, name: str) -> npt.NDArray[np.float64] | None:
    """A column as float64 (n,), NaN for null; None where there is no such column."""
    if name not in batch.schema.names:
        return None
    return np.asarray(batch.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
