"""The stage that measures VARIANTS: how diverse they are, and how adequate."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.core.stats import Estimate, merge_all
from paraloom.diversity.groups import Drawn, whole_groups
from paraloom.diversity.measures import VariantStatistics, named_kernels
from paraloom.diversity.tree_differences import TreeStatistics
from paraloom.io import Corpus

_UNKNOWN = "und"


@dataclass(frozen=True, kw_only=True)
class MeasureDiversity(Fit):
    """How much the variants of each source differ, how long and rich they are, and how adequate (BBH22 Tables 1 to 4).

    variants: a corpus of VARIANTS, those of one source one after another.  limit: groups that are measured at most,
    drawn by a hash of pair_id, so that corpora made from the same sources are measured on the same ones; BBH22 takes
    30,000.  trees: the column of bracketed parses, such as text_parse; '': no tree kernels.  kernels: st, sst, ptk, or
    bbh22, the setting of BBH22's script.  labels: those that trees may have, none: any; a tree with another one fails.
    references: a corpus of PAIRS with the same pair_ids, for chrF.  reference_column: the side in the variants'
    language.
    """

    inputs: ClassVar[tuple[str, ...]] = ("variants", "references")
    version: ClassVar[str] = "2"

    variants: Ref
    references: Ref | None = None
    reference_column: Literal["src", "tgt"] = "tgt"
    limit: int = 30_000
    trees: str = ""
    kernels: tuple[str, ...] = ("sst",)
    labels: tuple[str, ...] = ()

    def validate(self) -> None:
        if self.limit < 1:
            raise ConfigError(f"key 'limit' is 1 group or more, not {self.limit}")
        if self.trees and not self.kernels:
            raise ConfigError("trees are compared by kernels, and there are none", remedy='Write kernels = ["sst"].')
        named_kernels(self.kernels)

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json; figures: each as `name` and `name_interval`, half the width of its 95 % interval."""
        corpus = Corpus.open(context.inputs["variants"])
        columns = self._columns(corpus)
        try:
            drawn = Drawn.of(corpus.batches(["pair_id"]), self.limit)
            references = self._references(context, corpus, drawn)
            found = merge_all(
                (
                    VariantStatistics.of(
                        batch,
                        trees=self.trees,
                        kernels=named_kernels(self.kernels),
                        labels=self.labels,
                        references=references,
                    )
                    # Cut before they are drawn: what is wrong is told by the rows of the corpus.
                    for batch in _of(
                        whole_groups(corpus.batches(["pair_id", *columns], label="measuring"), columns), drawn
                    )
                ),
                VariantStatistics(),
            )
        except DataError as error:
            raise error.at(file=corpus.folder) from None
        if not found.surface.sentences:
            raise DataError("there are no variants to measure", file=corpus.folder)
        result = _result(found, references is not None)
        (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return _flat(found, result)

    def _columns(self, corpus: Corpus) -> list[str]:
        """The columns to read beside pair_id; those that every variant has must be there, and the trees asked for."""
        names = corpus.schema.names
        for name in ("pair_id", "text", *([self.trees] if self.trees else [])):
            if name not in names:
                raise ConfigError(
                    f"there is no column '{name}'{nearest(name, names)}",
                    file=corpus.folder,
                    remedy="Add parses by the stage 'parse', columns = [\"text\"]."
                    if name == self.trees
                    else "Variants come from the stages 'translate-variants' and 'read-variants'.",
                )
        return ["text", *(name for name in ("logprob", "tokens", self.trees) if name in names)]

    def _references(self, context: StageContext, corpus: Corpus, drawn: Drawn) -> dict[str, str] | None:
        """The references of the groups drawn, by pair_id; None where there are to be none."""
        if "references" not in context.inputs:
            return None
        pairs = Corpus.open(context.inputs["references"])
        self._check_language(corpus, pairs)
        ids = _of(corpus.batches(["pair_id"]), drawn)
        wanted = {pair_id for batch in ids for pair_id in batch.column("pair_id").to_pylist()}
        found: dict[str, str] = {}
        row = 0
        for batch in pairs.batches(["pair_id", self.reference_column]):
            for place in drawn.holds(batch.column("pair_id")).nonzero()[0].tolist():
                pair_id, text = (batch.column(name)[place].as_py() for name in ("pair_id", self.reference_column))
                if pair_id not in wanted or text is None:
                    continue
                if found.setdefault(pair_id, text) != text:
                    raise DataError(
                        f"'{pair_id}' has two references", file=pairs.folder, row=row + place + 1,
                        remedy="Give each pair a pair_id of its own.",
                    )  # fmt: skip
            row += batch.num_rows
        if not found:
            ours, theirs = (each.head(1, ["pair_id"]).column("pair_id").to_pylist() for each in (corpus, pairs))
            firsts = " and ".join(f"'{ids[0]}'" if ids else "nothing" for ids in (ours, theirs))
            raise DataError(
                f"no pair_id of the variants is one of the references: they begin with {firsts}",
                remedy="Translate the pairs themselves ('paraloom variants' takes them), so that ids are theirs.",
            )
        return found

    def _check_language(self, corpus: Corpus, pairs: Corpus) -> None:
        """The side of the originals, taken for that of the references, would give a chrF that says nothing."""
        for name in (self.reference_column, "pair_id"):
            if name not in pairs.schema.names:
                raise ConfigError(
                    f"there is no column '{name}'{nearest(name, pairs.schema.names)}",
                    file=pairs.folder,
                    remedy="References are a corpus of PAIRS.",
                )
        sides = {side: f"{side}_lang" for side in ("src", "tgt")}
        if "original_lang" not in corpus.schema.names or not set(sides.values()) <= set(pairs.schema.names):
            return
        original = corpus.head(1, ["original_lang"]).column(0).to_pylist()
        langs = {side: pairs.head(1, [name]).column(0).to_pylist() for side, name in sides.items()}
        other = "src" if self.reference_column == "tgt" else "tgt"
        if original == langs[self.reference_column] != langs[other] and original not in ([], [_UNKNOWN], [None]):
            raise ConfigError(
                f"'{self.reference_column}' is in the language that was translated from, {original[0]}",
                file=pairs.folder,
                remedy=f'Take the other side: reference_column = "{other}", or --reference-column {other}.',
            )


def _of(batches: Iterable[pa.RecordBatch], drawn: Drawn) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.filter(pa.array(drawn.holds(batch.column("pair_id"))))


def _result(found: VariantStatistics, compared: bool) -> dict[str, Json]:
    """Counts, then a row for each figure with interval, unit and signature, then one for each kernel."""
    units, signatures = found.units(), found.signatures()
    result: dict[str, Json] = dict(found.counts())
    result["uncosted"] = found.adequacy.uncosted
    if compared:
        result["unreferenced"] = found.adequacy.unreferenced
    result["figures"] = [
        {"figure": name, **_plain(estimate), "unit": units[name], "signature": signatures[name]}
        for name, estimate in found.figures().items()
        if name != "chrf" or compared
    ]
    if found.trees:
        result["kernels"] = [{"kernel": name, **_books(each)} for name, each in found.trees.items()]
    return result


def _books(trees: TreeStatistics) -> dict[str, Json]:
    return {
        "texts": trees.trees,
        "failed": sum(trees.failed.values()),
        "short_groups": trees.short,
        "reasons": "; ".join(f"{reason}: {count:,}" for reason, count in sorted(trees.failed.items())),
    }


def _plain(estimate: Estimate) -> Mapping[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in estimate.to_dict().items()}


def _flat(found: VariantStatistics, result: Mapping[str, Json]) -> dict[str, Json]:
    """For run.json: the counts, the figures rounded, why parses failed."""
    figures: dict[str, Json] = {name: value for name, value in result.items() if not isinstance(value, list)}
    for row in result["figures"]:
        name, value, high = row["figure"], row["value"], row["high"]
        figures[name] = None if value is None else round(value, 4)
        if value is None or high != value:
            figures[f"{name}_interval"] = None if high is None else round(high - value, 4)
        figures[f"{name}_signature"] = row["signature"]
    for name, each in found.trees.items():
        figures[f"kernel_{name}_short_groups"] = each.short
        figures[f"kernel_{name}_failed"] = dict(sorted(each.failed.items()))
    return figures
