"""Verdicts: whether an order of systems that a paper reports is confirmed by figures of ours, with their intervals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from paraloom.core.stats import Estimate

Outcome: TypeAlias = Literal["confirmed", "reversed", "not decided"]
"""What an interval says about an order."""

OUTCOMES: tuple[Outcome, ...] = ("confirmed", "reversed", "not decided")
"""All outcomes."""


@dataclass(frozen=True)
class Verdict:
    """An order that a paper reports, and the same difference in our figures.

    Args:
        claim: The order, such as 'GRAN above AVG on Simple Wikipedia'.
        published: The paper's difference, above 0; None where it gives no figures.
        ours: Our difference with its 95 % interval.
    """

    claim: str
    published: float | None
    ours: Estimate

    @property
    def outcome(self) -> Outcome:
        """'confirmed' where the whole interval is above 0, 'reversed' where it is below 0, or 'not decided'."""
        if self.ours.low > 0:
            return "confirmed"
        return "reversed" if self.ours.high < 0 else "not decided"

    def to_dict(self) -> dict[str, Any]:
        """The claim, the paper's difference, ours with its interval, and the outcome."""
        return {
            "claim": self.claim,
            "published": self.published,
            **self.ours.to_dict(),
            "outcome": self.outcome,
        }


def format_verdicts(verdicts: Sequence[Verdict]) -> list[str]:
    """The verdicts as lines of Markdown: a table, and how many there are of each outcome.

    Args:
        verdicts: The verdicts; none give no lines.

    Example:
        >>> for line in format_verdicts([Verdict("LSTM above WORD", 0.2, Estimate(1.0, 0.5, 1.5))]):
        ...     print(line)
        | the paper's order | its difference | ours | verdict |
        |---|---:|---:|---|
        | LSTM above WORD | +0.2 | +1.00 [+0.50, +1.50] | confirmed |
        <BLANKLINE>
        Of 1 order of the paper, 1 is confirmed, 0 are reversed, 0 are not decided.
    """
    if not verdicts:
        return []
    lines = ["| the paper's order | its difference | ours | verdict |", "|---|---:|---:|---|"]
    for verdict in verdicts:
        published = "" if verdict.published is None else f"{verdict.published:+.1f}"
        ours = f"{verdict.ours.value:+.2f} [{verdict.ours.low:+.2f}, {verdict.ours.high:+.2f}]"
        lines.append(f"| {verdict.claim} | {published} | {ours} | {verdict.outcome} |")
    return [*lines, "", count_outcomes([verdict.outcome for verdict in verdicts], "the paper")]


def count_outcomes(outcomes: Iterable[Outcome], of_whom: str) -> str:
    """One sentence: how many orders are confirmed, reversed and not decided.

    Example:
        >>> count_outcomes(["confirmed", "confirmed", "not decided"], "the papers")
        'Of 3 orders of the papers, 2 are confirmed, 0 are reversed, 1 is not decided.'
    """
    listed = list(outcomes)
    counts = [(listed.count(outcome), outcome) for outcome in OUTCOMES]
    parts = ", ".join(f"{count} {'is' if count == 1 else 'are'} {outcome}" for count, outcome in counts)
    return f"Of {len(listed)} order{'' if len(listed) == 1 else 's'} of {of_whom}, {parts}."


def summarize_verdicts(folder: str | Path) -> str:
    """One sentence on all verdicts of the tables in a folder, those of earlier calls included; '' if there are none.

    Args:
        folder: A folder of `reproduce_tables`, with a JSON file beside each table.
    """
    tables = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(folder).glob("*-*.json"))]
    outcomes = [verdict["outcome"] for table in tables for verdict in table.get("verdicts", ())]
    return count_outcomes(outcomes, "the papers") if outcomes else ""
