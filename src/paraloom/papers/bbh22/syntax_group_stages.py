"""Stages that find syntax groups, pick one, and count productions before and after fine-tuning on it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa

from paraloom.api.run import input_stages, run_stages
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.protocols import CorpusReader
from paraloom.core.stage import Fit, Json, Map, Ref, StageContext
from paraloom.core.stats import merge_all, paired_difference
from paraloom.io import Corpus
from paraloom.papers.bbh22.productions import ProductionCounts, root_productions
from paraloom.papers.bbh22.syntax_groups import SyntaxGroup, SyntaxGrouping, choose_groups


@dataclass(frozen=True, kw_only=True)
class SyntaxGroups(Fit):
    """Finds the largest groups of pairs whose trees have the same root production.

    Args:
        pairs: A parsed corpus.
        column: Column of the trees.
        groups: Number of groups, 1 or more.
        min_rows: Minimum number of rows of a group; a group with fewer is merged with the next production.

    Raises:
        ConfigError: When it runs: a value is out of range, or the column does not exist.
        DataError: When it runs: the corpus has too few productions.

    Reference:
        Burchell, Birch and Heafield 2022, §2.1.

    Example:
        >>> SyntaxGroups(pairs="parse", groups=3, min_rows=2000).column
        'tgt_parse'
    """

    sentinel: ClassVar[str] = "groups.json"

    pairs: Ref
    column: str = "tgt_parse"
    groups: int = 3
    min_rows: int = 0

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write groups.json; return the number of rows, unparsed rows and productions, and the groups."""
        counts = count_productions(Corpus.open(context.inputs["pairs"]), self.column)
        chosen = choose_groups(counts.counts, self.groups, self.min_rows)
        SyntaxGrouping(self.column, counts.rows, counts.unparsed, len(counts.counts), chosen).save(folder)
        return {
            "rows": counts.rows,
            "unparsed": counts.unparsed,
            "productions": len(counts.counts),
            **{f"group_{group.group}": f"{group.name}: {group.rows}" for group in chosen},
        }


