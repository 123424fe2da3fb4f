"""What a filter would leave, before it is applied: the survivors of each criterion alone, of those so far, of all."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from paraloom.pairs.filtering.expressions import condition
from paraloom.pairs.filtering.filters import Criteria, ReadColumns, needed, select, survey


@dataclass(frozen=True)
class Survivors:
    """rows: of the corpus.  alone: those that the criterion keeps by itself; together: it and all before it."""

    criterion: str
    rows: int
    alone: int
    together: int


def survivors(criteria: Criteria, schema: pa.Schema, read: ReadColumns, seed: int = 0) -> list[Survivors]:
    """The criteria in the order in which they are applied; the last line's `together` is what a filter would keep.

    The arguments are those of filters.survey; the corpus is read a few times for each criterion.
    """
    parts = _parts(criteria)
    found = []
    rows = sum(batch.num_rows for batch in read(schema.names[:1]))
    for place, (name, part) in enumerate(parts):
        so_far = _joined([each for _, each in parts[: place + 1]])
        counts = [_kept(each, schema, read, seed) for each in (part, so_far)]
        found.append(Survivors(name, rows, *counts))
    return found


def _parts(criteria: Criteria) -> list[tuple[str, Criteria]]:
    """Each criterion by itself, with a name for people."""
    found = []
    if criteria.where:
        found += [(clause, Criteria(where=clause)) for clause in condition(criteria.where).clauses]
    ranked = replace(criteria, where="", sample=None)
    if criteria.tenth is not None:
        found.append((f"tenth {criteria.tenth} by {criteria.by}", ranked))
    if criteria.top is not None:
        found.append((f"top {criteria.top:g} by {criteria.by}", ranked))
    if criteria.sample is not None:
        found.append((f"sample of {criteria.sample:g}", Criteria(sample=criteria.sample)))
    return found


def _joined(parts: list[Criteria]) -> Criteria:
    """One Criteria of several that do not overlap."""
    joined = Criteria(where=" and ".join(f"({part.where})" for part in parts if part.where))
    for part in parts:
        if part.by:
            joined = replace(joined, top=part.top, tenth=part.tenth, by=part.by, best=part.best)
        if part.sample is not None:
            joined = replace(joined, sample=part.sample)
    return joined


def _kept(criteria: Criteria, schema: pa.Schema, read: ReadColumns, seed: int) -> int:
    cuts = survey(criteria, schema, read, seed)
    return sum(select(criteria, batch, cuts).column("keep").true_count for batch in read(needed(criteria, schema)))


def render(found: list[Survivors]) -> str:
    """A plain-text table for people.

    >>> print(render([Survivors("trigram_overlap <= 0.7", 1000, 420, 420)]))
    criterion                     alone           with those before
    trigram_overlap <= 0.7          420   42.0 %       420   42.0 %
    """
    width = max(len("criterion"), *(len(each.criterion) for each in found)) if found else len("criterion")
    lines = [f"{'criterion':<{width}}  {'alone':>11}           with those before"]
    for each in found:
        share = [100 * count / max(1, each.rows) for count in (each.alone, each.together)]
        lines.append(
            f"{each.criterion:<{width}}  {each.alone:>11,} {share[0]:>6.1f} % {each.together:>9,} {share[1]:>6.1f} %"
        )
    return "\n".join(lines)
