"""The stage that shows whether fine-tuning on a syntax group gives more of its sentences (BBH22, Figure 1)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.io import Corpus
from paraloom.core.stats import Estimate, wilson_interval
from paraloom.run.stage import Fit, Json, Work
from paraloom.run.stages.syntax_groups import count_productions
from paraloom.syntax.groups import Group, Groups
from paraloom.syntax.productions import ProductionCounts


@dataclass(frozen=True, kw_only=True)
class CountProductions(Fit):
    """Counts the root productions of translations by a translator and by those that were fine-tuned from it.

    before: parsed translations by the translator that learned from all pairs.  after: of the same sentences, by each
    fine-tuned one.  groups: the stage `syntax-groups`; wanted: the group that each of `after` was fine-tuned on, when
    they are not the first, the second and so on.  column: of the trees.  most: how many productions are listed, the
    commonest of `before`.
    """

    inputs: ClassVar[tuple[str, ...]] = ("before", "after", "groups")

    before: str
    after: tuple[str, ...]
    groups: str
    wanted: tuple[int, ...] = ()
    column: str = "tgt_parse"
    most: int = 10

    def __post_init__(self) -> None:
        if not self.after:
            raise ConfigError("there are no translations to compare in 'after'")
        if self.wanted and len(self.wanted) != len(self.after):
            raise ConfigError(f"'wanted' names {len(self.wanted)} groups for {len(self.after)} corpora in 'after'")

    def fit(self, folder: Path, work: Work) -> dict[str, Json]:
        """Write result.json: productions (counts before and after), wanted (each group's share of the parsed rows,
        0 to 1, before and after, and whether it rose), translations (rows, and those unparsed).

        low and high are the 95 % interval of the difference; `rose` is yes where it lies above 0, no where it lies
        below, else 'not clearly'.  Raises DataError where no translation has a tree.
        """
        groups = Groups.load(work.inputs["groups"])
        wanted = [groups.named(number) for number in self.wanted or range(1, len(self.after) + 1)]
        names = [f"group {group.group}" for group in wanted]
        before = count_productions(Corpus.open(work.inputs["before"]), self.column)
        after = [count_productions(Corpus.open(path), self.column) for path in work.each("after")]
        for name, counts in zip(["before", *names], [before, *after], strict=True):
            if not counts.parsed:
                raise DataError(
                    f"none of the {counts.rows} translations '{name}' has a tree",
                    remedy="Look whether the parser knows the language of the translations.",
                )
        rose = [_rose(group, before, counts) for group, counts in zip(wanted, after, strict=True)]
        result: dict[str, Any] = {
            "productions": [
                {
                    "production": production,
                    "before": before.counts[production],
                    **{name: counts.counts[production] for name, counts in zip(names, after, strict=True)},
                }
                for production in before.commonest(self.most)
            ],
            "wanted": rose,
            "translations": [
                {"by": name, "rows": counts.rows, "unparsed": counts.unparsed}
                for name, counts in zip(["before", *names], [before, *after], strict=True)
            ],
        }
        (folder / "result.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return {f"group_{row['group']}": f"{row['before']:.4f} to {row['after']:.4f}: {row['rose']}" for row in rose}


def _rose(group: Group, before: ProductionCounts, after: ProductionCounts) -> dict[str, Json]:
    """The share of a group's productions in the parsed rows of two lots of translations, and of their difference the
    interval (Newcombe 1998, method 10; too wide rather than too narrow, for the sentences are the same).
    """
    was, became = _share(group, before), _share(group, after)
    difference = became.value - was.value
    low = difference - math.hypot(became.value - became.low, was.high - was.value)
    high = difference + math.hypot(became.high - became.value, was.value - was.low)
    return {
        "group": group.group,
        "productions": group.name,
        "before": was.value,
        "after": became.value,
        "low": low,
        "high": high,
        "rose": "yes" if low > 0 else "no" if high < 0 else "not clearly",
    }


def _share(group: Group, counts: ProductionCounts) -> Estimate:
    found = sum(counts.counts[production] for production in group.productions)
    return Estimate(found / counts.parsed, *wilson_interval(found, counts.parsed))
