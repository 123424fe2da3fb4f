"""The stage that shows whether fine-tuning on a syntax group gives more of its sentences (BBH22, Figure 1)."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.core.stats import paired_difference
from paraloom.io import Corpus
from paraloom.stages.syntax_groups import read_productions
from paraloom.syntax.groups import Group, Groups
from paraloom.syntax.productions import ProductionCounts


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
        groups = Groups.load(context.inputs["groups"])
        wanted = [groups.named(number) for number in self.wanted or range(1, len(self.after) + 1)]
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
                for production in before.counts.commonest(self.most)
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


def _rose(group: Group, before: _Parsed, after: _Parsed) -> dict[str, Json]:
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
