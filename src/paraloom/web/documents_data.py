"""Reads what a page about aligned documents shows: a sample of the pairs with texts and beads, and counts of all."""

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

from paraloom.alignment.document_features import split_paragraphs
from paraloom.alignment.document_pairs import DocumentPair, read_document_pairs
from paraloom.core.beads import Bead, check_beads
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import DOCUMENTS, LINKS, require
from paraloom.io import Corpus
from paraloom.io.formats.alignments import links_to_beads
from paraloom.io.shards import read_batches

THIRDS = ("highest margins", "middle margins", "lowest margins")  # The thirds of the pairs by margin

# Rows per batch: names are counted in large batches, texts are read in small ones.
_NAME_BATCH, _TEXT_BATCH, _LINK_BATCH = 1 << 16, 64, 1 << 14


class Image(NamedTuple):
    """An image as its document records it: address, alternative text, and hashes of the file and of the picture."""

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
class ShownPair:
    """A pair of documents that is shown."""

    pair: DocumentPair
    third: int | None
    source: Document
    target: Document
    beads: list[Bead]


@dataclass
class BeadCounts:
    """Counts over the links of all pairs."""

    types: Counter[tuple[int, int]] = field(default_factory=Counter)
    linked: set[tuple[str, str]] = field(default_factory=set)
    ignored: int = 0
    aligned: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def sentences(self, side: int) -> int:
        """Sentences of side 0 (source) or 1 (target) in all beads."""
        return sum(sizes[side] * n for sizes, n in self.types.items())

    def unaligned(self, side: int) -> int:
        """Sentences of side 0 (source) or 1 (target) without a counterpart."""
        return sum(sizes[side] * n for sizes, n in self.types.items() if not sizes[1 - side])


@dataclass(frozen=True)
class DocumentsReport:
    """Data of a page about two aligned corpora."""

    names: tuple[str, str]
    documents: tuple[int, int]
    paired: tuple[int, int]
    pairs: list[DocumentPair]
    counts: BeadCounts
    shown: list[ShownPair]
    titles: tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]
    everything: list[ShownPair] = field(default_factory=list)

    def by_margin(self) -> list[DocumentPair]:
        return sorted(self.pairs, key=_by_margin)


def read_aligned_documents(
    source: str | Path, target: str | Path, pairs: Path, links: Path, *, show: int, seed: int, everything: bool = False
) -> DocumentsReport:
    """Read what a page shows; only the texts of documents that are shown are kept in memory."""
    if show < 1:
        raise ConfigError(f"'show' must be 1 or more, got {show}")
    corpora = [_open(path) for path in (source, target)]
    listed = list({(pair.source, pair.target): pair for pair in reversed(read_document_pairs(pairs))}.values())[::-1]
    if not listed:
        raise DataError("the file contains no document pairs", file=pairs)
    names = [{pair.source for pair in listed}, {pair.target for pair in listed}]
    titles = (_titles(corpora[0], names[0], pairs), _titles(corpora[1], names[1], pairs))
    sample = sample_pairs(listed, show, seed)
    thirds = {(pair.source, pair.target): third for pair, third in sample_pairs(listed, len(listed), seed)}
    wanted = sorted(listed, key=_by_margin) if everything else [pair for pair, _ in sample]
    texts = [_read(corpora[0], {pair.source for pair in wanted}), _read(corpora[1], {pair.target for pair in wanted})]
    counts, all_beads = _count(links, listed, wanted)
    shown: dict[tuple[str, str], ShownPair] = {}
    for pair in wanted:
        key = pair.source, pair.target
        shown[key] = ShownPair(pair, thirds[key], texts[0][pair.source], texts[1][pair.target], all_beads[key])
        _check_beads(shown[key], links)
    return DocumentsReport(
        (corpora[0].folder.absolute().name, corpora[1].folder.absolute().name),
        (corpora[0].rows, corpora[1].rows),
        (len(names[0]), len(names[1])),
        listed,
        counts,
        [shown[pair.source, pair.target] for pair, _ in sample],
        titles,
        list(shown.values()) if everything else [],
    )


def _check_beads(shown: ShownPair, links: Path) -> None:
    try:
        check_beads(shown.beads, len(shown.source.paragraphs), len(shown.target.paragraphs))
    except DataError as error:
        error.what += f" (documents '{shown.pair.source}' and '{shown.pair.target}')"
        error.remedy = "Give the corpora whose sentences were linked, and the links of one alignment."
        raise error.at(file=links) from None


