"""Verdicts: whether the orders of rows that a paper reports are those of our figures, by their intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from paraloom.core.stats import Estimate

Outcome: TypeAlias = Literal["agrees", "disagrees", "undecided", "no power"]
"""Outcome of an order, by its interval; 'no power' where its interval is too wide for the paper's difference."""

OUTCOMES: tuple[Outcome, ...] = ("agrees", "disagrees", "undecided", "no power")
"""All outcomes."""

Verdict: TypeAlias = Literal["agrees", "disagrees", "cannot tell", "states no order"]
"""Verdict on a table, by its orders."""

_MANY = 100


@dataclass(frozen=True)
class Order:
    """An order of two rows that a paper reports, and the same difference in our figures.

    Args:
        published: The paper's difference, above 0; None where it gives no figures.
        ours: Our difference with its 95 % interval, whose ends are NaN where it is not known.
        decimals: Digits after the point of our difference.
        moved: How far training moved the figures of the table, their median; None where nothing was trained.
        counted: False where only the paper's figures show the order, not its text, or other orders count it.
    """

    claim: str
    published: float | None
    ours: Estimate
    decimals: int = 2
    moved: float | None = None
    counted: bool = True

    @property
    def outcome(self) -> Outcome:
        """'agrees' where the whole interval is above 0, 'disagrees' where it is below 0, else one of the others.

        An order that is not decided had no power where the paper's difference is less than half the interval's width
        or more than training moved the figures, or no interval is known.
        """
        if self.ours.low > 0:
            return "agrees"
        if self.ours.high < 0:
            return "disagrees"
        too_small = self.published is not None and self.moved is not None and self.moved < self.published
        return "no power" if too_small or math.isnan(self._half) or self._half > self._published else "undecided"

    @property
    def decided_by(self) -> str:
        """How many times as many seeds and items, or longer training, would decide an order that is not decided."""
        if self.outcome in ("agrees", "disagrees"):
            return ""
        if math.isnan(self._half):
            return "an interval"
        if self.outcome == "no power" and self._half <= self._published:
            return f"training, which moved figures by {self.moved:.2f}"
        return f"{max(1.1, self.times):.2g} ×" if self.times < _MANY else f"over {_MANY} ×"

    @property
    def times(self) -> float:
        """How many times as many seeds and items decide an order, as intervals shrink with their root; or infinite."""
        needed = abs(self.ours.value) if self.outcome == "undecided" else self._published
        return (self._half / needed) ** 2 if self._half > needed > 0 else math.inf

    @property
    def _half(self) -> float:
        return (self.ours.high - self.ours.low) / 2

    @property
    def _published(self) -> float:
        return math.inf if self.published is None else self.published

    def to_dict(self) -> dict[str, Any]:
        """The claim, the paper's difference, ours with its interval (None where not known), and the outcome."""
        numbers = {name: None if math.isnan(number) else number for name, number in self.ours.to_dict().items()}
        decimals = {} if self.decimals == Order.decimals else {"decimals": self.decimals}
        counted = {} if self.counted else {"counted": False}
        start = {"claim": self.claim, "published": self.published}
        return {**start, **numbers, **decimals, "outcome": self.outcome, **counted}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Order:
        """Read what `to_dict` gives; the outcome is computed again."""
        numbers = (math.nan if row[name] is None else row[name] for name in ("value", "low", "high"))
        return cls(row["claim"], row["published"], Estimate(*numbers), row.get("decimals", cls.decimals))


def in_table(orders: Iterable[Order], moved: float | None, uncounted: Sequence[str]) -> list[Order]:
    """Orders of a table whose training moved figures so far; claims with one of `uncounted` in them do not count."""
    return [replace(order, moved=moved, counted=not any(part in order.claim for part in uncounted)) for order in orders]


def outcomes_of(orders: Iterable[Order]) -> list[Outcome]:
    """The outcomes of the orders that count."""
    return [order.outcome for order in orders if order.counted]