@dataclass(frozen=True, kw_only=True)
class PickSyntaxGroup(Map):
    """Keeps the pairs of one syntax group, to fine-tune a translator on.

    Args:
        groups: A stage `syntax-groups`.
        group: Number of the group, from 1.

    Raises:
        ConfigError: When it runs: the group is unknown, or the column of the trees does not exist.
        ModelError: When it runs: `groups` is another kind of stage.

    Reference:
        Burchell, Birch and Heafield 2022, §2.1.

    Example:
        >>> PickSyntaxGroup(input="parse", groups="syntax-groups", group=2).group
        2
    """

    groups: Ref
    group: int = 1

    def survey(self, corpus: CorpusReader, context: StageContext) -> Json:
        """The column of the trees and the group of each production, after a check of the column."""
        groups = SyntaxGrouping.load(context.inputs["groups"])
        groups.get(self.group)
        _check_column(corpus, groups.column)
        return {"column": groups.column, "group": groups.numbers_by_production()}

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with `keep` and `reason`: in another group, in none, or not parsed."""
        group_of: dict[str, int] = context.survey["group"]
        rows = root_productions(batch.column(context.survey["column"]).to_pylist())
        reasons = [None if group_of.get(row or "") == self.group else _reason(row, group_of) for row in rows]
        keep = pa.array([reason is None for reason in reasons], pa.bool_())
        batch = batch.append_column(pa.field("keep", pa.bool_()), keep)
        return batch.append_column(pa.field("reason", pa.string()), pa.array(reasons, pa.string()))


def count_productions(corpus: Corpus, column: str) -> ProductionCounts:
    """Count the root productions of all trees in a column."""
    counts = (ProductionCounts.from_productions(rows) for _, rows in _read_productions(corpus, column))
    return merge_all(counts, ProductionCounts())


def _read_productions(corpus: Corpus, column: str, *more: str) -> Iterator[tuple[pa.RecordBatch, list[str | None]]]:
    """Batches with the column of trees and `more` columns, and the root production of each row."""
    _check_column(corpus, column)
    row = 0
    for batch in corpus.batches([column, *more], label="reading trees"):
        try:
            yield batch, root_productions(batch.column(column).to_pylist())
        except DataError as error:
            error.row = row + (error.row or 0)
            error.at(file=corpus.folder)
            raise
        row += batch.num_rows


def _check_column(corpus: CorpusReader, column: str) -> None:
    if column not in corpus.schema.names:
        raise ConfigError(
            f"column '{column}' of the trees not found{nearest(column, corpus.schema.names)}",
            remedy="Add the trees with a stage 'parse'.",
        )


def _reason(production: str | None, group_of: dict[str, int]) -> str:
    if production is None:
        return "not parsed"
    return f"in group {group_of[production]}" if production in group_of else "in no syntax group"


@dataclass(frozen=True, kw_only=True)
class CountProductions(Fit):
    """Counts the root productions of translations before and after a translator was fine-tuned on syntax groups.

    Args:
        before: Parsed translations of the translator that was trained on all pairs.
        after: Parsed translations of the same sentences (by `pair_id`) by each fine-tuned translator.
        groups: The stage `syntax-groups`.
        group_numbers: The group that each of `after` was fine-tuned on. Default: 1, 2 and so on.
        column: Column of the trees.
        max_productions: Number of productions to list, the most frequent ones of `before`.

    Raises:
        ConfigError: `after` is empty, or `group_numbers` has another length.
        DataError: When it runs: no translation has a tree, or the sentences are not the same.

    Reference:
        Burchell, Birch and Heafield 2022, §2.1 and Figure 1.

    Example:
        >>> CountProductions(before="parse-all", after=["parse-1", "parse-2"], groups="syntax-groups").max_productions
        10
    """

    version: ClassVar[str] = "2"

    before: Ref
    after: tuple[Ref, ...]
    groups: Ref
    group_numbers: tuple[int, ...] = ()
    column: str = "tgt_parse"
    max_productions: int = 10

    def validate(self) -> None:
        if not self.after:
            raise ConfigError("key 'after' is empty", remedy="Name the translations of at least one translator.")
        if self.group_numbers and len(self.group_numbers) != len(self.after):
            raise ConfigError(
                f"key 'group_numbers' must have an entry for each of {len(self.after)} corpora in 'after', "
                f"not {len(self.group_numbers)}"
            )

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json; return the change of the share of each group.

        `productions`: counts before and after. `wanted`: for each group its share, 0 to 1, before and after, of the
        rows with a tree in both, with the 95 % interval of the difference (`low`, `high`); `rose` is 'yes' if the
        interval is above 0, 'no' if it is below, else 'not clearly'. `translations`: rows, and unparsed ones.
        """
        groups = SyntaxGrouping.load(context.inputs["groups"])
        tuned = [groups.get(number) for number in self.group_numbers or range(1, len(self.after) + 1)]
        names = [f"group {group.group}" for group in tuned]
        before = _Parsed.of(Corpus.open(context.inputs["before"]), self.column)
        after = [_Parsed.of(Corpus.open(path), self.column) for path in context.paths("after")]
        for name, parsed in zip(["before", *names], [before, *after], strict=True):
            if not parsed.counts.parsed:
                raise DataError(
                    f"none of the {parsed.counts.rows} translations '{name}' has a tree",
                    remedy="Check that the parser is for the language of the translations.",
                )
        changes = [_change(group, before, parsed) for group, parsed in zip(tuned, after, strict=True)]
        result: dict[str, Any] = {
            "productions": [
                {
                    "production": production,
                    "before": before.counts.counts[production],
                    **{name: parsed.counts.counts[production] for name, parsed in zip(names, after, strict=True)},
                }
                for production in before.counts.most_common(self.max_productions)
            ],
            "wanted": changes,
            "translations": [
                {"by": name, "rows": parsed.counts.rows, "unparsed": parsed.counts.unparsed}
                for name, parsed in zip(["before", *names], [before, *after], strict=True)
            ],
        }
        (folder / "result.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return {f"group_{row['group']}": f"{row['before']:.4f} to {row['after']:.4f}: {row['rose']}" for row in changes}


class _Parsed(NamedTuple):
    """The root productions of a corpus."""

    counts: ProductionCounts
    of_row: dict[tuple[str, int], str]

    @classmethod
    def of(cls, corpus: Corpus, column: str) -> _Parsed:
        seen: Counter[str] = Counter()
        of_row: dict[tuple[str, int], str] = {}
        for batch, productions in _read_productions(corpus, column, "pair_id"):
            for pair_id, production in zip(batch.column("pair_id").to_pylist(), productions, strict=True):
                if production is not None:
                    of_row[pair_id, seen[pair_id]] = sys.intern(production)
                seen[pair_id] += 1
        return cls(ProductionCounts(Counter(of_row.values()), seen.total() - len(of_row)), of_row)


def _change(group: SyntaxGroup, before: _Parsed, after: _Parsed) -> dict[str, Json]:
    """The share of a group's productions in two translations of the same sentences, and the difference."""
    pairs = Counter(
        (was in group.productions, after.of_row[row] in group.productions)
        for row, was in before.of_row.items()
        if row in after.of_row
    )
    if not pairs:
        raise DataError(
            "'before' and 'after' have no pair_id in common that has a tree in both",
            remedy="Translate the same corpus with both translators.",
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


def find_syntax_groups(parsed: str | Path, output: str | Path, **config: Any) -> SyntaxGrouping:
    """Find the largest groups of pairs whose parses have the same root production, to fine-tune translators on.

    Args:
        parsed: Pairs with parses, from `parse`: a corpus folder or a Parquet file.
        output: The folder to write.
        **config: Fields of `paraloom.stages.SyntaxGroups`: `groups`, `min_rows`, `column`.

    Returns:
        The groups.

    Reference:
        Burchell et al. (2022), §2.1.
    """
    stages, reference = input_stages(str(parsed))
    run_stages([*stages, SyntaxGroups(pairs=reference, **config)], str(output))
    return SyntaxGrouping.load(Path(output))
