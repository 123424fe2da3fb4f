"""A reproduced table: the paper's rows and ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from paraloom.experiments.published import PaperTable
from paraloom.experiments.verdicts import Verdict, format_verdicts

Figure: TypeAlias = float | tuple[float, float, float] | None
"""A value; a value with the ends of its 95 % interval, or with the lowest and highest of several seeds; or nothing."""


@dataclass(frozen=True)
class ReproducedTable:
    """A table of a paper, with our rows.

    Args:
        name: Name of the table, such as 'w17-5'.
        paper: The published table.
        rows: Our rows: name, and a figure per column.
        conclusion: One or a few sentences: how far ours agree with the paper's.
        columns: Names of our columns, which may continue those of the paper; empty: those of the paper.
        signature: What our figures depend on.
        conditions: How our figures were made, and what differs from the paper, a sentence each.
        verdicts: The paper's orders, and ours.
    """

    name: str
    paper: PaperTable
    rows: Sequence[tuple[str, Sequence[Figure]]]
    conclusion: str
    columns: Sequence[str] = ()
    signature: str = ""
    conditions: Sequence[str] = ()
    verdicts: Sequence[Verdict] = ()

    def to_dict(self) -> dict[str, Any]:
        """Title, unit, conditions, rows of the paper and ours, conclusion, verdicts and signature."""
        columns = list(self.columns or self.paper.columns)
        return {
            "name": self.name,
            "title": self.paper.title,
            "unit": self.paper.unit,
            "paper": [
                dict(zip(["row", *self.paper.columns], [name, *row], strict=True)) for name, row in self.paper.rows
            ],
            "ours": [dict(zip(["row", *columns], [name, *row], strict=True)) for name, row in self.rows],
            "conclusion": self.conclusion,
            "conditions": list(self.conditions),
            "verdicts": [verdict.to_dict() for verdict in self.verdicts],
            "signature": self.signature,
        }

    def format(self) -> str:
        """The table in Markdown."""
        columns = list(self.columns or self.paper.columns)
        lines = [f"### {self.paper.title} (`{self.name}`)", "", self.paper.unit, ""]
        lines += [f"- {condition}" for condition in self.conditions]
        lines += [""] if self.conditions else []
        known = len(self.paper.columns)
        if list(self.paper.columns) == columns[:known]:
            missing = (None,) * (len(columns) - known)
            published = [(f"{name}, paper", (*row, *missing)) for name, row in self.paper.rows]
            lines += _markdown(columns, [*published, *self.rows], self.paper.decimals)
        else:
            published = [(f"{name}, paper", row) for name, row in self.paper.rows]
            lines += [*_markdown(self.paper.columns, published, self.paper.decimals), ""]
            lines += _markdown(columns, self.rows, self.paper.decimals)
        for part in ([self.conclusion] if self.conclusion else [], format_verdicts(self.verdicts)):
            lines += ["", *part] if part else []
        lines.append("")
        return "\n".join([*lines, *([f"Ours: `{self.signature}`", ""] if self.signature else [])])


def format_figure(figure: Figure, decimals: int | None = None) -> str:
    """A figure as text, with its interval if it has one.

    Args:
        figure: The figure; None gives an empty text.
        decimals: Digits after the point of a figure without an interval; None: one from 10 on, two below.

    Example:
        >>> format_figure(12.345), format_figure(1.2345), format_figure((1.0, 0.9, 1.1)), format_figure(1.0, 4)
        ('12.3', '1.23', '1.00 [0.90, 1.10]', '1.0000')
    """
    if figure is None:
        return ""
    if isinstance(figure, tuple):
        return f"{figure[0]:.2f} [{figure[1]:.2f}, {figure[2]:.2f}]"
    if decimals is not None:
        return f"{figure:.{decimals}f}"
    return f"{figure:.1f}" if abs(figure) >= 10 else f"{figure:.2f}"


def _markdown(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[Figure]]], decimals: int | None) -> list[str]:
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    return lines + [
        f"| {name} | " + " | ".join(format_figure(figure, decimals) for figure in figures) + " |"
        for name, figures in rows
    ]
