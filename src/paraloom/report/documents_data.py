"""What a page about aligned documents tells: the pairs drawn with their texts and beads, and counts of all the rest."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.align.document_features import paragraphs_in
from paraloom.align.document_pairs import NamedPair, read_document_pairs
from paraloom.core.beads import Bead, check_beads
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import DOCUMENTS, LINKS, require
from paraloom.io import Corpus
from paraloom.io.formats.alignments import beads_of_links
from paraloom.io.shards import read_batches

THIRDS = ("the surest third", "the middle third", "the least sure third")

# Names are counted in large batches, texts read in small ones.
_NAMES, _TEXTS, _LINKS = 1 << 16, 64, 1 << 14


class Image(NamedTuple):
    """A picture as a document names it: where it was, what stood for it, and the hashes that tell it again."""

    src: str
    alt: str
    sha256: str | None
    phash: str | None


@dataclass(frozen=True)
class Document:
    """A document that is shown."""

    name: str
    lang: str
    title: str
    paragraphs: list[str]
    images: list[Image]


@dataclass(frozen=True)
class Shown:
    """A pair that is shown.

    third: place in THIRDS, None where margins do not tell.  beads: empty where none are known.
    """

    pair: NamedPair
    third: int | None
    source: Document
    target: Document
    beads: list[Bead]


@dataclass
class Counts:
    """What the links hold for the pairs.

    kinds: beads by how many sentences they have on either side.  linked: pairs with a bead.  passed_over: beads of
    pairs that are not among those asked about.
    """

    kinds: Counter[tuple[int, int]] = field(default_factory=Counter)
    linked: set[tuple[str, str]] = field(default_factory=set)
    passed_over: int = 0

    def sentences(self, side: int) -> int:
        """Sentences of side 0 or 1 in all beads."""
        return sum(kind[side] * n for kind, n in self.kinds.items())

    def alone(self, side: int) -> int:
        """Sentences of side 0 or 1 without a counterpart."""
        return sum(kind[side] * n for kind, n in self.kinds.items() if not kind[1 - side])


@dataclass(frozen=True)
class Aligned:
    """Everything the page tells.  documents, paired: of source and target; pairs: all; shown: those drawn, in order."""

    names: tuple[str, str]
    documents: tuple[int, int]
    paired: tuple[int, int]
    pairs: list[NamedPair]
    counts: Counts
    shown: list[Shown]


def gather(source: str | Path, target: str | Path, pairs: Path, links: Path, *, show: int, seed: int) -> Aligned:
    """Read what the page needs: names and links in batches, and the texts of the documents that are shown alone.

    Raises DataError for a document that is in a pair and not in its corpus, for beads that do not fit the texts shown,
    and where there is no pair; ConfigError where none is to be shown.
    """
    if show < 1:
        raise ConfigError(f"a page shows one pair or more, not {show}")
    corpora = [_open(path) for path in (source, target)]
    listed = list({(pair.source, pair.target): pair for pair in reversed(read_document_pairs(pairs))}.values())[::-1]
    if not listed:
        raise DataError("there is no pair of documents in it", file=pairs)
    names = [{pair.source for pair in listed}, {pair.target for pair in listed}]
    for corpus, wanted in zip(corpora, names, strict=True):
        _all_there(corpus, wanted, pairs)
    drawn = draw(listed, show, seed)
    texts = [
        _read(corpora[0], {pair.source for pair, _ in drawn}),
        _read(corpora[1], {pair.target for pair, _ in drawn}),
    ]
    counts, beads = _count(links, listed, [pair for pair, _ in drawn])
    shown = []
    for pair, third in drawn:
        ours, theirs, found = texts[0][pair.source], texts[1][pair.target], beads[pair.source, pair.target]
        try:
            check_beads(found, len(ours.paragraphs), len(theirs.paragraphs))
        except DataError as error:
            error.what += f" (documents '{pair.source}' and '{pair.target}')"
            error.remedy = "Give the corpora whose sentences were linked, and one alignment of them."
            raise error.at(file=links) from None
        shown.append(Shown(pair, third, ours, theirs, found))
    return Aligned(
        (corpora[0].folder.absolute().name, corpora[1].folder.absolute().name),
        (corpora[0].rows, corpora[1].rows),
        (len(names[0]), len(names[1])),
        listed,
        counts,
        shown,
    )


def draw(pairs: Sequence[NamedPair], show: int, seed: int) -> list[tuple[NamedPair, int | None]]:
    """Up to `show` pairs, as many by lot from each third of the margins, the surest first; each with its third.

    The lot is by seed and names, so that the order of the pairs draws no other sample.  Where all margins are alike
    there are no thirds, and the lot is among all.

    >>> pairs = [NamedPair("a", "x", 1, 0.9), NamedPair("b", "y", 1, 0.5), NamedPair("c", "z", 1, 0.1)]
    >>> [(pair.source, third) for pair, third in draw(pairs, 2, seed=1)]
    [('a', 0), ('c', 2)]
    """
    ordered = sorted(pairs, key=_sureness)
    if len({pair.margin for pair in pairs}) < 2:
        return [(pair, None) for pair in sorted(_lot(ordered, show, seed), key=_sureness)]
    bounds = [round(len(ordered) * place / 3) for place in range(4)]
    thirds = [ordered[low:high] for low, high in pairwise(bounds)]
    shares = [0, 0, 0]
    while sum(shares) < min(show, len(ordered)):
        # The ends come before the middle: they say most of what is good and what is not.
        for place in (0, 2, 1):
            if shares[place] < len(thirds[place]) and sum(shares) < show:
                shares[place] += 1
    return [
        (pair, place)
        for place, third in enumerate(thirds)
        for pair in sorted(_lot(third, shares[place], seed), key=_sureness)
    ]


def _sureness(pair: NamedPair) -> tuple[float, str, str]:
    return (-pair.margin if math.isfinite(pair.margin) else math.inf, pair.source, pair.target)


def _lot(pairs: Sequence[NamedPair], n: int, seed: int) -> list[NamedPair]:
    return sorted(pairs, key=lambda pair: hashlib.sha256(f"{seed}\t{pair.source}\t{pair.target}".encode()).digest())[:n]


def _open(path: str | Path) -> Corpus:
    corpus = Corpus.open(path)
    try:
        require(corpus.schema, DOCUMENTS)
    except DataError as error:
        raise error.at(file=path) from None
    return corpus


def _all_there(corpus: Corpus, wanted: Iterable[str], pairs: Path) -> None:
    missing = set(wanted)
    for batch in corpus.batches(["doc_id"], _NAMES):
        missing.difference_update(batch.column(0).to_pylist())
    if missing:
        name, more = min(missing), len(missing) - 1
        others = f", nor {more} other{'s' * (more > 1)} of the pairs" if more else ""
        raise DataError(
            f"there is no document '{name}' in {corpus.folder}{others}",
            file=pairs,
            remedy="Give the corpora that were aligned, the source first.",
        )


def _read(corpus: Corpus, wanted: set[str]) -> dict[str, Document]:
    found: dict[str, Document] = {}
    asked = pa.array(sorted(wanted), pa.string())
    for shard in corpus.shards:
        names = (batch.column(0) for batch in read_batches(shard, ["doc_id"], _NAMES))
        if not any(pc.any(pc.is_in(each, asked)).as_py() for each in names):
            continue
        for batch in read_batches(shard, DOCUMENTS.names, _TEXTS):
            for row in batch.filter(pc.is_in(batch.column("doc_id"), asked)).to_pylist():
                images = [
                    Image(each["src"] or "", each["alt"] or "", each["sha256"], each["phash"])
                    for each in row["images"] or []
                    if each
                ]
                found[row["doc_id"]] = Document(
                    row["doc_id"], row["lang"] or "", row["title"] or "", paragraphs_in(row["text"] or ""), images
                )
    return found


def _count(
    links: Path, pairs: Sequence[NamedPair], shown: Sequence[NamedPair]
) -> tuple[Counts, dict[tuple[str, str], list[Bead]]]:
    asked = {(pair.source, pair.target) for pair in pairs}
    beads: dict[tuple[str, str], list[Bead]] = {(pair.source, pair.target): [] for pair in shown}
    counts = Counts()
    for batch in read_batches(links, None, _LINKS):
        try:
            require(batch.schema, LINKS)
        except DataError as error:
            raise error.at(file=links) from None
        named = list(zip(batch.column("src_doc").to_pylist(), batch.column("tgt_doc").to_pylist(), strict=True))
        sizes = [pc.list_value_length(batch.column(side)).to_pylist() for side in ("src_ids", "tgt_ids")]
        for pair, ours, theirs in zip(named, *sizes, strict=True):
            if pair in asked:
                counts.kinds[ours or 0, theirs or 0] += 1
                counts.linked.add(pair)
            else:
                counts.passed_over += 1
        of_shown = batch.filter(pa.array([pair in beads for pair in named], pa.bool_()))
        for source, target, bead in beads_of_links(of_shown):
            beads[source, target].append(bead)
    return counts, beads
