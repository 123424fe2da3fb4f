"""Document pairs verified and completed through pivot languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from paraloom.alignment.document_pairs import DocumentPair
from paraloom.core.errors import DataError

Pivot = tuple[Sequence[DocumentPair], Sequence[DocumentPair]]
"""Pairs of source and pivot documents, and pairs of pivot and target documents."""

_Counterparts = Mapping[str, tuple[str, float]]
"""Document → its counterpart and the score of the pair."""


def apply_pivots(direct: Sequence[DocumentPair], pivots: Sequence[Pivot]) -> list[DocumentPair]:
    """Drop the pairs that pivot languages contradict, and add those that they imply.

    Where a source and a target document both have a counterpart in a pivot language, it supports their pair if that is
    the same document and contradicts it otherwise, with the lower of the two scores.  A pair is dropped if the
    contradiction exceeds its own score plus the support.  Then documents in no pair that share a counterpart are
    paired, highest sum of scores first.

    Two similar pages that both lack a counterpart are each other's best match; a language that has counterparts of both
    shows that they differ. Cf. PARK17 §5.
    """
    counterparts = [(_by_source(first), _by_source(map(_swap, second))) for first, second in pivots]
    kept = [pair for pair in direct if pair.score + _support(pair, counterparts) >= 0]
    sources, targets = {pair.source for pair in kept}, {pair.target for pair in kept}
    known = {(pair.source, pair.target) for pair in direct}
    implied: defaultdict[tuple[str, str], float] = defaultdict(float)
    for first, second in pivots:
        to_target = _by_source(second)
        for pair in first:
            if pair.target in to_target:
                target, score = to_target[pair.target]
                implied[pair.source, target] += min(pair.score, score)
    for (source, target), total in sorted(implied.items(), key=lambda item: -item[1]):
        if total > 0 and source not in sources and target not in targets and (source, target) not in known:
            kept.append(DocumentPair(source, target, total / len(pivots), 0.0))
            sources.add(source)
            targets.add(target)
    return kept


def orient_pivot(first: Sequence[DocumentPair], second: Sequence[DocumentPair], sources: set[str]) -> Pivot:
    """Swap the sides of two lists of pairs where needed, so that they lead from source to pivot to target."""
    to_pivot = _oriented(first, sources)
    if to_pivot is None:
        raise DataError(
            "the first file has no document of the source",
            remedy="Give pairs of the source and the pivot language first.",
        )
    to_target = _oriented(second, {pair.target for pair in to_pivot})
    if to_target is None:
        raise DataError(
            "the second file has no document of the pivot language",
            remedy="Give pairs of the pivot language and the target second.",
        )
    return to_pivot, to_target


def _oriented(pairs: Sequence[DocumentPair], names: set[str]) -> list[DocumentPair] | None:
    """The pairs with the named documents on the source side; None where neither side has any."""
    forward, backward = sum(pair.source in names for pair in pairs), sum(pair.target in names for pair in pairs)
    if not forward and not backward:
        return None
    return list(pairs) if forward >= backward else [_swap(pair) for pair in pairs]


def _swap(pair: DocumentPair) -> DocumentPair:
    return pair._replace(source=pair.target, target=pair.source)


def _by_source(pairs: Iterable[DocumentPair]) -> _Counterparts:
    return {pair.source: (pair.target, pair.score) for pair in pairs}


def _support(pair: DocumentPair, counterparts: Sequence[tuple[_Counterparts, _Counterparts]]) -> float:
    """Support for a pair by the pivot languages, less their contradiction."""
    total = 0.0
    for of_source, of_target in counterparts:
        if pair.source in of_source and pair.target in of_target:
            (source_pivot, source_score), (target_pivot, target_score) = of_source[pair.source], of_target[pair.target]
            total += min(source_score, target_score) * (1 if source_pivot == target_pivot else -1)
    return total
