"""All figures of variants in one pass: diversity, surface and adequacy, as in Tables 1 to 4 of BBH22."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from paraloom.core.array_types import Floats
from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.protocols import Variant
from paraloom.core.stats import Estimate
from paraloom.evaluate.diversity import adequacy, lexical, surface
from paraloom.evaluate.diversity.adequacy import Adequacy
from paraloom.evaluate.diversity.groups import group_bounds
from paraloom.evaluate.diversity.lexical import LexicalDiversity, group_overlaps
from paraloom.evaluate.diversity.surface import SurfaceStatistics
from paraloom.evaluate.diversity.tree_differences import TreeStatistics
from paraloom.evaluate.diversity.tree_kernels import BBH22, TreeKernel
from paraloom.evaluate.diversity.trees import read_trees
from paraloom.text.characters import warn_of_words

KERNELS: dict[str, TreeKernel] = {"st": TreeKernel("st"), "sst": TreeKernel("sst"), "bbh22": BBH22}
"""Tree kernels by name: three kinds with the settings of Moschitti's program, and BBH22's setting of subset trees."""

UNSPACED = ("the variants", "i-BLEU", "i-chrF")
"""What a warning of scripts without spaces names."""

_DIVERSE = "0 to 100, higher is more diverse"
_UNITS = {
    "ibleu": _DIVERSE,
    "ichrf": _DIVERSE,
    "repeated": "share of a source's variants, 0 to 1",
    **surface.UNITS,
    **adequacy.UNITS,
}


@dataclass(frozen=True)
class DiversityScores:
    """The figures of a set of variants, each with a 95 % interval, a unit and a signature."""

    figures: Mapping[str, Estimate]
    counts: Mapping[str, int]
    units: Mapping[str, str]
    signatures: Mapping[str, str]

    def __getitem__(self, name: str) -> Estimate:
        return self.figures[name]

    @property
    def ibleu(self) -> float:
        """i-BLEU: 100 minus the mean BLEU of a variant against another, 0 to 100, higher is more diverse."""
        return self.figures["ibleu"].value

    @property
    def ichrf(self) -> float:
        """i-chrF: 100 minus the mean chrF of a variant against another, 0 to 100, higher is more diverse."""
        return self.figures["ichrf"].value

    def format(self) -> str:
        """A line for each figure: its name, its value with half the width of its interval, and its unit."""
        return "\n".join(f"{name}: {_format(figure)} ({self.units[name]})" for name, figure in self.figures.items())

    def __str__(self) -> str:
        return self.format()

    def to_dict(self) -> dict[str, Any]:
        """Counts, and for each figure its value, interval, unit and signature, as JSON values; NaN becomes None."""
        figures = {
            name: {
                **{key: value if math.isfinite(value) else None for key, value in figure.to_dict().items()},
                "unit": self.units[name],
                "signature": self.signatures[name],
            }
            for name, figure in self.figures.items()
        }
        return {**self.counts, "figures": figures}


def diversity(
    variants: Sequence[Sequence[str | Variant]],
    *,
    references: Sequence[str | None] | None = None,
    trees: Sequence[Sequence[str | None]] | None = None,
    kernels: Iterable[str] = ("sst",),
) -> DiversityScores:
    """Measure the diversity of variants in memory.

    Each group counts once, whatever its size; groups with fewer than two variants are in no mean of a diversity.

    Args:
        variants: For each source its variants: texts, or `Variant` objects as `Translator.translate` returns them,
            whose translation cost is then measured.
        references: For each source a text in the language of the variants, or None; adds chrF.
        trees: For each variant its bracketed tree, or None; adds tree kernel differences.
        kernels: Tree kernels, of 'st', 'sst' and 'bbh22'.

    Returns:
        The figures: ibleu, ichrf, repeated, tree kernel differences such as `kernel_sst` (with trees), sentence_length,
        word_length, bytes_per_word, vocabulary, folded_vocabulary, cost (with `Variant` objects) and chrf (with
        references).

    Raises:
        TypeError: `variants` is not a list of lists of texts.
        DataError: `references` or `trees` do not have the shape of `variants`.
        ConfigError: Unknown kernel.

    Reference:
        BBH22 §2.2 and Tables 1 to 4.

    Example:
        >>> variants = [["The dog sleeps.", "A dog is asleep."], ["Hello.", "Hello."]]
        >>> scores = diversity(variants, references=["A dog sleeps.", "Hi."])
        >>> scores.counts["groups"], round(scores.ibleu, 1), round(scores["chrf"].value, 1)
        (2, 43.1, 41.3)
    """
    groups = [_group(index, group) for index, group in enumerate(_expect_list(variants))]
    if references is not None and len(references) != len(groups):
        raise DataError(f"expected a reference for each of {len(groups)} groups, got {len(references)}")
    columns = _columns(groups, trees)
    warn_of_words(columns["text"][:200].to_pylist(), *UNSPACED)
    statistics = VariantStatistics.of(
        pa.RecordBatch.from_pydict(columns),
        trees="tree" if trees is not None else "",
        kernels=named_kernels(kernels),
        references=None if references is None else {str(i): text for i, text in enumerate(references) if text},
    )
    empty_groups = sum(not group for group in groups)
    return statistics.scores(cost="logprob" in columns, chrf=references is not None, empty_groups=empty_groups)


def _columns(
    groups: Sequence[Sequence[str | Variant]], trees: Sequence[Sequence[str | None]] | None
) -> dict[str, pa.Array]:
    """The columns of VARIANTS that are known of variants, with a column `tree`."""
    members = [variant for group in groups for variant in group]
    columns: dict[str, pa.Array] = {
        "pair_id": pa.array([str(index) for index, group in enumerate(groups) for _ in group], pa.string()),
        "text": pa.array(map(_text, members), pa.string()),
    }
    if any(isinstance(variant, Variant) for variant in members):
        for name in ("logprob", "tokens"):
            columns[name] = pa.array([getattr(variant, name, None) for variant in members], pa.float64())
    if trees is not None:
        if list(map(len, trees)) != list(map(len, groups)):
            raise DataError(
                "expected a tree, or None, for each variant", remedy="Give 'trees' the shape of 'variants'."
            )
        columns["tree"] = pa.array(chain.from_iterable(trees), pa.string())
    return columns


def named_kernels(names: Iterable[str]) -> dict[str, TreeKernel]:
    chosen = list(names)
    for name in chosen:
        if name not in KERNELS:
            raise ConfigError(f"unknown tree kernel '{name}'{nearest(name, list(KERNELS))}")
    return {name: KERNELS[name] for name in chosen}


@dataclass(frozen=True)
class VariantStatistics:
    """Sums over groups of variants; two of them can be added."""

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
        """Sum up a batch of whole groups."""
        texts, bounds = batch.column("text"), group_bounds(batch.column("pair_id"))
        by_group = None
        if references is not None:
            ids = batch.column("pair_id").take(pa.array(bounds[:-1])).to_pylist()
            by_group = [references.get(pair_id) for pair_id in ids]
        differences = {}
        if trees:
            parsed = read_trees(batch.column(trees), labels=labels or None)
            group = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
            chosen = kernels or named_kernels(["sst"])
            differences = {name: TreeStatistics.of(parsed, group, kernel) for name, kernel in chosen.items()}
        return cls(
            LexicalDiversity.of(group_overlaps(texts, bounds)),
            SurfaceStatistics.of(texts, bounds),
            Adequacy.of(
                texts, bounds, logprob=_numbers(batch, "logprob"), tokens=_numbers(batch, "tokens"), references=by_group
            ),
            differences,
        )

    def __add__(self, other: VariantStatistics) -> VariantStatistics:
        names = dict.fromkeys([*self.trees, *other.trees])
        empty = TreeStatistics()
        return VariantStatistics(
            self.lexical + other.lexical,
            self.surface + other.surface,
            self.adequacy + other.adequacy,
            {name: self.trees.get(name, empty) + other.trees.get(name, empty) for name in names},
        )

    def counts(self) -> dict[str, int]:
        """Groups of two or more variants, groups of one (alone), variants, and empty ones among them."""
        total = self.lexical
        return {"groups": total.groups, "alone": total.alone, "variants": total.variants, "empty": total.empty}

    def figures(self) -> dict[str, Estimate]:
        """Every figure with its 95 % interval, NaN where it is undefined. Kernels are called kernel_sst and so on."""
        kernels = {f"kernel_{name}": trees.differences.estimate() for name, trees in self.trees.items()}
        return self.lexical.figures() | kernels | self.surface.figures() | self.adequacy.figures()

    def units(self) -> dict[str, str]:
        """The unit of each figure, and which direction is better."""
        return {name: _UNITS.get(name, _DIVERSE) for name in self.figures()}

    def signatures(self) -> dict[str, str]:
        kernels = {f"kernel_{name}": trees.signature for name, trees in self.trees.items()}
        words = {name: signature(name, words="white space") for name in surface.UNITS}
        return lexical.signatures() | kernels | words | adequacy.signatures()

    def scores(self, *, cost: bool = True, chrf: bool = True, empty_groups: int = 0) -> DiversityScores:
        left_out = {name for name, shown in (("cost", cost), ("chrf", chrf)) if not shown}
        counts = self.counts()
        return DiversityScores(
            {name: figure for name, figure in self.figures().items() if name not in left_out},
            {**counts, "alone": counts["alone"] + empty_groups},
            self.units(),
            self.signatures(),
        )


def _expect_list(variants: object) -> Sequence[Any]:
    if isinstance(variants, (str, bytes)) or not isinstance(variants, Sequence):
        raise TypeError(f"'variants' must be a list of lists of texts, got {type(variants).__name__}")
    return variants


def _group(index: int, group: object) -> Sequence[str | Variant]:
    # A Variant is a tuple, too.
    if isinstance(group, (str, bytes, Variant)) or not isinstance(group, Sequence):
        raise TypeError(f"'variants' must be a list of lists of texts, got {type(group).__name__} at index {index}")
    for variant in group:
        if not isinstance(variant, (str, Variant)):
            raise TypeError(f"group {index} of 'variants' must have texts, got {type(variant).__name__}")
    return group


def _text(variant: str | Variant) -> str:
    return variant if isinstance(variant, str) else variant.text


def _format(figure: Estimate) -> str:
    half = figure.high - figure.value
    if not half:  # a count, such as a vocabulary
        return f"{figure.value:g}"
    return f"{figure.value:.2f}" if math.isnan(half) else f"{figure.value:.2f} ± {half:.2f}"


def _numbers(batch: pa.RecordBatch, name: str) -> Floats | None:
    """A column as float64 (n,), NaN for null; None for a missing column."""
    if name not in batch.schema.names:
        return None
    return np.asarray(batch.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
