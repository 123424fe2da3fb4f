"""Sentence alignments: vecalign's format, hunalign's ladders, LINKS, and gold standards as JSON Lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import pyarrow as pa

from paraloom.core.beads import Bead, check_beads
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import LINKS, require
from paraloom.io.compression import open_write, read_lines, without_compression
from paraloom.io.shards import read_batches, write_shard

Side: TypeAlias = Literal["source", "target"]  # One of the two texts

_VECALIGN = re.compile(r"\[([\d, ]*)\] ?: ?\[([\d, ]*)\](?: ?:(?: ?(\S+))?)?")
_LADDER = re.compile(r"(\d+)\s+(\d+)(?:\s+(\S+))?")

MAX_SENTENCES = 10_000_000  # Sentences of a text at most: a ladder of 30 bytes can name more than fit in memory
MAX_RUNG = 10_000  # Sentences on one side of a bead of a ladder at most


@dataclass(frozen=True)
class GoldDocument:
    source: Sequence[str]  # Sentences of the source text
    target: Sequence[str]  # Sentences of the target text
    gold: Sequence[Bead]  # The correct beads


@dataclass(frozen=True)
class BeadFile:
    """The beads of one pair of texts as a file has them: a sentence may be in several beads, or in none."""

    path: str
    beads: Sequence[Bead]  # Its beads in order, without those that are empty on both sides
    rows: Sequence[int]  # Row of each bead, from 1; in a ladder, that of the rung at its end

    def covered(self, side: Side) -> int | None:
        """Number of sentences of a text, where the file has them all from 0 to its last; else None."""
        indices = {index for bead in self.beads for index in getattr(bead, side)}
        return len(indices) if indices and max(indices) == len(indices) - 1 else None

    def size(self, side: Side) -> int:
        """Number of sentences up to the last one that the file has, of a text."""
        return max((index + 1 for bead in self.beads for index in getattr(bead, side)), default=0)

    def check_range(self, side: Side, count: int, text: str, remedy: str | None = None) -> None:
        for bead, row in zip(self.beads, self.rows, strict=True):
            last = max(getattr(bead, side), default=-1)
            if last >= count:
                noun = "sentence" if count == 1 else "sentences"
                raise DataError(
                    f"{side} sentence {last} is out of range: {text} has {count:,} {noun}",
                    file=self.path,
                    row=row,
                    remedy=remedy,
                )


def read_bead_file(path: str | Path) -> BeadFile:
    """Read the beads of one pair of texts; published gold may have a sentence in two.

    A line `[0]:[0, 1]`, with or without a cost, is vecalign's. Two numbers, with or without a score, are a rung of a
    ladder: a bead lies between two consecutive rungs. Costs of vecalign become negative scores. Indices are below
    10,000,000, and a bead of a ladder has at most 10,000 sentences a side.
    """
    numbered = [(row, bead) for row, bead in _read_numbered(path) if bead.source or bead.target]
    if not numbered:
        raise DataError(
            "the file has no beads",
            file=str(path),
            remedy="A line looks like `[0]:[0, 1]` (vecalign); a ladder (hunalign) has two rungs or more.",
        )
    for row, bead in numbered:
        if min((*bead.source, *bead.target)) < 0:
            raise DataError("an index is negative: sentences are counted from 0", file=str(path), row=row)
    return BeadFile(str(path), [bead for _, bead in numbered], [row for row, _ in numbered])


def write_beads(path: str | Path, beads: Sequence[Bead], *, src_doc: str = "source", tgt_doc: str = "target") -> None:
    suffix = without_compression(path).suffix
    if suffix == ".parquet":
        write_shard(Path(path), [beads_to_links(beads, src_doc, tgt_doc)], LINKS)
        return
    if suffix not in (".vecalign", ".ladder"):
        raise ConfigError(
            f"unknown format '{suffix}' of beads",
            file=path,
            remedy="Use .vecalign, .ladder or .parquet for beads, and .tsv, .tmx or .jsonl for the sentences.",
        )
    vecalign = (f"{list(bead.source)}:{list(bead.target)}:{-bead.score:.6f}" for bead in beads)
    with open_write(path) as stream:
        for line in vecalign if suffix == ".vecalign" else _ladder_lines(beads):
            stream.write(line.encode() + b"\n")


def beads_to_links(beads: Iterable[Bead], src_doc: str, tgt_doc: str) -> pa.RecordBatch:
    """Convert the beads of one pair of documents to rows of LINKS."""
    rows = list(beads)
    columns = [
        pa.array([src_doc] * len(rows), pa.string()),
        pa.array([tgt_doc] * len(rows), pa.string()),
        pa.array([list(bead.source) for bead in rows], pa.list_(pa.int32())),
        pa.array([list(bead.target) for bead in rows], pa.list_(pa.int32())),
        pa.array([bead.score for bead in rows], pa.float32()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=LINKS)


def links_to_beads(batch: pa.RecordBatch) -> Iterator[tuple[str, str, Bead]]:
    """Convert rows of LINKS to source document, target document and bead."""
    require(batch.schema, LINKS)
    for row in batch.select(LINKS.names).to_pylist():
        if any(row[side] is None or None in row[side] for side in ("src_ids", "tgt_ids")):
            raise DataError("'src_ids' or 'tgt_ids' is null", remedy="An empty list says that a side is empty.")
        bead = Bead(tuple(row["src_ids"]), tuple(row["tgt_ids"]), float(row["score"] or 0.0))
        yield row["src_doc"], row["tgt_doc"], bead


def read_gold_documents(path: str | Path) -> list[GoldDocument]:
    documents = []
    for row, line in enumerate(read_lines(path), 1):
        try:
            value = json.loads(line)
            source, target = (list(map(str, value[side])) for side in ("source", "target"))
            for sentence in (*source, *target):
                sentence.encode()  # half of a surrogate pair is not text
            gold = [Bead(tuple(map(int, a)), tuple(map(int, b))) for a, b in value["gold"]]
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise DataError(
                f"the line is not a document with gold beads ({type(error).__name__}: {error})",
                file=str(path),
                row=row,
                remedy='A line looks like {"source": [...], "target": [...], "gold": [[[0], [0, 1]], ...]}.',
            ) from None
        try:
            check_beads(gold, len(source), len(target))
        except DataError as error:
            raise error.at(file=str(path), row=row) from None
        documents.append(GoldDocument(source, target, gold))
    if not documents:
        raise DataError("the file has no documents", file=str(path))
    return documents


def _read_numbered(path: str | Path) -> Iterator[tuple[int, Bead]]:
    if without_compression(path).suffix == ".parquet":
        return enumerate(_read_links(path), 1)
    return _read_lines(path)


def _read_links(path: str | Path) -> Iterator[Bead]:
    documents = set()
    for batch in read_batches(Path(path)):
        for source, target, bead in links_to_beads(batch):
            documents.add((source, target))
            if len(documents) > 1:
                raise DataError(
                    "expected the links of one pair of documents, got several",
                    file=str(path),
                    remedy="Select the rows of one pair.",
                )
            yield bead


def _read_lines(path: str | Path) -> Iterator[tuple[int, Bead]]:
    reader = _BeadReader()
    for row, line in enumerate(read_lines(path), 1):
        try:
            bead = reader.read(line.strip()) if line.strip() else None
        except DataError as error:
            raise error.at(file=str(path), row=row) from None
        if bead is not None:
            yield row, bead


class _BeadReader:
    """Reads the lines of a file, all of them beads or all of them rungs of a ladder."""

    def __init__(self) -> None:
        self._before: tuple[int, int] | None = None
        self._score = 0.0
        self._is_ladder: bool | None = None

    def read(self, text: str) -> Bead | None:
        """The bead of a line; None for the first rung of a ladder."""
        match, rung = _VECALIGN.fullmatch(text), _LADDER.fullmatch(text)
        if not (match or rung):
            raise DataError(
                f"expected a bead, got '{text[:60]}'",
                remedy="A line looks like `[0]:[0, 1]` (vecalign) or `0 0` (hunalign).",
            )
        if self._is_ladder not in (None, bool(rung)):
            raise DataError(
                "the file mixes beads of vecalign's format and rungs of a ladder",
                remedy="Write all lines in one of the two formats.",
            )
        self._is_ladder = bool(rung)
        if match:
            cost = _parse_score(match[3])
            source, target = (
                tuple(_parse_index(index.strip()) for index in match[side].split(",") if index.strip())
                for side in (1, 2)
            )
            return Bead(source, target, -cost if cost else 0.0)
        assert rung is not None
        return self._rung(_parse_index(rung[1]), _parse_index(rung[2]), rung[3])

    def _rung(self, source: int, target: int, score: str | None) -> Bead | None:
        before, bead = self._before, None
        if before is not None:
            if source < before[0] or target < before[1]:
                raise DataError("the rungs of the ladder are not in ascending order")
            if max(source - before[0], target - before[1]) > MAX_RUNG:
                raise DataError(
                    f"the bead before this rung has more than {MAX_RUNG:,} sentences on one side",
                    remedy="Align the texts in parts.",
                )
            bead = Bead(tuple(range(before[0], source)), tuple(range(before[1], target)), self._score)
        self._before, self._score = (source, target), _parse_score(score)
        return bead


def _parse_index(text: str) -> int:
    if not text.isdecimal():
        raise DataError(f"expected an index, got '{text[:60]}'", remedy="Write commas between indices: [0, 1].")
    if len(text) > 9 or (index := int(text)) > MAX_SENTENCES:
        raise DataError(
            f"the index {text[:20]} is too large: a text has at most {MAX_SENTENCES:,} sentences",
            remedy="Align the texts in parts.",
        )
    return index


def _parse_score(text: str | None) -> float:
    try:
        return float(text) if text else 0.0
    except ValueError:
        raise DataError(f"expected a score, got '{text}'") from None


def _ladder_lines(beads: Iterable[Bead]) -> Iterator[str]:
    source = target = 0
    for bead in beads:
        yield f"{source}\t{target}\t{bead.score:.6f}"
        source += len(bead.source)
        target += len(bead.target)
    yield f"{source}\t{target}\t0"
