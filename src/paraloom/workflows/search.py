"""Search and mining over files of sentences: the corpus is encoded to disk once and never held in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.embed.encoder import open_encoder
from paraloom.embed.search import lines_at, mine_pairs, search
from paraloom.embed.threads import available_threads
from paraloom.io import open_write, read_lines
from paraloom.workflows.encoders import encode_file


class Hit(NamedTuple):
    """A sentence of the corpus that is near to a query.

    Args:
        query: The query.
        rank: Rank among the sentences near to this query, from 1.
        cosine: Cosine of both, from −1 to 1.
        row: Row of the corpus, from 1.
        sentence: The sentence.
    """

    query: str
    rank: int
    cosine: float
    row: int
    sentence: str


def search_lines(
    encoder: EncoderLike | str | Path, corpus: str, queries: str, *, k: int = 5, vectors: str | Path | None = None
) -> Iterator[Hit]:
    """Find the lines of a file that are nearest to each line of another.

    Args:
        encoder: An encoder, its name or folder.
        corpus: Sentences to search, one per line.
        queries: Queries, one per line; '-' is standard input.
        k: Sentences per query.
        vectors: Vectors of the corpus, a .npy file of `encode_file`. Default: the corpus is encoded.

    Yields:
        `k` sentences for each query, nearest first.

    Raises:
        DataError: `vectors` has another number of rows than the corpus has lines.
    """
    texts = list(read_lines(queries))
    model = open_encoder(encoder, available_threads()) if isinstance(encoder, (str, Path)) else encoder
    with _encoded_corpus(model, corpus, vectors) as (lines, stored):
        result = search(model.encode(texts), stored, k)
        sentences = lines_at(lines, np.maximum(result.rows, 0).ravel())
        for query, cosines, rows in zip(texts, result.cosines.tolist(), result.rows.tolist(), strict=True):
            for rank, (cosine, row) in enumerate(zip(cosines, rows, strict=True), start=1):
                sentence = next(sentences)
                if row >= 0:
                    yield Hit(query, rank, cosine, row + 1, sentence)


def mine_lines(
    encoder: EncoderLike | str | Path,
    corpus: str,
    output: str,
    *,
    above: float = 0.8,
    below: float = 0.99,
    k: int = 5,
    vectors: str | Path | None = None,
    seed: int = 1,
) -> int:
    """Mine a file of sentences for paraphrases: pairs of lines that are near to each other, but not the same.

    Args:
        encoder: An encoder, its name or folder.
        corpus: Sentences, one per line.
        output: TSV with the columns src, tgt and cosine, highest cosine first.
        above: Minimum cosine.
        below: Maximum cosine.
        k: Maximum number of pairs per sentence.
        vectors: Vectors of the corpus, a .npy file of `encode_file`. Default: the corpus is encoded.
        seed: Seed of the index of a large corpus.

    Returns:
        Number of pairs.

    Raises:
        DataError: `vectors` has another number of rows than the corpus has lines.
    """
    with _encoded_corpus(encoder, corpus, vectors) as (lines, stored):
        mined = mine_pairs(stored, lines.parent, above=above, below=below, k=k, seed=seed)
        first, second = lines_at(lines, mined.first), lines_at(lines, mined.second)
        count = 0
        with open_write(output) as stream:
            stream.write(b"src\ttgt\tcosine\n")
            for src, tgt, cosine in zip(first, second, mined.cosines.tolist(), strict=True):
                if src.split() != tgt.split():
                    stream.write(f"{_one_field(src)}\t{_one_field(tgt)}\t{cosine:.4f}\n".encode())
                    count += 1
    return count


@contextmanager
def _encoded_corpus(
    encoder: EncoderLike | str | Path, corpus: str, vectors: str | Path | None
) -> Iterator[tuple[Path, npt.NDArray[np.float32]]]:
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
                f"{len(stored):,} vectors for the {count:,} lines of {corpus}",
                file=vectors,
                remedy="Encode the corpus again, or leave the vectors out.",
            )
        yield lines, stored


def _one_field(text: str) -> str:
    return " ".join(text.split())
