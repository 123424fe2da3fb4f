"""Alignments on disk: vecalign's `[0]:[0, 1]:cost`, hunalign's ladders, and our LINKS; read, written, told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from paraloom.core.beads import Bead, check_beads
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import LINKS, require
from paraloom.io.compression import open_write, read_lines, without_compression
from paraloom.io.shards import read_batches, write_shard

_VECALIGN = re.compile(r"\[([\d, ]*)\]:\[([\d, ]*)\](?::(\S+))?")
_RUNG = re.compile(r"(\d+)\s+(\d+)(?:\s+(\S+))?")


def read_beads(path: str | Path) -> list[Bead]:
    """The beads of one pair of texts, in the file's order; `.parquet` is LINKS, else the first line tells the format.

    A line `[0]:[0, 1]` with or without a cost is vecalign's; two numbers and perhaps a score are a rung of a ladder,
    of which each two neighbours hold a bead between them.  Scores of vecalign are costs: they come with their sign
    turned, higher is surer.
    Raises DataError that names file and row for a line that is neither, and for a sentence in two beads.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.ladder"
    >>> _ = file.write_text("0 0\\n1 2\\n2 2\\n")
    >>> [(bead.source, bead.target) for bead in read_beads(file)]
    [((0,), (0, 1)), ((1,), ())]
    """
    links = without_compression(path).suffix == ".parquet"
    beads = list(_of_links(path) if links else _of_lines(path))
    try:
        check_beads(beads)
    except DataError as error:
        raise error.at(file=str(path)) from None
    return beads


def write_beads(path: str | Path, beads: Sequence[Bead], *, src_doc: str = "source", tgt_doc: str = "target") -> None:
    """Write one pair of texts' beads: `.vecalign`, `.ladder` (hunalign's) or `.parquet` (LINKS).

    Raises ConfigError for another suffix.
    """
    suffix = without_compression(path).suffix
    if suffix == ".parquet":
        write_shard(Path(path), [links_of(beads, src_doc, tgt_doc)], LINKS)
        return
    if suffix not in (".vecalign", ".ladder"):
        raise ConfigError(
            f"'{path}' is no name for beads",
            remedy="Choose .vecalign, .ladder or .parquet for beads, and .tsv, .tmx or .jsonl for the sentences.",
        )
    with open_write(path) as stream:
        for line in _vecalign(beads) if suffix == ".vecalign" else _ladder(beads):
            stream.write(line.encode() + b"\n")


def links_of(beads: Iterable[Bead], src_doc: str, tgt_doc: str) -> pa.RecordBatch:
    """Beads as rows of LINKS.

    >>> links_of([Bead((0,), (0, 1), 2.5)], "a", "b").to_pylist()[0]["tgt_ids"]
    [0, 1]
    """
    rows = list(beads)
    columns = [
        pa.array([src_doc] * len(rows), pa.string()),
        pa.array([tgt_doc] * len(rows), pa.string()),
        pa.array([list(bead.source) for bead in rows], pa.list_(pa.int32())),
        pa.array([list(bead.target) for bead in rows], pa.list_(pa.int32())),
        pa.array([bead.score for bead in rows], pa.float32()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=LINKS)


def beads_of_links(batch: pa.RecordBatch) -> Iterator[tuple[str, str, Bead]]:
    """Rows of LINKS as source document, target document and bead."""
    require(batch.schema, LINKS)
    for row in batch.select(LINKS.names).to_pylist():
        yield (
            row["src_doc"],
            row["tgt_doc"],
            Bead(tuple(row["src_ids"]), tuple(row["tgt_ids"]), float(row["score"] or 0.0)),
        )


def _of_links(path: str | Path) -> Iterator[Bead]:
    documents = set()
    for batch in read_batches(Path(path)):
        for source, target, bead in beads_of_links(batch):
            documents.add((source, target))
            if len(documents) > 1:
                raise DataError(
                    "there are links of several pairs of documents in it", file=str(path), remedy="Give one pair's."
                )
            yield bead


def _of_lines(path: str | Path) -> Iterator[Bead]:
    before: tuple[int, int] | None = None
    score = 0.0
    for row, line in enumerate(read_lines(path), 1):
        text = line.strip()
        if not text:
            continue
        found = _VECALIGN.fullmatch(text)
        rung = _RUNG.fullmatch(text)
        if found:
            cost = _number(found[3], path, row)
            yield Bead(_places(found[1]), _places(found[2]), -cost if cost else 0.0)
        elif rung:
            here = (int(rung[1]), int(rung[2]))
            if before is not None:
                if here[0] < before[0] or here[1] < before[1]:
                    raise DataError("the ladder goes back", file=str(path), row=row)
                yield Bead(tuple(range(before[0], here[0])), tuple(range(before[1], here[1])), score)
            before, score = here, _number(rung[3], path, row)
        else:
            raise DataError(
                f"'{text[:60]}' is no bead",
                file=str(path),
                row=row,
                remedy="A line is `[0]:[0, 1]` (vecalign) or a rung `0 0` (hunalign).",
            )


def _places(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(",") if each.strip())


def _number(text: str | None, path: str | Path, row: int) -> float:
    try:
        return float(text) if text else 0.0
    except ValueError:
        raise DataError(f"'{text}' is no score", file=str(path), row=row) from None


def _vecalign(beads: Iterable[Bead]) -> Iterator[str]:
    for bead in beads:
        yield f"{list(bead.source)}:{list(bead.target)}:{-bead.score:.6f}"


def _ladder(beads: Iterable[Bead]) -> Iterator[str]:
    source = target = 0
    for bead in beads:
        yield f"{source}\t{target}\t{bead.score:.6f}"
        source += len(bead.source)
        target += len(bead.target)
    yield f"{source}\t{target}\t0"
