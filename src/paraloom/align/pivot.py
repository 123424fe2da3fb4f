"""Pairs of documents checked, and completed, by what further languages say (cf. PARK17 §5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from paraloom.align.document_pairs import NamedPair
from paraloom.core.errors import DataError

Through = tuple[Sequence[NamedPair], Sequence[NamedPair]]
"""For a further language the pairs of source and its documents, and of its documents and target."""

_Counterparts = dict[str, tuple[str, float]]


def agree(direct: Sequence[NamedPair], through: Sequence[Through]) -> list[NamedPair]:
    """The pairs that stand when further languages are asked, in their order, then those that these bring together.

    Where a source and a target document both have a counterpart in a further language, it speaks for their pair if
    that is the same document, and otherwise against it, with the lower of the two scores.  A pair falls if what
    speaks against it is more than its own score and what speaks for it.  Then documents in no pair that further
    languages bring together are paired, those with the highest sum of scores first; their score is the mean over the
    languages, their margin 0.  Two pages without a counterpart that are like each other are each the other's best: a
    language that has counterparts of both knows them apart.

    >>> direct = [NamedPair("a", "x", 0.8), NamedPair("b", "y", 0.6)]
    >>> there = [NamedPair("b", "1", 0.9), NamedPair("c", "2", 0.7)]
    >>> back = [NamedPair("2", "y", 0.9), NamedPair("1", "z", 0.9)]
    >>> [(pair.source, pair.target) for pair in agree(direct, [(there, back)])]
    [('a', 'x'), ('b', 'z'), ('c', 'y')]
    """
    ways = [(_by_name(there, 0), _by_name(back, 1)) for there, back in through]
    kept = [pair for pair in direct if pair.score + _balance(pair, ways) >= 0]
    sources, targets = {pair.source for pair in kept}, {pair.target for pair in kept}
    asked = {(pair.source, pair.target) for pair in direct}
    met: defaultdict[tuple[str, str], float] = defaultdict(float)
    for there, back in through:
        onward = _by_name(back, 0)
        for pair in there:
            if pair.target in onward:
                end, score = onward[pair.target]
                met[pair.source, end] += min(pair.score, score)
    for (source, target), total in sorted(met.items(), key=lambda way: -way[1]):
        if total > 0 and source not in sources and target not in targets and (source, target) not in asked:
            kept.append(NamedPair(source, target, total / len(through), 0.0))
            sources.add(source)
            targets.add(target)
    return kept


def turned_as_met(first: Sequence[NamedPair], then: Sequence[NamedPair], names: set[str]) -> Through:
    """Two files of pairs turned so that the first leads from documents of these names, and the second goes on there.

    names: of the source's documents.  Files have been made in either direction; whose names they share tells which,
    and where both sides share as many, as pages of two sites may, they are taken as they stand.
    Raises DataError where the first has none of the names, or the second none of the first's others.
    """
    there = _from(first, names)
    if there is None:
        raise DataError("it has no document of the source", remedy="Give pairs of the source and a further language.")
    back = _from(then, {pair.target for pair in there})
    if back is None:
        raise DataError(
            "it has no document of the further language", remedy="Give pairs of that language and the target."
        )
    return there, back


def _from(pairs: Sequence[NamedPair], names: set[str]) -> list[NamedPair] | None:
    ahead, back = sum(pair.source in names for pair in pairs), sum(pair.target in names for pair in pairs)
    if not ahead and not back:
        return None
    if ahead >= back:
        return list(pairs)
    return [pair._replace(source=pair.target, target=pair.source) for pair in pairs]


def _by_name(pairs: Iterable[NamedPair], side: int) -> _Counterparts:
    """By the name on one side, 0 or 1, the other's and the score."""
    named = ((pair if side == 0 else pair._replace(source=pair.target, target=pair.source)) for pair in pairs)
    return {pair.source: (pair.target, pair.score) for pair in named}


def _balance(
    pair: NamedPair, ways: Sequence[tuple[dict[str, tuple[str, float]], dict[str, tuple[str, float]]]]
) -> float:
    """What the further languages say for a pair less what they say against it."""
    total = 0.0
    for there, back in ways:
        if pair.source in there and pair.target in back:
            (ours, one), (theirs, other) = there[pair.source], back[pair.target]
            total += min(one, other) * (1 if ours == theirs else -1)
    return total
