"""A reproduced table: the paper's rows and ours, the conditions of both, and what the figures say about the paper."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal, NamedTuple, TypeAlias

from paraloom.core.errors import DataError
from paraloom.io.atomic import atomic_write
from paraloom.papers.published import PAPERS, PaperTable, uncounted
from paraloom.papers.verdicts import Order, format_orders, in_table, verdict_of, verdict_sentence

Figure: TypeAlias = float | tuple[float, ...] | None
"""A value; a value with the ends of its brackets (an interval, or lowest and highest of several seeds) and, behind
these, the values of the seeds; or nothing."""

Row: TypeAlias = tuple[str, Sequence[Figure]]
"""Name of a row, and a figure per column."""

Baseline: TypeAlias = Literal["untrained", "random", "identity"]
"""Baselines: a system that was not trained, one that guesses, one that does nothing."""

BASELINES: tuple[Baseline, ...] = ("untrained", "random", "identity")
"""All baselines."""

NOT_MEASURED = "not measured"
"""Text of a table about a baseline that it could have and has not."""

SEED_RANGE = "the lowest and the highest of the seeds"
"""Brackets in tables of encoders."""

INTERVAL = "a 95 % interval"
"""Brackets in tables of pairs."""


class ExperimentCondition(NamedTuple):
    """A condition of an experiment."""

    name: str
    paper: str
    ours: str
    why: str = ""


class Cost(NamedTuple):
    """Hours that a table takes, measured or estimated."""

    hours: float | None = None
    measured: bool = False


@dataclass(frozen=True)
class ReproducedTable:
    """A table of a paper, with our rows.

    Args:
        notes: Paragraphs about the table, beside the verdict.
        columns: Names of our columns, which may continue those of the paper; empty: those of the paper.
        signature: What our figures depend on.
        conditions: How the paper's figures were made and ours, and why they differ.
        seeds: How many seeds our figures are the means of.
        brackets: What the brackets behind a figure hold.
        baselines: Where the table has each baseline, or why it has not.
        inputs: Name of what the table was made of, `code` included → its digest or signature.
    """

    name: str
    paper: PaperTable
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    columns: Sequence[str] = ()
    signature: str = ""
    conditions: Sequence[ExperimentCondition] = ()
    orders: Sequence[Order] = ()
    seeds: int = 1
    brackets: str = ""
    baselines: Mapping[Baseline, str] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    inputs: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Everything that the table says; `from_dict` reads it."""
        columns = list(self.columns or self.paper.columns)
        return {
            "name": self.name,
            "title": self.paper.title,
            "unit": self.paper.unit,
            "conditions": [condition._asdict() for condition in self.conditions],
            "seeds": self.seeds,
            "brackets": self.brackets,
            "baselines": {name: self.baselines.get(name, NOT_MEASURED) for name in BASELINES},
            "paper": {
                "columns": list(self.paper.columns),
                "decimals": self.paper.decimals,
                "rows": [[name, *figures] for name, figures in self.paper.rows],
            },
            "ours": {"columns": columns, "rows": [[name, *figures] for name, figures in self.rows]},
            "orders": [order.to_dict() for order in self.orders],
            "verdict": verdict_of(self.orders),
            "notes": list(self.notes),
            "cost": self.cost._asdict(),
            "signature": self.signature,
            **({"inputs": dict(self.inputs)} if self.inputs else {}),
        }

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> ReproducedTable:
        """Read what `to_dict` gives; verdicts are computed again."""
        paper, ours = table["paper"], table["ours"]
        published = tuple((row[0], tuple(row[1:])) for row in paper["rows"])
        rows = [(row[0], [_figure(number) for number in row[1:]]) for row in ours["rows"]]
        orders = [Order.from_dict(order) for order in table["orders"]]
        return cls(
            name=table["name"],
            paper=PaperTable(table["title"], table["unit"], tuple(paper["columns"]), published, paper["decimals"]),
            rows=rows,
            notes=table["notes"],
            columns=ours["columns"],
            signature=table["signature"],
            conditions=[ExperimentCondition(**condition) for condition in table["conditions"]],
            orders=in_table(orders, movement(rows, ours["columns"]), uncounted(table["name"])),
            seeds=table["seeds"],
            brackets=table["brackets"],
            baselines=table["baselines"],
            cost=Cost(**table["cost"]),
            inputs=table.get("inputs", {}),
        )

    @property
    def heading(self) -> str:
        """The heading above the table."""
        return f"{self.paper.title} (`{self.name}`)"

    def write(self, folder: Path) -> None:
        """Write the table to NAME.md and NAME.json in a folder."""
        for suffix, text in ((".md", self.format()), (".json", table_json(self.to_dict()))):
            with atomic_write(folder / f"{self.name}{suffix}") as temporary:
                temporary.write_text(text, encoding="utf-8")

    def format(self) -> str:
        """The table in Markdown."""
        parts = [
            [f"### {self.heading}"],
            [self.paper.unit],
            format_conditions(self.conditions),
            [self._about_rows()],
            self._figures(),
            *([note] for note in self.notes),
            format_orders(self.orders),
            [verdict_sentence(self.orders)],
            self._origin(),
        ]
        return "\n".join(line for part in parts if part for line in (*part, ""))

    def _about_rows(self) -> str:
        """A line on seeds, brackets and baselines."""
        texts = {name: self.baselines.get(name, NOT_MEASURED) for name in BASELINES}
        seeds = f"{self.seeds} seed{'' if self.seeds == 1 else 's'}"
        brackets = f"; brackets: {self.brackets}" if self.brackets else ""
        return f"{seeds}{brackets}. " + "; ".join(f"*{name}*: {text}" for name, text in texts.items()) + "."

    def _figures(self) -> list[str]:
        columns = list(self.columns or self.paper.columns)
        known = len(self.paper.columns)
        published = [(f"{name}, paper", row) for name, row in self.paper.rows]
        if list(self.paper.columns) == columns[:known]:
            missing = (None,) * (len(columns) - known)
            continued = [(name, (*row, *missing)) for name, row in published]
            return format_rows(columns, [*continued, *self.rows], self.paper.decimals)
        theirs = format_rows(self.paper.columns, published, self.paper.decimals)
        return [*theirs, "", *format_rows(columns, self.rows, self.paper.decimals)]

    def _origin(self) -> list[str]:
        """A line on the cost and the signature of our figures."""
        parts = []
        if self.cost.hours is not None:
            parts.append(f"{format_hours(self.cost.hours)}, {'measured' if self.cost.measured else 'estimated'}")
        if self.signature:
            parts.append(f"`{self.signature}`")
        return [f"Ours: {'; '.join(parts)}"] if parts else []


