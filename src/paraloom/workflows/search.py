"""Files of sentences searched and mined: encoded once onto the disk, their lines looked up where they lie."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paraloom.core.errors import DataError
from paraloom.embed.search import lines_at, mine_pairs, search
from paraloom.embed.store import load_encoder
from paraloom.io import open_write, read_lines
from paraloom.workflows.encoders import encode_file


class Hit(NamedTuple):
    """A sentence near a query; rank from 1, row of the corpus from 1."""

    query: str
    rank: int
    cosine: float
    row: int
    sentence: str


def search_lines(
    encoder: str | Path, corpus: str, queries: str, *, k: int = 5, vectors: str | Path | None = None
) -> Iterator[Hit]:
    """The k lines of `corpus` nearest to each line of `queries`, best first.

    vectors: of the corpus, a .npy file that `encode_lines` wrote; made anew without.
    Raises DataError where `vectors` has another number of rows than the corpus has lines.
    """
    asked = list(read_lines(queries))
    with _on_disk(encoder, corpus, vectors) as (lines, stored):
        found = search(load_encoder(encoder).encode(asked), stored, k)
        texts = lines_at(lines, np.maximum(found.rows, 0).ravel())
        for query, cosines, places in zip(asked, found.cosines.tolist(), found.rows.tolist(), strict=True):
            for rank, (cosine, place) in enumerate(zip(cosines, places, strict=True), 1):
                sentence = next(texts)
                if place >= 0:
                    yield Hit(query, rank, cosine, place + 1, sentence)


def mine_lines(
    encoder: str | Path,
    corpus: str,
    output: str,
    *,
    above: float = 0.8,
    below: float = 0.99,
    k: int = 5,
    vectors: str | Path | None = None,
    seed: int = 1,
) -> int:
    """Write the pairs of lines whose cosine is from `above` to `below` as TSV, closest first; returns how many.

    Columns: src, tgt, cosine.  See embed.search.mine.
    """
    with _on_disk(encoder, corpus, vectors) as (lines, stored):
        close = mine_pairs(stored, lines.parent, above=above, below=below, k=k, seed=seed)
        first, second = lines_at(lines, close.first), lines_at(lines, close.second)
        count = 0
        with open_write(output) as stream:
            stream.write(b"src\ttgt\tcosine\n")
            for src, tgt, cosine in zip(first, second, close.cosines.tolist(), strict=True):
                if src.split() != tgt.split():
                    stream.write(f"{_field(src)}\t{_field(tgt)}\t{cosine:.4f}\n".encode())
                    count += 1
    return count


@contextmanager
def _on_disk(
    encoder: str | Path, corpus: str, vectors: str | Path | None
) -> Iterator[tuple[Path, np.ndarray[tuple[int, int], np.dtype[np.float32]]]]:
    """The corpus as an uncompressed file of lines, and its vectors, memory-mapped."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "lines.txt"
        count = 0
        with lines.open("w", encoding="utf-8", newline="\n") as stream:
            for line in read_lines(corpus):
                stream.write(f"{line}\n")
                count += 1
        if vectors is None:
            vectors = Path(folder) / "vectors.npy"
            encode_file(encoder, str(lines), vectors)
        stored = np.load(vectors, mmap_mode="r", allow_pickle=False)
        if len(stored) != count:
            raise DataError(
                f"{len(stored):,} vectors stand against {count:,} lines of {corpus}",
                file=vectors,
                remedy="Encode the corpus again, or leave the vectors out.",
            )
        yield lines, stored


def _field(text: str) -> str:
    return " ".join(text.split())
