"""Search and mining of paraphrases in files of sentences: encoded to disk once, vectors are never held in memory."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.api.encoders import encode_file
from paraloom.api.models import warn_of_encoder_language
from paraloom.api.rejected import RejectedLines
from paraloom.core.array_types import Ints
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import EncoderLike
from paraloom.embed.encoder import open_encoder
from paraloom.embed.search import check_vectors, lines_at, mine_pairs, rows_of_others, search
from paraloom.embed.threads import available_threads
from paraloom.io import open_write, read_lines
from paraloom.io.arrays import map_array
from paraloom.io.bitext import READERS
from paraloom.io.compression import PIPE, without_compression
from paraloom.io.tables import check_lines
from paraloom.pipeline.shard import OnError
from paraloom.text.normalize import collapse_spaces

_DIGEST = 16  # Bytes of the digest of a line
_COPIED = 1 << 14  # Vectors that are copied at a time
_COMPARED = 64  # Lines that are encoded again to see whether stored vectors are theirs


class Hit(NamedTuple):
    """A sentence of the corpus that is near to a query."""

    query: str
    rank: int
    cosine: float
    row: int
    sentence: str


def search_lines(
    encoder: EncoderLike | str | Path,
    corpus: str | Path,
    queries: str | Path = PIPE,
    *,
    k: int = 5,
    vectors: str | Path | None = None,
) -> Iterator[Hit]:
    """Find the sentences of a file that are nearest to each line of another, by the margin of their cosines.

    Reference:
        Artetxe and Schwenk 2019: see `paraloom.embed.search.search`.

    Args:
        corpus: Sentences to search, one per line.
        queries: One per line; - is standard input.
        k: Sentences per query.
        vectors: Vectors of the corpus, from `encode`; default: encode it now.
    """
    texts = list(read_lines(queries))
    model = open_encoder(encoder, available_threads())
    with _encoded_corpus(model, corpus, vectors) as (lines, stored):
        warn_of_encoder_language(encoder, read_lines(lines))
        result = search(model.encode(texts), stored, k)
        sentences = lines_at(lines, np.maximum(result.rows, 0).ravel())
        for query, cosines, rows in zip(texts, result.cosines.tolist(), result.rows.tolist(), strict=True):
            for rank, (cosine, row) in enumerate(zip(cosines, rows, strict=True), start=1):
                sentence = next(sentences)
                if row >= 0:
                    yield Hit(query, rank, cosine, row + 1, sentence)


def mine_lines(
    encoder: EncoderLike | str | Path,
    corpus: str | Path,
    output: str,
    *,
    above: float = 0.8,
    below: float = 0.99,
    k: int = 5,
    vectors: str | Path | None = None,
    on_error: OnError = "stop",
    seed: int = 1,
) -> int:
    """Mine a file of sentences for paraphrases: near but different lines, the best by their margin first."""
    _check_suffix(output)
    rejected = RejectedLines(on_error)
    model = open_encoder(encoder, available_threads())
    with _encoded_corpus(model, corpus, vectors, rejected) as (lines, stored):
        warn_of_encoder_language(encoder, read_lines(lines))
        different = _different_lines(lines)
        vectors_of = _rows_of(stored, different, lines.with_suffix(".npy"))
        mined = mine_pairs(vectors_of, lines.parent, above=above, below=below, k=k, seed=seed)
        first, second = (lines_at(lines, different[rows]) for rows in mined[:2])
        with open_write(output) as stream:
            stream.write(b"src\ttgt\tcosine\tscore\n")
            for src, tgt, *scores in zip(first, second, mined.cosines.tolist(), mined.margins.tolist(), strict=True):
                row = [collapse_spaces(src), collapse_spaces(tgt), *(f"{score:.4f}" for score in scores)]
                stream.write(("\t".join(row) + "\n").encode())
        if not len(mined.first):
            nearest = mine_pairs(vectors_of, lines.parent, above=-1, below=below, k=2, seed=seed).cosines
            _warn_of_no_pairs(nearest, above, below)
    rejected.report(output)
    return len(mined.first)


def _different_lines(lines: Path) -> Ints:
    """The first of all lines that are the same but for spaces: copies count neither as neighbors nor as pairs."""
    with lines.open(encoding="utf-8", newline="\n") as stream:
        digests = b"".join(blake2b(collapse_spaces(line).encode(), digest_size=_DIGEST).digest() for line in stream)
    _, first = np.unique(np.frombuffer(digests, np.uint64).reshape(-1, _DIGEST // 8), axis=0, return_index=True)
    return np.sort(first)


def _rows_of(vectors: npt.NDArray[np.float32], rows: Ints, file: Path) -> npt.NDArray[np.float32]:
    """Some rows of vectors that may be larger than memory, copied to a file unless they are all."""
    if len(rows) == len(vectors):
        return vectors
    copied = np.lib.format.open_memmap(file, "w+", vectors.dtype, (len(rows), vectors.shape[1]))
    for start in range(0, len(rows), _COPIED):
        copied[start : start + _COPIED] = vectors[rows[start : start + _COPIED]]
    return copied


def _warn_of_no_pairs(nearest: npt.NDArray[np.float32], above: float, below: float) -> None:
    """Say how near the nearest different lines are, where none are as near as asked for."""
    closest = f"; the closest below {below:g} has {nearest.max():.3f}; choose a lower minimum" if len(nearest) else ""
    warnings.warn(f"no two lines have a cosine of {above:g} to {below:g}{closest}", stacklevel=3)


def _check_suffix(output: str) -> None:
    """Mined paraphrases are TSV, so their file is not named like another format; ConfigError before any work."""
    suffix = without_compression(output).suffix
    if suffix != ".tsv" and suffix in READERS:
        raise ConfigError(
            f"mined pairs are tab-separated, not '{suffix}'", file=output, remedy="Name the output .tsv, or .tsv.gz."
        )


@contextmanager
def _encoded_corpus(
    model: EncoderLike,
    corpus: str | Path,
    vectors: str | Path | None,
    rejected: RejectedLines | None = None,
) -> Iterator[tuple[Path, npt.NDArray[np.float32]]]:
    """The corpus as an uncompressed file of lines, and its vectors, memory-mapped."""
    if rejected is None and without_compression(corpus).suffix != ".tsv":
        check_lines(Path(corpus))
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / without_compression(corpus).name  # which warnings have
        count = 0
        with lines.open("w", encoding="utf-8", newline="\n") as stream:
            for line in read_lines(corpus) if rejected is None else rejected.read(str(corpus)):
                stream.write(f"{line}\n")
                count += 1
        file = Path(folder) / "vectors.npy" if vectors is None else vectors
        if vectors is None:
            encode_file(model, str(lines), file)
        stored = _load_vectors(file)
        if len(stored) != count:
            problem = f"{len(stored):,} vectors for the {count:,} lines of {corpus}"
        else:
            problem = "" if vectors is None else _difference(model, lines, stored, corpus)
        if problem:
            raise DataError(problem, file=file, remedy="Encode the corpus again, or leave the vectors out.")
        yield lines, stored


def _difference(model: EncoderLike, lines: Path, stored: npt.NDArray[np.float32], corpus: str | Path) -> str:
    """How stored vectors differ from those that the encoder gives lines spread over the text; "" where they do not."""
    rows = np.unique(np.linspace(0, len(stored) - 1, _COMPARED).astype(np.int64))[: len(stored)]
    others = rows_of_others(model.encode, list(lines_at(lines, rows)), stored, rows)
    if not len(others):
        return ""
    return (
        f"the encoder gives other vectors to {len(others)} of {len(rows)} lines of {corpus}, such as line "
        f"{others[0] + 1:,}: these are of another text or another encoder"
    )


def _load_vectors(file: str | Path) -> npt.NDArray[np.float32]:
    try:
        stored: npt.NDArray[np.float32] = map_array(file)
    except DataError as error:
        raise DataError(
            f"the vectors cannot be read ({error.what})",
            file=file,
            remedy="Give a .npy file that `paraloom encode` wrote, or leave the vectors out.",
        ) from None
    try:
        check_vectors(stored)
    except DataError as error:
        raise error.at(file=file) from None
    return stored