def reproduced(
    name: str,
    rows: Sequence[Row],
    *,
    conditions: Iterable[tuple[str, ...]] = (),
    orders: Iterable[Order] = (),
    paper: PaperTable | None = None,
    **about: Any,
) -> ReproducedTable:
    """Our rows of a published table; conditions (name, theirs, ours, why) come before those of `published.toml`."""
    paper = paper or PAPERS[name]
    listed = [
        ExperimentCondition(*(one if len(one) > 2 else (*one, one[1]))) for one in (*conditions, *paper.conditions)
    ]
    listed_orders = in_table(orders, movement(rows, about.get("columns") or paper.columns), uncounted(name))
    return ReproducedTable(name, paper, rows, conditions=listed, orders=listed_orders, **about)


def movement(rows: Iterable[Row], columns: Sequence[str]) -> float | None:
    """How far training moved figures: the median distance of rows and columns from those called *untrained*.

    A row 'X, untrained' is what 'X' or 'X, ours' started from, a row 'untrained' what all rows did; so are columns.
    """
    figures = {
        (row.removesuffix(", ours"), column): figure[0] if isinstance(figure, tuple) else figure
        for row, of_row in rows
        for column, figure in zip(columns, of_row, strict=True)
        if figure is not None
    }
    distances = []
    for (row, column), value in figures.items():
        if "untrained" not in f"{row} {column}":
            starts = ((f"{row}, untrained", column), (row, f"{column}, untrained"), ("untrained", column))
            known = [figures[start] for start in starts if start in figures]
            distances += [abs(value - start) for start in known[:1]]
    return median(distances) if distances else None


def read_table(path: Path) -> ReproducedTable:
    """Read a table from its JSON file."""
    try:
        return ReproducedTable.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"the file is not that of a reproduced table ({type(error).__name__}: {error})",
            file=path,
            remedy="Make it with `paraloom papers run`.",
        ) from error


def table_json(table: Mapping[str, Any]) -> str:
    """A table as JSON with a line for each row, so that a changed figure is a changed line."""
    return _line_per_row(table, "") + "\n"


def _line_per_row(value: Any, indent: str) -> str:
    """JSON with a line for each item of a list, and for each key of a mapping that has a list in it."""
    if isinstance(value, list) and value:
        items = [json.dumps(item, ensure_ascii=False) for item in value]
    elif isinstance(value, Mapping) and any(isinstance(item, (list, Mapping)) for item in value.values()):
        items = [f"{json.dumps(key)}: {_line_per_row(item, indent + ' ')}" for key, item in value.items()]
    else:
        return json.dumps(value, ensure_ascii=False)
    first, last = "[]" if isinstance(value, list) else "{}"
    return first + "".join(f"\n{indent} {item}," for item in items)[:-1] + f"\n{indent}{last}"


def format_conditions(conditions: Sequence[ExperimentCondition]) -> list[str]:
    """Conditions as a table, lines of Markdown, and a line of those that are the paper's."""
    if not conditions:
        return []
    lines = ["| condition | the paper | ours | why |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(condition)} |" for condition in conditions if condition.ours != condition.paper]
    same = "; ".join(
        f"{condition.name}, {condition.ours}" for condition in conditions if condition.ours == condition.paper
    )
    return [*lines, "", f"As in the paper: {same}."] if same else lines


def format_rows(columns: Sequence[str], rows: Sequence[Row], decimals: int | None = None) -> list[str]:
    """Rows of figures as a table, lines of Markdown."""
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    return lines + [
        f"| {name} | " + " | ".join(format_figure(figure, decimals) for figure in figures) + " |"
        for name, figures in rows
    ]


def format_figure(figure: Figure, decimals: int | None = None) -> str:
    """A figure as text, with its brackets if it has some."""
    if figure is None:
        return ""
    if isinstance(figure, tuple):
        value, low, high = (f"{number:.{3 if decimals == 4 else 2}f}" for number in figure[:3])
        return f"{value} [{low}, {high}]"
    if decimals is not None:
        return f"{figure:.{decimals}f}"
    if abs(figure) >= 1000:
        return f"{figure:,.0f}"
    return f"{figure:.1f}" if abs(figure) >= 10 else f"{figure:.2f}"


def format_hours(hours: float) -> str:
    """Hours as text, as minutes below one."""
    if hours >= 1:
        return f"{hours:.2g} h" if hours < 100 else f"{hours:,.0f} h"
    return f"{60 * hours:.0f} min" if hours >= 1 / 60 else "under 1 min"


def _figure(number: Any) -> Figure:
    return tuple(number) if isinstance(number, list) else number
