"""Stages that sample the sources of variants, and measure the diversity and adequacy of variants."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa

from paraloom.core.config import check_range
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.protocols import CorpusReader
from paraloom.core.schema import with_reasons
from paraloom.core.stage import Fit, Json, Map, Ref, StageContext
from paraloom.core.stats import Estimate, merge_all
from paraloom.evaluate.diversity.groups import GroupSample, whole_groups
from paraloom.evaluate.diversity.measures import UNSPACED, VariantStatistics, named_kernels
from paraloom.evaluate.diversity.tree_differences import TreeStatistics
from paraloom.io import Corpus
from paraloom.text.characters import warn_of_words

_UNKNOWN = "und"


@dataclass(frozen=True, kw_only=True)
class SampleVariants(Map):
    """Keeps all variants of a random sample of sources: those that `measure-diversity` with this limit measures.

    Before a stage `parse`, so that no variant is parsed in vain.

    Args:
        limit: Maximum number of sources. They are sampled by a hash of `pair_id`.

    Example:
        >>> SampleVariants(input="translate-variants", limit=3000).limit
        3000
    """

    limit: int = 30_000

    def validate(self) -> None:
        check_range(self, "limit", low=1)

    def survey(self, corpus: CorpusReader, context: StageContext) -> Json:
        return GroupSample.of(corpus.batches(["pair_id"]), self.limit).cut

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        kept = GroupSample(context.survey).contains(batch.column("pair_id")).tolist()
        return with_reasons(batch, [None if keep else "not in the sample" for keep in kept])


@dataclass(frozen=True, kw_only=True)
class MeasureDiversity(Fit):
    """Measures how much the variants of each source differ, how long and rich they are, and how adequate.

    Args:
        variants: Corpus of VARIANTS; those of one source are consecutive rows.
        references: Corpus of PAIRS with the same `pair_id`, for chrF. Default: no chrF.
        reference_column: Side of the references that is in the language of the variants.
        limit: Maximum number of sources. They are sampled by a hash of `pair_id`, so that corpora of the same sources
            are measured on the same ones (30,000 in BBH22).
        trees: Column of bracketed trees, such as 'text_parse'. Default: no tree kernels.
        kernels: Tree kernels: 'st', 'sst', or 'bbh22', the setting of the script of BBH22.
        labels: Labels that trees may have; a tree with another one fails. Default: any.

    Raises:
        ConfigError: `limit` is below 1, a kernel is unknown, or, when it runs, a column is missing.
        DataError: When it runs: the corpus has no variants, or no variant has a reference.

    Reference:
        Burchell, Birch and Heafield 2022 (BBH22), Tables 1 to 4.

    Example:
        >>> MeasureDiversity(variants="translate-variants", trees="text_parse", kernels=["st", "sst"]).limit
        30000
    """

    version: ClassVar[str] = "3"

    variants: Ref
    references: Ref | None = None
    reference_column: Literal["src", "tgt"] = "tgt"
    limit: int = 30_000
    trees: str = ""
    kernels: tuple[str, ...] = ("sst",)
    labels: tuple[str, ...] = ()

    def validate(self) -> None:
        check_range(self, "limit", low=1)
        if self.trees and not self.kernels:
            raise ConfigError("key 'kernels' is empty, and 'trees' needs a kernel", remedy='Write kernels = ["sst"].')
        named_kernels(self.kernels)

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json; return each figure as `name` and `name_interval`, half the width of its 95 % interval."""
        corpus = Corpus.open(context.inputs["variants"])
        columns = self._columns(corpus)
        warn_of_words([text or "" for text in corpus.head(200, ["text"]).column("text").to_pylist()], *UNSPACED)
        try:
            drawn = GroupSample.of(corpus.batches(["pair_id"]), self.limit)
            references = self._references(context, corpus, drawn)
            statistics = merge_all(
                (
                    VariantStatistics.of(
                        batch,
                        trees=self.trees,
                        kernels=named_kernels(self.kernels),
                        labels=self.labels,
                        references=references,
                    )
                    # Groups are cut before they are sampled, so that errors name the row of the corpus.
                    for batch in _sampled(
                        whole_groups(corpus.batches(["pair_id", *columns], label="measuring"), columns), drawn
                    )
                ),
                VariantStatistics(),
            )
        except DataError as error:
            raise error.at(file=corpus.folder) from None
        if not statistics.surface.sentences:
            raise DataError("the corpus has no variants", file=corpus.folder)
        result = _result(statistics, references is not None)
        (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return _flat(statistics, result)

    def _columns(self, corpus: Corpus) -> list[str]:
        """The columns to read besides pair_id."""
        names = corpus.schema.names
        for name in ("pair_id", "text", *([self.trees] if self.trees else [])):
            if name not in names:
                raise ConfigError(
                    f"column '{name}' not found{nearest(name, names)}",
                    file=corpus.folder,
                    remedy="Add parses with a stage 'parse', columns = [\"text\"]."
                    if name == self.trees
                    else "Variants come from the stages 'translate-variants' and 'read-variants'.",
                )
        return ["text", *(name for name in ("logprob", "tokens", self.trees) if name in names)]

    def _references(self, context: StageContext, corpus: Corpus, drawn: GroupSample) -> dict[str, str] | None:
        """The references of the sampled groups by pair_id; None without `references`."""
        if "references" not in context.inputs:
            return None
        pairs = Corpus.open(context.inputs["references"])
        self._check_language(corpus, pairs)
        ids = _sampled(corpus.batches(["pair_id"]), drawn)
        sampled = {pair_id for batch in ids for pair_id in batch.column("pair_id").to_pylist()}
        references: dict[str, str] = {}
        row = 0
        for batch in pairs.batches(["pair_id", self.reference_column]):
            for index in drawn.contains(batch.column("pair_id")).nonzero()[0].tolist():
                pair_id, text = (batch.column(name)[index].as_py() for name in ("pair_id", self.reference_column))
                if pair_id not in sampled or text is None:
                    continue
                if references.setdefault(pair_id, text) != text:
                    raise DataError(
                        f"'{pair_id}' has two references",
                        file=pairs.folder,
                        row=row + index + 1,
                        remedy="Give each pair a unique pair_id.",
                    )
            row += batch.num_rows
        if not references:
            first_ids = (item.head(1, ["pair_id"]).column("pair_id").to_pylist() for item in (corpus, pairs))
            firsts = " and ".join(f"'{ids[0]}'" if ids else "nothing" for ids in first_ids)
            raise DataError(
                f"variants and references have no pair_id in common: they begin with {firsts}",
                remedy="Translate the pairs themselves by `paraloom research variants`, so that the ids are the same.",
            )
        return references

    def _check_language(self, corpus: Corpus, pairs: Corpus) -> None:
        """Refuse the side of the originals as references: its chrF would be meaningless."""
        for name in (self.reference_column, "pair_id"):
            if name not in pairs.schema.names:
                raise ConfigError(
                    f"column '{name}' not found{nearest(name, pairs.schema.names)}",
                    file=pairs.folder,
                    remedy="Give a corpus of PAIRS as references.",
                )
        sides = {side: f"{side}_lang" for side in ("src", "tgt")}
        if "original_lang" not in corpus.schema.names or not set(sides.values()) <= set(pairs.schema.names):
            return
        original = corpus.head(1, ["original_lang"]).column(0).to_pylist()
        langs = {side: pairs.head(1, [name]).column(0).to_pylist() for side, name in sides.items()}
        other = "src" if self.reference_column == "tgt" else "tgt"
        if original == langs[self.reference_column] != langs[other] and original not in ([], [_UNKNOWN], [None]):
            raise ConfigError(
                f"key 'reference_column': '{self.reference_column}' is in the language of the originals, {original[0]}",
                file=pairs.folder,
                remedy=f'Take the other side: reference_column = "{other}", or --reference-column {other}.',
            )


def _sampled(batches: Iterable[pa.RecordBatch], drawn: GroupSample) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.filter(pa.array(drawn.contains(batch.column("pair_id"))))


def _result(statistics: VariantStatistics, has_references: bool) -> dict[str, Json]:
    """Counts, then a row for each figure with interval, unit and signature, then a row for each kernel."""
    units, signatures = statistics.units(), statistics.signatures()
    result: dict[str, Json] = dict(statistics.counts())
    result["uncosted"] = statistics.adequacy.uncosted
    if has_references:
        result["unreferenced"] = statistics.adequacy.unreferenced
    result["figures"] = [
        {"figure": name, **_plain(estimate), "unit": units[name], "signature": signatures[name]}
        for name, estimate in statistics.figures().items()
        if name != "chrf" or has_references
    ]
    if statistics.trees:
        result["kernels"] = [{"kernel": name, **_tree_counts(trees)} for name, trees in statistics.trees.items()]
    return result


def _tree_counts(trees: TreeStatistics) -> dict[str, Json]:
    return {
        "texts": trees.trees,
        "failed": sum(trees.failed.values()),
        "short_groups": trees.short,
        "reasons": "; ".join(f"{reason}: {count:,}" for reason, count in sorted(trees.failed.items())),
    }


def _plain(estimate: Estimate) -> Mapping[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in estimate.to_dict().items()}


def _flat(statistics: VariantStatistics, result: Mapping[str, Json]) -> dict[str, Json]:
    """For run.json: counts, rounded figures, and the reasons why trees failed."""
    figures: dict[str, Json] = {name: value for name, value in result.items() if not isinstance(value, list)}
    for row in result["figures"]:
        name, value, high = row["figure"], row["value"], row["high"]
        figures[name] = None if value is None else round(value, 4)
        if value is None or high != value:
            figures[f"{name}_interval"] = None if high is None else round(high - value, 4)
        figures[f"{name}_signature"] = row["signature"]
    for name, trees in statistics.trees.items():
        figures[f"kernel_{name}_short_groups"] = trees.short
        figures[f"kernel_{name}_failed"] = dict(sorted(trees.failed.items()))
    return figures
