"""Syntax groups: the largest sets of sentences whose parses split alike at the root (BBH22 §2.1)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.syntax.productions import ranked

FILE = "groups.json"


@dataclass(frozen=True)
class Group:
    """Sentences of one root production, or of several where one alone had too few.

    group: its number, from 1, by the size of the commonest production.  productions: and how many rows each has, the
    commonest first.  rows: in all.
    """

    group: int
    productions: dict[str, int]
    rows: int

    @property
    def name(self) -> str:
        """Its productions in words.

        >>> Group(3, {"S -> NP VP": 9, "FRAG -> NP .": 7}, 16).name
        'S -> NP VP or FRAG -> NP .'
        """
        return " or ".join(self.productions)


def choose_groups(counts: Counter[str], k: int = 3, least: int = 0) -> list[Group]:
    """The k largest groups, each of `least` rows or more.

    counts: rows by root production.  Productions are taken from the commonest on (equally common ones by the alphabet).
    Each begins a group; while that has fewer than `least` rows the next production joins it, as BBH22's footnote 2
    joins the fourth to the third, which alone was too small to fine-tune on.
    Raises ConfigError unless k is 1 or more, DataError where the productions do not suffice.

    >>> [group.name for group in choose_groups(Counter(a=90, b=50, c=20, d=15, e=9), k=3, least=30)]
    ['a', 'b', 'c or d']
    """
    if k < 1 or least < 0:
        raise ConfigError("there is one group or more, and the fewest rows of one are 0 or more")
    waiting = ranked(counts)[::-1]
    groups: list[Group] = []
    while len(groups) < k:
        taken: dict[str, int] = {}
        while waiting and (not taken or sum(taken.values()) < least):
            production = waiting.pop()
            taken[production] = counts[production]
        rows = sum(taken.values())
        if not taken or rows < least:
            raise DataError(
                f"{counts.total()} parsed rows of {len(counts)} root productions do not make {k} groups"
                + (f" of {least} rows or more" if least else "")
                + f", only {len(groups)}",
                remedy="Ask for fewer groups or for smaller ones, or parse more pairs.",
            )
        groups.append(Group(len(groups) + 1, taken, rows))
    return groups


@dataclass(frozen=True)
class Groups:
    """What was found in a corpus.  column: of the trees.  rows: of the corpus; unparsed: those without a tree.

    distinct: root productions that there are.
    """

    column: str
    rows: int
    unparsed: int
    distinct: int
    groups: list[Group]

    def save(self, folder: Path) -> None:
        """Write groups.json into the folder."""
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Groups:
        """What `save` wrote; ModelError where it is missing or not whole."""
        path = folder / FILE
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{**stored, "groups": [Group(**each) for each in stored["groups"]]})
        except (FileNotFoundError, NotADirectoryError):
            raise ModelError(f"{FILE} is missing", file=folder, remedy="Name a stage 'syntax-groups'.") from None
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"these are no syntax groups: {error}", file=path, remedy="Make them again.") from None

    def named(self, number: int) -> Group:
        """The group of this number; ConfigError where there is none."""
        for group in self.groups:
            if group.group == number:
                return group
        raise ConfigError(f"there is no group {number}", remedy=f"The groups are numbered 1 to {len(self.groups)}.")

    def of_production(self) -> dict[str, int]:
        """The number of its group for each production that is in one."""
        return {production: group.group for group in self.groups for production in group.productions}
