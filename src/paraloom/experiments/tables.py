"""A paper's table made anew: its rows and ours under one head, as text for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paraloom.experiments.published import PaperTable

Figure = float | tuple[float, float, float] | None
"""A value; a value with both ends of its 95 % interval; or nothing."""


@dataclass(frozen=True)
class Reproduced:
    """One table: the paper's rows and ours, under one head, how far they agree; made: the settings of ours."""

    name: str
    paper: PaperTable
    rows: Sequence[tuple[str, Sequence[Figure]]]
    sentence: str
    heads: Sequence[str] = ()
    made: str = ""

    def markdown(self) -> str:
        """The table for people."""
        heads = list(self.heads or self.paper.heads)
        lines = [f"### {self.paper.title} (`{self.name}`)", "", self.paper.unit, ""]
        printed = [(f"{name}, paper", row) for name, row in self.paper.rows]
        if list(self.paper.heads) == heads:
            lines += _table(heads, [*printed, *self.rows], self.paper.decimals)
        else:
            lines += [*_table(self.paper.heads, printed, self.paper.decimals), ""]
            lines += _table(heads, self.rows, self.paper.decimals)
        lines += ["", self.sentence, ""]
        return "\n".join([*lines, *([f"Ours: `{self.made}`", ""] if self.made else [])])


def _table(heads: Sequence[str], rows: Sequence[tuple[str, Sequence[Figure]]], decimals: int | None) -> list[str]:
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    return lines + [
        f"| {name} | " + " | ".join(cell(figure, decimals) for figure in figures) + " |" for name, figures in rows
    ]


def cell(figure: Figure, decimals: int | None = None) -> str:
    """A figure for a table: with its interval where it has one, two decimals below ten where none are given."""
    if figure is None:
        return ""
    if decimals is not None and not isinstance(figure, tuple):
        return f"{figure:.{decimals}f}"
    if isinstance(figure, tuple):
        return f"{figure[0]:.2f} [{figure[1]:.2f}, {figure[2]:.2f}]"
    return f"{figure:.1f}" if abs(figure) >= 10 else f"{figure:.2f}"
