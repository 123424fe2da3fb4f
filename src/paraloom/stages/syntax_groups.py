"""Stages about syntax groups: find them, pick one, count productions before and after fine-tuning."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.protocols import CorpusReader
from paraloom.core.stage import Fit, Json, Map, Ref, StageContext
from paraloom.core.stats import merge_all, paired_difference
from paraloom.io import Corpus
from paraloom.syntax.groups import SyntaxGroup, SyntaxGrouping, choose_groups
from paraloom.syntax.productions import ProductionCounts, root_productions


@dataclass(frozen=True, kw_only=True)
class SyntaxGroups(Fit):
    """Finds the largest groups of pairs whose parses have the same root production.

    pairs: a parsed corpus.  column: of the trees.  groups: how many are wanted.  least: rows of the smallest that will
    do; smaller productions are joined, as paraloom.syntax.groups.choose_groups says.
    """

    sentinel: ClassVar[str] = "groups.json"
    inputs: ClassVar[tuple[str, ...]] = ("pairs",)

    pairs: Ref
    column: str = "tgt_parse"
    groups: int = 3
    least: int = 0

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write groups.json: of each group its productions and their rows; figures: rows, those unparsed, groups."""
        counts = count_productions(Corpus.open(context.inputs["pairs"]), self.column)
        chosen = choose_groups(counts.counts, self.groups, self.least)
        SyntaxGrouping(self.column, counts.rows, counts.unparsed, len(counts.counts), chosen).save(folder)
        return {
            "rows": counts.rows,
            "unparsed": counts.unparsed,
            "productions": len(counts.counts),
            **{f"group_{group.group}": f"{group.name}: {group.rows}" for group in chosen},
        }


@dataclass(frozen=True, kw_only=True)
class PickSyntaxGroup(Map):
    """Keeps the pairs of one syntax group, to fine-tune a translator on; the others are set aside.

    groups: a stage `syntax-groups`.  group: the number of the one that stays, from 1.
    """

    inputs: ClassVar[tuple[str, ...]] = ("groups",)

    groups: Ref
    group: int = 1

    def survey(self, corpus: CorpusReader, context: StageContext) -> Json:
        """The column of the trees, and the group of each production; checked before any row is touched."""
        groups = SyntaxGrouping.load(context.inputs["groups"])
        groups.get(self.group)
        check_column(corpus, groups.column)
        return {"column": groups.column, "group": groups.numbers_by_production()}

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with keep and reason: another group's number, none, or no parse."""
        group_of: dict[str, int] = context.survey["group"]
        found = root_productions(batch.column(context.survey["column"]).to_pylist())
        reasons = [None if group_of.get(each or "") == self.group else _reason(each, group_of) for each in found]
        keep = pa.array([reason is None for reason in reasons], pa.bool_())
        batch = batch.append_column(pa.field("keep", pa.bool_()), keep)
        return batch.append_column(pa.field("reason", pa.string()), pa.array(reasons, pa.string()))


def count_productions(corpus: Corpus, column: str) -> ProductionCounts:
    """Of all trees in a column; ConfigError where there is none, DataError with the row for what is no tree."""
    counts = (ProductionCounts.from_productions(found) for _, found in read_productions(corpus, column))
    return merge_all(counts, ProductionCounts())


def read_productions(corpus: Corpus, column: str, *more: str) -> Iterator[tuple[pa.RecordBatch, list[str | None]]]:
    """Batches with the column of trees and `more` columns, and the root production of each row; errors as above."""
    check_column(corpus, column)
    row = 0
    for batch in corpus.batches([column, *more], label="reading trees"):
        try:
            yield batch, root_productions(batch.column(column).to_pylist())
        except DataError as error:
            error.row = row + (error.row or 0)
            error.at(file=corpus.folder)
            raise
        row += batch.num_rows


def check_column(corpus: Corpus, column: str) -> None:
    """Raise ConfigError unless the corpus has the column of trees."""
    if column not in corpus.schema.names:
        raise ConfigError(
            f"there is no column '{column}'{nearest(column, corpus.schema.names)}",
            remedy="Add the trees first, by the stage 'parse' or 'read-parses'.",
        )


def _reason(production: str | None, group_of: dict[str, int]) -> str:
    if production is None:
        return "not parsed"
    return f"in group {group_of[production]}" if production in group_of else "in no syntax group"


