"""Syntax groups: the largest sets of sentences whose trees have the same root production (BBH22 §2.1)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.papers.bbh22.productions import by_frequency

FILE = "groups.json"


@dataclass(frozen=True)
class SyntaxGroup:
    """Sentences with the same root production, or several rare ones; groups are numbered from 1 by frequency."""

    group: int
    productions: dict[str, int]
    rows: int

    @property
    def name(self) -> str:
        """The productions as text."""
        return " or ".join(self.productions)


def choose_groups(counts: Counter[str], k: int = 3, min_rows: int = 0) -> list[SyntaxGroup]:
    """Choose the k largest groups.

    Productions are taken by frequency (equally frequent ones in alphabetical order). Each begins a group; while that
    has fewer than `min_rows` rows, the next production joins it. See BBH22 §2.1. Its footnote 2 joins the fourth
    production to the third, which is too small to fine-tune on.
    """
    if k < 1 or min_rows < 0:
        raise ConfigError(f"expected 1 or more groups of 0 or more rows, got {k} groups of {min_rows}")
    waiting = by_frequency(counts)[::-1]
    groups: list[SyntaxGroup] = []
    while len(groups) < k:
        productions: dict[str, int] = {}
        while waiting and (not productions or sum(productions.values()) < min_rows):
            production = waiting.pop()
            productions[production] = counts[production]
        rows = sum(productions.values())
        if not productions or rows < min_rows:
            raise DataError(
                f"{counts.total()} parsed rows with {len(counts)} root productions give only {len(groups)} groups"
                + (f" of {min_rows} rows or more" if min_rows else "")
                + f", not {k}",
                remedy="Ask for fewer or smaller groups, or parse more pairs.",
            )
        groups.append(SyntaxGroup(len(groups) + 1, productions, rows))
    return groups


@dataclass(frozen=True)
class SyntaxGrouping:
    """The syntax groups of a corpus by the trees of a column; `distinct` is the number of root productions."""

    column: str
    rows: int
    unparsed: int
    distinct: int
    groups: list[SyntaxGroup]

    def save(self, folder: Path) -> None:
        """Write groups.json into a folder."""
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> SyntaxGrouping:
        """Read what `save` wrote."""
        path = folder / FILE
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{**stored, "groups": [SyntaxGroup(**group) for group in stored["groups"]]})
        except (FileNotFoundError, NotADirectoryError):
            raise ModelError(f"{FILE} not found", file=folder, remedy="Name a stage 'syntax-groups'.") from None
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"not syntax groups: {error}", file=path, remedy="Run the stage again.") from None

    def get(self, number: int) -> SyntaxGroup:
        """The group of a number."""
        for group in self.groups:
            if group.group == number:
                return group
        raise ConfigError(f"unknown group {number}", remedy=f"The groups are numbered 1 to {len(self.groups)}.")

    def numbers_by_production(self) -> dict[str, int]:
        """Production → number of its group."""
        return {production: group.group for group in self.groups for production in group.productions}
