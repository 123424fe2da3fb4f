"""Pairs of documents on disk: which source document goes with which target document, with score and margin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from paraloom.align.documents import DocumentPairs
from paraloom.core.errors import DataError
from paraloom.io import read_lines
from paraloom.io.compression import open_write

HEADER = ("src_doc", "tgt_doc", "score", "margin")
"""The columns of such a file, between tabs."""


class NamedPair(NamedTuple):
    """Names of a source and a target document; score and margin as align.documents has them, higher is surer."""

    source: str
    target: str
    score: float = 0.0
    margin: float = 0.0


def named(pairs: DocumentPairs, sources: list[str], targets: list[str]) -> Iterator[NamedPair]:
    """The pairs by the names of their documents."""
    rows = zip(pairs.sources.tolist(), pairs.targets.tolist(), pairs.score, pairs.margin, strict=True)
    for source, target, score, margin in rows:
        yield NamedPair(sources[source], targets[target], float(score), float(margin))


def write_document_pairs(path: str | Path, pairs: Iterable[NamedPair]) -> None:
    """Write a line a pair, under the header; the file appears whole.

    Raises DataError for a name that is empty or has a tab or a line's end in it.
    """
    with open_write(path) as stream:
        stream.write(("\t".join(HEADER) + "\n").encode())
        for pair in pairs:
            for name in (pair.source, pair.target):
                if not name or any(each in name for each in "\t\n\r"):
                    raise DataError(f"{name!r} is no name that such a file can hold", file=str(path))
            stream.write(f"{pair.source}\t{pair.target}\t{pair.score:.4f}\t{pair.margin:.4f}\n".encode())


def read_document_pairs(path: str | Path) -> list[NamedPair]:
    """The pairs of such a file, or of one with two names a line and no header, as a gold standard has them.

    Raises DataError that names file and row for a line without two names, or with something else than numbers behind.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "gold.tsv"
    >>> _ = file.write_text("a\\tx\\n")
    >>> read_document_pairs(file)
    [NamedPair(source='a', target='x', score=0.0, margin=0.0)]
    """
    found = []
    for row, line in enumerate(read_lines(path), 1):
        fields = line.rstrip("\n").split("\t")
        if not line.strip() or (row == 1 and tuple(fields[:2]) == HEADER[:2]):
            continue
        try:
            source, target, *numbers = fields
            if not (source and target):
                raise ValueError("a name is empty")
            found.append(NamedPair(source, target, *map(float, numbers[:2])))
        except ValueError:
            raise DataError(
                f"'{line[:60]}' is no pair of documents",
                file=str(path),
                row=row,
                remedy="A line has the names of a source and a target document, between tabs.",
            ) from None
    return found
