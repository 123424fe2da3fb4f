"""Word vectors out of an encoder of sentences: each word encoded alone, reduced, and weighted by how rare it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.io import open_write, read_lines

_CHUNK = 2048
# Numbers beyond the encoder's, beside its own: zeros would never learn anything.
_DRAWN = 0.1


def word_vectors(
    words: Sequence[str],
    counts: Sequence[int],
    encoder: EncoderLike,
    dimension: int,
    *,
    rarity: float = 1e-3,
    length: float = 0.0,
    widen: bool = False,
) -> npt.NDArray[np.float32]:
    """float32 (n, dimension): what the encoder makes of each word alone, as model2vec has it.

    The vectors' mean is drawn off and their `dimension` strongest directions are kept (principal components).  A word
    that is a share p of all is weighted by a / (a + p), a being `rarity` (Arora et al. 2017); 0: all alike.
    `length`: of every vector before it is weighted; 0: as it comes.
    With `widen` the numbers that the encoder lacks are drawn by chance, a tenth as large; without, ConfigError is
    raised where it has fewer than `dimension`.

    >>> word_vectors(["cat", "dog"], [3, 1], encoder, 200).shape                      # doctest: +SKIP
    (2, 200)
    """
    if dimension > encoder.dimension and not widen:
        raise ConfigError(
            f"the encoder's vectors have {encoder.dimension} numbers, and {dimension} are wanted",
            remedy=f"Ask for {encoder.dimension} or fewer.",
        )
    vectors = np.empty((len(words), encoder.dimension), np.float32)
    with progress("encoding words", len(words), unit="words") as advance:
        for start in range(0, len(words), _CHUNK):
            chunk = words[start : start + _CHUNK]
            vectors[start : start + len(chunk)] = encoder.encode(chunk)
            advance(len(chunk))
    vectors -= vectors.mean(axis=0)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    strongest = directions[:, ::-1][:, :dimension]
    # The sign of a direction is the solver's whim; the largest of its numbers is made positive.
    strongest = strongest * np.sign(strongest[np.abs(strongest).argmax(axis=0), np.arange(strongest.shape[1])])
    reduced: npt.NDArray[np.float32] = vectors @ strongest
    if length:
        reduced *= np.float32(length) / np.maximum(np.linalg.norm(reduced, axis=1, keepdims=True), np.float32(1e-6))
    if dimension > reduced.shape[1]:
        drawn = generator(0).standard_normal((len(words), dimension - reduced.shape[1]), np.float32)
        reduced = np.hstack([reduced, np.float32(_DRAWN) * reduced.std() * drawn])
    if rarity:
        shares = np.asarray(counts, np.float64) / max(1, sum(counts))
        reduced *= (rarity / (rarity + shares)).astype(np.float32)[:, None]
    return reduced


def read_words(path: str | Path, limit: int | None = None) -> tuple[list[str], list[int]]:
    """The words of a list and their counts: `word count` lines, or `word` lines, commonest first (Zipf's law then).

    Raises DataError with the row for a count that is none, and for a word that is there twice.
    """
    words: dict[str, int] = {}
    bare = False
    for row, line in enumerate(islice(read_lines(path), limit), 1):
        fields = line.split()
        if not fields:
            continue
        bare = bare or len(fields) == 1
        if fields[0] in words:
            raise DataError(f"the word '{fields[0]}' is there twice", file=path, row=row)
        if len(fields) > 2 or (len(fields) == 2 and not fields[1].isdigit()):
            raise DataError("a word and its count are expected", file=path, row=row)
        words[fields[0]] = int(fields[1]) if len(fields) == 2 else 0
    if not words:
        raise DataError("there are no words", file=path)
    counts = [round(1e9 / rank) for rank in range(1, len(words) + 1)] if bare else list(words.values())
    return list(words), counts


def write_vectors(path: str | Path, words: Iterable[str], vectors: npt.NDArray[np.float32]) -> None:
    """Write a text file as word2vec's: `count width`, then a word and its numbers a line; compressed by its suffix."""
    with open_write(path) as stream:
        stream.write(f"{len(vectors)} {vectors.shape[1]}\n".encode())
        for word, vector in zip(words, vectors, strict=True):
            stream.write(f"{word} {' '.join(f'{number:.5g}' for number in vector.tolist())}\n".encode())
