"""Stages about syntax groups: find the largest in a parsed corpus, keep the pairs of one (BBH22 §2.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.protocols import CorpusReader
from paraloom.core.stage import Fit, Json, Map, Ref, StageContext
from paraloom.core.stats import added_up
from paraloom.io import Corpus
from paraloom.syntax.groups import Groups, choose_groups
from paraloom.syntax.productions import ProductionCounts, productions


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
        Groups(self.column, counts.rows, counts.unparsed, len(counts.counts), chosen).save(folder)
        return {
            "rows": counts.rows,
            "unparsed": counts.unparsed,
            "productions": len(counts.counts),
            **{f"group_{group.group}": f"{group.name}: {group.rows}" for group in chosen},
        }


@dataclass(frozen=True, kw_only=True)
class PickGroup(Map):
    """Keeps the pairs of one syntax group, to fine-tune a translator on; the others are set aside.

    groups: a stage `syntax-groups`.  group: the number of the one that stays, from 1.
    """

    inputs: ClassVar[tuple[str, ...]] = ("groups",)

    groups: Ref
    group: int = 1

    def survey(self, corpus: CorpusReader, context: StageContext) -> Json:
        """The column of the trees, and the group of each production; checked before any row is touched."""
        groups = Groups.load(context.inputs["groups"])
        groups.named(self.group)
        check_column(corpus, groups.column)
        return {"column": groups.column, "group": groups.of_production()}

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with keep and reason: another group's number, none, or no parse."""
        group_of: dict[str, int] = context.survey["group"]
        found = productions(batch.column(context.survey["column"]).to_pylist())
        reasons = [None if group_of.get(each or "") == self.group else _reason(each, group_of) for each in found]
        keep = pa.array([reason is None for reason in reasons], pa.bool_())
        batch = batch.append_column(pa.field("keep", pa.bool_()), keep)
        return batch.append_column(pa.field("reason", pa.string()), pa.array(reasons, pa.string()))


def count_productions(corpus: Corpus, column: str) -> ProductionCounts:
    """Of all trees in a column; ConfigError where there is none, DataError with the row for what is no tree."""
    counts = (ProductionCounts.of_productions(found) for _, found in read_productions(corpus, column))
    return added_up(counts, ProductionCounts())


def read_productions(corpus: Corpus, column: str, *more: str) -> Iterator[tuple[pa.RecordBatch, list[str | None]]]:
    """Batches with the column of trees and `more` columns, and the root production of each row; errors as above."""
    check_column(corpus, column)
    row = 0
    for batch in corpus.batches([column, *more], label="reading trees"):
        try:
            yield batch, productions(batch.column(column).to_pylist())
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
