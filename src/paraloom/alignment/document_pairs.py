"""Files of document pairs: source document, target document, score and margin, separated by tabs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from paraloom.core.errors import DataError
from paraloom.io import read_lines
from paraloom.io.compression import open_write

HEADER = ("src_doc", "tgt_doc", "score", "margin")
"""The columns of such a file."""


class DocumentPair(NamedTuple):
    source: str
    target: str
    score: float = 0.0
    margin: float = 0.0


def write_document_pairs(path: str | Path, pairs: Iterable[DocumentPair]) -> None:
    """Write a header and a line for each pair; the file appears when it is complete."""
    with open_write(path) as stream:
        stream.write(("\t".join(HEADER) + "\n").encode())
        for pair in pairs:
            for name in (pair.source, pair.target):
                if not name or any(separator in name for separator in "\t\n\r"):
                    raise DataError(
                        f"expected a document name without tabs and line breaks, got {name!r}", file=str(path)
                    )
            stream.write(f"{pair.source}\t{pair.target}\t{pair.score:.4f}\t{pair.margin:.4f}\n".encode())


def read_document_pairs(path: str | Path) -> list[DocumentPair]:
    """Read such a file, or a gold standard of two names a line without a header."""
    pairs = []
    for row, line in enumerate(read_lines(path), 1):
        fields = line.rstrip("\n").split("\t")
        if not line.strip() or (row == 1 and tuple(fields[:2]) == HEADER[:2]):
            continue
        try:
            source, target, *numbers = fields
            if not (source and target):
                raise ValueError("a name is empty")
            pairs.append(DocumentPair(source, target, *map(float, numbers[:2])))
        except ValueError:
            raise DataError(
                f"expected a pair of documents, got '{line[:60]}'",
                file=str(path),
                row=row,
                remedy="Write the names of a source and a target document, separated by a tab.",
            ) from None
    return pairs
