"""Alignments against hand-made ones: documents, and sentences strictly, laxly and by kind of bead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from paraloom.core.beads import Bead
from paraloom.core.digests import signature

Kind = tuple[int, int]
Places = tuple[tuple[int, ...], tuple[int, ...]]


class Figures(NamedTuple):
    """precision, recall, f1: 0 to 1, higher is better; 0 where nothing was found, or nothing was to be found."""

    precision: float
    recall: float
    f1: float


def figures(hits: int, found: int, hits_of_gold: int, gold: int) -> Figures:
    """Precision hits / found, recall hits_of_gold / gold, and their harmonic mean.

    >>> figures(1, 2, 1, 1)
    Figures(precision=0.5, recall=1.0, f1=0.6666666666666666)
    """
    precision = hits / found if found else 0.0
    recall = hits_of_gold / gold if gold else 0.0
    total = precision + recall
    return Figures(precision, recall, 2 * precision * recall / total if total else 0.0)


@dataclass
class AlignmentScore:
    """Counts over any number of pairs of texts; add each pair's beads, then read the figures.

    strict, lax: vecalign's.  A bead is found strictly when it stands so in the gold; laxly when it shares a sentence
    on each side with one of the gold's beads.  For precision all beads count, for recall only those with both sides.
    exact, by_kind: PARK17's (Tables 4 and 5): all beads count for both, those of one side too.

    >>> score = AlignmentScore()
    >>> score.add([Bead((0,), (0,)), Bead((1,), (1, 2))], [Bead((0,), (0,)), Bead((1,), (1,)), Bead((), (2,))])
    >>> score.strict.f1, score.lax.recall
    (0.4, 1.0)
    """

    pairs: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, Counter[Kind]] = field(
        default_factory=lambda: {"hit": Counter(), "found": Counter(), "gold": Counter()}
    )

    def add(self, gold: Iterable[Bead], found: Iterable[Bead]) -> None:
        """Count one pair of texts; beads without any sentence are left out."""
        self.pairs += 1
        wanted = {(bead.source, bead.target) for bead in gold if bead.source or bead.target}
        given = {(bead.source, bead.target) for bead in found if bead.source or bead.target}
        both_wanted, both_given = ({(a, b) for a, b in beads if a and b} for beads in (wanted, given))
        self.counts["found"] += len(given)
        self.counts["found strict"] += len(given & wanted)
        self.counts["found lax"] += _touching(given, wanted)
        self.counts["gold"] += len(both_wanted)
        self.counts["gold strict"] += len(both_wanted & both_given)
        self.counts["gold lax"] += _touching(both_wanted, both_given)
        for name, beads in (("hit", wanted & given), ("found", given), ("gold", wanted)):
            self.kinds[name].update((len(a), len(b)) for a, b in beads)

    @property
    def strict(self) -> Figures:
        return self._vecalign("strict")

    @property
    def lax(self) -> Figures:
        return self._vecalign("lax")

    @property
    def exact(self) -> Figures:
        """Of all kinds of beads together."""
        hits, found, gold = (sum(self.kinds[name].values()) for name in ("hit", "found", "gold"))
        return figures(hits, found, hits, gold)

    @property
    def by_kind(self) -> dict[Kind, Figures]:
        """Of each kind that the gold has, by its source and target sentences."""
        return {
            kind: figures(self.kinds["hit"][kind], self.kinds["found"][kind], self.kinds["hit"][kind], count)
            for kind, count in sorted(self.kinds["gold"].items())
        }

    def to_json(self) -> dict[str, Any]:
        """All figures, with the counts by kind."""
        return {
            "pairs": self.pairs,
            "strict": self.strict._asdict(),
            "lax": self.lax._asdict(),
            "exact": self.exact._asdict(),
            "kinds": {
                f"{a}:{b}": {**each._asdict(), "gold": self.kinds["gold"][a, b]}
                for (a, b), each in self.by_kind.items()
            },
            "signature": self.signature,
        }

    @property
    def signature(self) -> str:
        """What was measured, and on how much."""
        return signature("alignment", pairs=self.pairs, beads=sum(self.kinds["gold"].values()))

    def render(self) -> str:
        """A table to read.

        >>> score = AlignmentScore()
        >>> score.add([Bead((0,), (0,))], [Bead((0,), (0,))])
        >>> print(score.render().splitlines()[1])
        strict        1.0000  1.0000  1.0000        1
        """
        lines = [f"{'':12}{'precision':>8}{'recall':>8}{'F1':>8}{'gold':>9}"]
        both = self.counts["gold"]
        rows = [("strict", self.strict, both), ("lax", self.lax, both)]
        rows.append(("all beads", self.exact, sum(self.kinds["gold"].values())))
        rows += [(f"{a}:{b}", each, self.kinds["gold"][a, b]) for (a, b), each in self.by_kind.items()]
        for name, each, count in rows:
            lines.append(f"{name:12}{each.precision:8.4f}{each.recall:8.4f}{each.f1:8.4f}{count:9,}")
        return "\n".join([*lines, self.signature])

    def _vecalign(self, how: str) -> Figures:
        counts = self.counts
        return figures(counts[f"found {how}"], counts["found"], counts[f"gold {how}"], counts["gold"])


def score_documents(gold: Iterable[tuple[str, str]], found: Iterable[tuple[str, str]]) -> Figures:
    """Pairs of documents against the true ones (PARK17, Table 2).

    >>> score_documents([("a", "x"), ("b", "y")], [("a", "x"), ("b", "z")]).f1
    0.5
    """
    wanted, given = set(gold), set(found)
    hits = len(wanted & given)
    return figures(hits, len(given), hits, len(wanted))


def _touching(beads: Iterable[Places], others: Iterable[Places]) -> int:
    """How many of the beads are among the others, or share a source and a target sentence with what is linked there."""
    linked: dict[int, set[int]] = {}
    listed = set(others)
    for source, target in listed:
        for place in source:
            linked.setdefault(place, set()).update(target)
    count = 0
    for bead in beads:
        reached: set[int] = set().union(*(linked.get(place, set()) for place in bead[0]))
        count += bead in listed or not reached.isdisjoint(bead[1])
    return count