@dataclass(frozen=True, kw_only=True)
class CountProductions(Fit):
    """Counts the root productions of translations by a translator and by those that were fine-tuned from it.

    before: parsed translations by the translator that learned from all pairs.  after: of the same sentences (by their
    pair_id), by each fine-tuned one.  groups: the stage `syntax-groups`; wanted: the group that each of `after` was
    fine-tuned on, when they are not the first, the second and so on.  column: of the trees.  most: how many productions
    are listed, the commonest of `before`.
    """

    inputs: ClassVar[tuple[str, ...]] = ("before", "after", "groups")
    version: ClassVar[str] = "2"

    before: Ref
    after: tuple[Ref, ...]
    groups: Ref
    wanted: tuple[int, ...] = ()
    column: str = "tgt_parse"
    most: int = 10

    def validate(self) -> None:
        if not self.after:
            raise ConfigError("there are no translations to compare in 'after'")
        if self.wanted and len(self.wanted) != len(self.after):
            raise ConfigError(f"'wanted' names {len(self.wanted)} groups for {len(self.after)} corpora in 'after'")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json: productions (counts before and after), wanted (each group's share, 0 to 1, before and
        after, of the rows with a tree in both, and whether it rose), translations (rows, and those unparsed).

        low and high are the 95 % interval of the difference; `rose` is yes where it lies above 0, no where it lies
        below, else 'not clearly'.  Raises DataError where no translation has a tree, or the sentences are not the same.
        """
        groups = SyntaxGrouping.load(context.inputs["groups"])
        wanted = [groups.get(number) for number in self.wanted or range(1, len(self.after) + 1)]
        names = [f"group {group.group}" for group in wanted]
        before = _Parsed.of(Corpus.open(context.inputs["before"]), self.column)
        after = [_Parsed.of(Corpus.open(path), self.column) for path in context.paths("after")]
        for name, each in zip(["before", *names], [before, *after], strict=True):
            if not each.counts.parsed:
                raise DataError(
                    f"none of the {each.counts.rows} translations '{name}' has a tree",
                    remedy="Look whether the parser knows the language of the translations.",
                )
        rose = [_rose(group, before, each) for group, each in zip(wanted, after, strict=True)]
        result: dict[str, Any] = {
            "productions": [
                {
                    "production": production,
                    "before": before.counts.counts[production],
                    **{name: each.counts.counts[production] for name, each in zip(names, after, strict=True)},
                }
                for production in before.counts.most_common(self.most)
            ],
            "wanted": rose,
            "translations": [
                {"by": name, "rows": each.counts.rows, "unparsed": each.counts.unparsed}
                for name, each in zip(["before", *names], [before, *after], strict=True)
            ],
        }
        (folder / "result.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return {f"group_{row['group']}": f"{row['before']:.4f} to {row['after']:.4f}: {row['rose']}" for row in rose}


class _Parsed(NamedTuple):
    """The root productions of a corpus: how many of each, and that of each row with a tree, by pair_id and how many
    rows of that pair_id came before.
    """

    counts: ProductionCounts
    of_row: dict[tuple[str, int], str]

    @classmethod
    def of(cls, corpus: Corpus, column: str) -> _Parsed:
        seen: Counter[str] = Counter()
        of_row: dict[tuple[str, int], str] = {}
        for batch, found in read_productions(corpus, column, "pair_id"):
            for pair_id, production in zip(batch.column("pair_id").to_pylist(), found, strict=True):
                if production is not None:
                    of_row[pair_id, seen[pair_id]] = sys.intern(production)
                seen[pair_id] += 1
        return cls(ProductionCounts(Counter(of_row.values()), seen.total() - len(of_row)), of_row)


def _rose(group: SyntaxGroup, before: _Parsed, after: _Parsed) -> dict[str, Json]:
    """The share of a group's productions in two lots of translations of the same sentences, and the difference."""
    pairs = Counter(
        (was in group.productions, after.of_row[row] in group.productions)
        for row, was in before.of_row.items()
        if row in after.of_row
    )
    if not pairs:
        raise DataError(
            "no row of 'before' and of 'after' has the same pair_id, and a tree in both",
            remedy="Let both translators translate one corpus.",
        )
    n = pairs.total()
    difference = paired_difference(pairs[True, True], pairs[True, False], pairs[False, True], pairs[False, False])
    return {
        "group": group.group,
        "productions": group.name,
        "before": (pairs[True, True] + pairs[True, False]) / n,
        "after": (pairs[True, True] + pairs[False, True]) / n,
        "low": difference.low,
        "high": difference.high,
        "rose": "yes" if difference.low > 0 else "no" if difference.high < 0 else "not clearly",
    }