def without_interval(value: float) -> Estimate:
    """A difference whose interval is not known, which decides nothing."""
    return Estimate(value, math.nan, math.nan)


def verdict_of(orders: Sequence[Order]) -> Verdict:
    """The verdict on a table: what more than half of its orders say."""
    outcomes = outcomes_of(orders)
    if not outcomes:
        return "states no order"
    if 2 * outcomes.count("agrees") > len(outcomes):
        return "agrees"
    return "disagrees" if 2 * outcomes.count("disagrees") > len(outcomes) else "cannot tell"


def verdict_sentence(orders: Sequence[Order]) -> str:
    """The verdict on a table and what it follows from, one or two sentences."""
    outcomes = outcomes_of(orders)
    if not outcomes:
        return "Verdict: the paper states no order here."
    counts = count_outcomes(outcomes, "the paper")
    return f"Verdict: **{verdict_of(orders)}**. {counts}"


def format_orders(orders: Sequence[Order]) -> list[str]:
    """The orders as a table, lines of Markdown."""
    if not orders:
        return []
    lines = ["| the paper's order | its difference | ours | outcome | decided by |", "|---|---:|---:|---|---|"]
    for order in orders:
        outcome, decided_by = (order.outcome, order.decided_by) if order.counted else ("not counted", "")
        lines.append(f"| {_claim_and_figures(order)} | {outcome} | {decided_by} |")
    return lines


def format_open_orders(orders: Mapping[str, Sequence[Order]]) -> list[str]:
    """The orders that are open, by the name of their table, as a table, lines of Markdown."""
    lines = ["| table | the paper's order | its difference | ours | decided by |", "|---|---|---:|---:|---|"]
    return lines + [
        f"| {name} | {_claim_and_figures(order)} | {order.decided_by} |"
        for name, of_table in orders.items()
        for order in of_table
        if order.counted and order.decided_by
    ]


def _claim_and_figures(order: Order) -> str:
    published = "" if order.published is None else f"{order.published:+.3g}"
    return f"{order.claim} | {published} | {_difference(order)}"


def _difference(order: Order) -> str:
    value, low, high = (f"{number:+.{order.decimals}f}" for number in order.ours.to_dict().values())
    return value if math.isnan(order.ours.low) else f"{value} [{low}, {high}]"


def count_outcomes(outcomes: Iterable[Outcome], of_whom: str) -> str:
    """One sentence: how many orders agree, disagree, are undecided and had no power."""
    listed = list(outcomes)
    agree, disagree, undecided, powerless = (listed.count(outcome) for outcome in OUTCOMES)
    return (
        f"Of {len(listed)} order{'' if len(listed) == 1 else 's'} of {of_whom}, "
        f"{agree} agree{'s' if agree == 1 else ''}, {disagree} disagree{'s' if disagree == 1 else ''}, "
        f"{undecided} {'is' if undecided == 1 else 'are'} undecided, {powerless} had no power."
    )


def count_open(orders: Iterable[Order]) -> str:
    """One sentence: how many times as many seeds and test items would decide the orders that are open."""
    times = [order.times for order in orders if order.counted and order.outcome in ("undecided", "no power")]
    few, more, many = (sum(number <= limit for number in times) for limit in (2, 10, _MANY))
    return (
        f"Of {len(times)} that are open, twice as many seeds and test items or fewer would decide {few}, ten times "
        f"{more}, a hundred times {many}; the others need longer training, or more."
    )


def summarize_verdicts(folder: str | Path) -> str:
    """One sentence on all orders of the tables in a folder, those of earlier calls included; '' if there are none."""
    tables = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(folder).glob("*-*.json"))]
    orders = [order for table in tables for order in table.get("orders", ())]
    outcomes = [order["outcome"] for order in orders if order.get("counted", True)]
    return count_outcomes(outcomes, "the papers") if outcomes else ""