def sample_pairs(pairs: Sequence[DocumentPair], show: int, seed: int) -> list[tuple[DocumentPair, int | None]]:
    """A random sample with equally many pairs of each third of the margins, by seed and names, highest first."""
    ordered = sorted(pairs, key=_by_margin)
    if len({pair.margin for pair in pairs}) < 2:
        return [(pair, None) for pair in sorted(_random(ordered, show, seed), key=_by_margin)]
    bounds = [round(len(ordered) * i / 3) for i in range(4)]
    thirds = [ordered[low:high] for low, high in pairwise(bounds)]
    shares = [0, 0, 0]
    while sum(shares) < min(show, len(ordered)):
        # The best and the worst third are the most informative: they come first.
        for i in (0, 2, 1):
            if shares[i] < len(thirds[i]) and sum(shares) < show:
                shares[i] += 1
    return [
        (pair, i) for i, third in enumerate(thirds) for pair in sorted(_random(third, shares[i], seed), key=_by_margin)
    ]


def _by_margin(pair: DocumentPair) -> tuple[float, str, str]:
    return (-pair.margin if math.isfinite(pair.margin) else math.inf, pair.source, pair.target)


def _random(pairs: Sequence[DocumentPair], n: int, seed: int) -> list[DocumentPair]:
    return sorted(pairs, key=lambda pair: hashlib.sha256(f"{seed}\t{pair.source}\t{pair.target}".encode()).digest())[:n]


def _open(path: str | Path) -> Corpus:
    corpus = Corpus.open(path)
    _require(corpus.schema, DOCUMENTS, path)
    return corpus


def _require(schema: pa.Schema, expected: pa.Schema, path: str | Path) -> None:
    try:
        require(schema, expected)
    except DataError as error:
        raise error.at(file=path) from None


def _titles(corpus: Corpus, wanted: Iterable[str], pairs: Path) -> dict[str, tuple[str, str]]:
    """Title and language of each document that a pair has; DataError if one is missing."""
    names = pa.array(sorted(wanted), pa.string())
    titles: dict[str, tuple[str, str]] = {}
    for batch in corpus.batches(["doc_id", "title", "lang"], _NAME_BATCH):
        for row in batch.filter(pc.is_in(batch.column("doc_id"), names)).to_pylist():
            titles[row["doc_id"]] = row["title"] or "", row["lang"] or ""
    missing = set(wanted) - set(titles)
    if missing:
        name, more = min(missing), len(missing) - 1
        others = f", nor {more} other document{'s' * (more > 1)} of the pairs" if more else ""
        raise DataError(
            f"document '{name}' not found in {corpus.folder}{others}",
            file=pairs,
            remedy="Give the corpora that were aligned, the source first.",
        )
    return titles


def _read(corpus: Corpus, wanted: set[str]) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    names = pa.array(sorted(wanted), pa.string())
    for shard in corpus.shards:
        batches = (batch.column(0) for batch in read_batches(shard, ["doc_id"], _NAME_BATCH))
        if not any(pc.any(pc.is_in(batch, names)).as_py() for batch in batches):
            continue
        for batch in read_batches(shard, DOCUMENTS.names, _TEXT_BATCH):
            for row in batch.filter(pc.is_in(batch.column("doc_id"), names)).to_pylist():
                images = [
                    Image(image["src"] or "", image["alt"] or "", image["sha256"], image["phash"])
                    for image in row["images"] or []
                    if image
                ]
                documents[row["doc_id"]] = Document(
                    row["doc_id"], row["lang"] or "", row["title"] or "", split_paragraphs(row["text"] or ""), images
                )
    return documents


def _count(
    links: Path, pairs: Sequence[DocumentPair], shown: Sequence[DocumentPair]
) -> tuple[BeadCounts, dict[tuple[str, str], list[Bead]]]:
    wanted = {(pair.source, pair.target) for pair in pairs}
    beads: dict[tuple[str, str], list[Bead]] = {(pair.source, pair.target): [] for pair in shown}
    counts = BeadCounts()
    for batch in read_batches(links, None, _LINK_BATCH):
        _require(batch.schema, LINKS, links)
        named = list(zip(batch.column("src_doc").to_pylist(), batch.column("tgt_doc").to_pylist(), strict=True))
        sizes = [pc.list_value_length(batch.column(side)).to_pylist() for side in ("src_ids", "tgt_ids")]
        for pair, ours, theirs in zip(named, *sizes, strict=True):
            if pair in wanted:
                ours, theirs = ours or 0, theirs or 0
                counts.types[ours, theirs] += 1
                counts.linked.add(pair)
                aligned, total = counts.aligned.get(pair, (0, 0))
                size = ours + theirs
                counts.aligned[pair] = aligned + (size if ours and theirs else 0), total + size
            else:
                counts.ignored += 1
        of_shown = batch.filter(pa.array([pair in beads for pair in named], pa.bool_()))
        for source, target, bead in links_to_beads(of_shown):
            beads[source, target].append(bead)
    return counts, beads
