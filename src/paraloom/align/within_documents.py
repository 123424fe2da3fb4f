"""Sentences aligned within pairs of documents: what is learned from some of the pairs aligns all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from paraloom.align.document_features import Documents, Paragraphs
from paraloom.align.document_pairs import NamedPair
from paraloom.align.sentences import AlignerConfig, Knowledge, TextPair, beads_of, learn
from paraloom.core.beads import Bead
from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.seeds import generator

# Pairs that the aligner learns from, drawn by chance, and those whose texts are in memory at a time.
_LEARN, _AT_A_TIME = 500, 1000


class Aligned(NamedTuple):
    """A pair of documents, their sentences, and the beads, in order."""

    pair: NamedPair
    texts: TextPair
    beads: list[Bead]


def align_within(
    source: Documents,
    target: Documents,
    pairs: Sequence[NamedPair],
    config: AlignerConfig | None = None,
    *,
    knowledge: Knowledge | None = None,
    seed: int = 1,
) -> Iterator[Aligned]:
    """The beads of each pair, in the order given; paragraphs are the sentences.

    knowledge: of an aligner that learned before; without it one learns from some of the pairs.  seed: of their choice.
    Where documents have translations these help, and do not come out, nor do those into a third language that are
    aligned in the place of the texts.  Raises DataError that names a document which is not in its corpus or there
    twice, or whose translation has other lines; ConfigError for settings that cannot be.
    """
    config = config or AlignerConfig()
    config.check()
    places = [_places(each.ids) for each in (source, target)]
    numbered = [(_place(places[0], pair.source), _place(places[1], pair.target)) for pair in pairs]
    if knowledge is None:
        draw = generator(seed)
        chosen = np.sort(draw.permutation(len(pairs))[:_LEARN])
        texts = list(_texts(source, target, [numbered[place] for place in chosen]))
        knowledge = learn(texts, config) if texts else None
    stands = _as_they_stand(source), _as_they_stand(target)
    pivot = stands != (source, target)
    with progress("aligning sentences", len(pairs), unit="documents") as advance:
        for start in range(0, len(pairs), _AT_A_TIME):
            block = slice(start, start + _AT_A_TIME)
            found = list(_texts(source, target, numbered[block]))
            shown = list(_texts(*stands, numbered[block])) if pivot else found
            for pair, read, original in zip(pairs[block], found, shown, strict=True):
                assert knowledge is not None
                yield Aligned(pair, _restored(read, original, pair), beads_of(read, knowledge, config))
                advance(1)


def _texts(source: Documents, target: Documents, pairs: Sequence[tuple[int, int]]) -> Iterator[TextPair]:
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    sides = source.paragraphs(ours), target.paragraphs(theirs)
    made = _read(source.translated, ours), _read(target.translated, theirs)
    for i, j in pairs:
        ahead, back = [made[0][i]] if made[0] else [], [made[1][j]] if made[1] else []
        try:
            yield TextPair(sides[0][i], sides[1][j], ahead, back)
        except DataError as error:
            raise DataError(f"{source.ids[i]}, {target.ids[j]}: {error.what}", remedy=error.remedy) from None


def _as_they_stand(documents: Documents) -> Documents:
    return replace(documents, paragraphs=documents.originals, translated=None) if documents.originals else documents


def _restored(read: TextPair, stands: TextPair, pair: NamedPair) -> TextPair:
    for name, ours, theirs in (
        (pair.source, read.source, stands.source),
        (pair.target, read.target, stands.target),
    ):
        if len(ours) != len(theirs):
            raise DataError(
                f"{name}: it has {len(theirs)} lines, and its translation {len(ours)}",
                remedy="A translation has one line for each line of its text, in their order.",
            )
    return stands


def _read(paragraphs: Paragraphs | None, places: Sequence[int]) -> dict[int, list[str]] | None:
    return paragraphs(places) if paragraphs else None


def _places(ids: Sequence[str]) -> dict[str, int]:
    """The place of each name; -1 of one that several documents have."""
    found: dict[str, int] = {}
    for place, name in enumerate(ids):
        found[name] = -1 if name in found else place
    return found


def _place(places: dict[str, int], name: str) -> int:
    if name not in places:
        raise DataError(f"there is no document '{name}' in the corpus", remedy="Give the corpora that were aligned.")
    if places[name] < 0:
        raise DataError(f"there are several documents '{name}' in the corpus", remedy="Give each a name of its own.")
    return places[name]
