"""Word vectors: read from files to start a training with, distilled from an encoder, and written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paraloom.core.array_types import Float32s, Ints
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.embed.average import Average, SentenceEncoder, principal_directions
from paraloom.embed.spec import parse_spec
from paraloom.embed.vocabulary import UNITS, Vocabulary, VocabularyCounter
from paraloom.io import open_write, read_lines
from paraloom.io.arrays import map_array
from paraloom.text.buffers import Texts

FILE = "vectors.txt.gz"  # The file in a folder of word vectors, as the stage `distill-words` writes it

_CHUNK = 2048
# Standard deviation of padded dimensions relative to the others: zeros would never receive a gradient.
_PADDING_STD = 0.1


class PretrainedVectors(NamedTuple):
    """Vectors from a file for the entries of a vocabulary."""

    rows: Ints
    vectors: Float32s
    lines: int


def read_vectors(path: str | Path, vocabulary: Vocabulary, dimension: int | None = None) -> PretrainedVectors:
    """Read vectors of words from text (word2vec, GloVe, fastText) or `.npy`; else those of another capitalization."""
    path = vectors_file(path)
    row_of = {entry: row for row, entry in enumerate(vocabulary.entries)}
    exact: dict[int, Float32s] = {}
    capitalized: dict[int, Float32s] = {}
    lines = 0
    if path.suffix == ".npy":
        return _read_array(path, row_of, dimension)
    for number, word, rest in _lines_of_vectors(path, dimension):
        lines += 1
        row = row_of.get(word)
        if row is not None and row not in exact:
            exact[row] = _parse_numbers(rest, path, number)
        elif row is None and (row := row_of.get(word.lower())) is not None and row not in capitalized:
            capitalized[row] = _parse_numbers(rest, path, number)
    by_row = capitalized | exact
    if not by_row:
        raise _no_words(lines, len(vocabulary), path, "Each line must be a word and its numbers, separated by spaces.")
    rows = np.array(sorted(by_row), np.int64)
    return PretrainedVectors(rows, np.stack([by_row[row] for row in rows.tolist()]), lines)


def _lines_of_vectors(path: Path, dimension: int | None) -> Iterator[tuple[int, str, str]]:
    """The number of each line, its word, and its numbers, of which there are as many as in the first line."""
    width = 0
    for number, line in _without_header(path):
        word, _, rest = line.rstrip().partition(" ")
        columns = rest.count(" ") + 1
        if not width:
            width = columns
            _check_width(width, dimension, path, number)
        if columns > width:
            # Some released files have words with spaces in them: the numbers are the last columns.
            word, *numbers = line.rstrip().rsplit(" ", width)
            rest = " ".join(numbers)
        elif columns < width:
            raise DataError(f"expected {width} numbers as in the first line, got {columns}", file=path, row=number)
        yield number, word, rest


def _without_header(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text file of vectors; two integers on the first one say how many there are."""
    for number, line in enumerate(read_lines(path), 1):
        if number > 1 or not re.fullmatch(r"\s*\d+\s+\d+\s*", line):
            yield number, line


def _read_array(path: Path, row_of: Mapping[str, int], dimension: int | None) -> PretrainedVectors:
    listed = path.with_suffix(".txt")
    if not listed.is_file():
        raise DataError(
            f"the words of its rows are missing: '{listed.name}' not found",
            file=path,
            remedy=f"Write one word per line, in the order of the rows, into '{listed}'.",
        )
    words = list(read_lines(listed))
    vectors = map_array(path)
    if vectors.ndim != 2 or len(vectors) != len(words) or vectors.dtype.kind not in "fiu":
        raise DataError(
            f"expected {len(words)} rows of numbers, one for each line of '{listed.name}', "
            f"got shape {vectors.shape} of {vectors.dtype}",
            file=path,
        )
    _check_width(vectors.shape[1], dimension, path, 1)
    position_of: dict[int, int] = {}
    for spelled in (words, map(str.lower, words)):
        for position, word in enumerate(spelled):
            if word in row_of:
                position_of.setdefault(row_of[word], position)
    if not position_of:
        raise _no_words(len(words), len(row_of), path, f"Check the words in '{listed.name}'.")
    rows = np.array(sorted(position_of), np.int64)
    selected = np.array([position_of[row] for row in rows.tolist()])
    chosen = np.asarray(vectors[selected], np.float32)
    faulty = np.flatnonzero(~np.isfinite(chosen).all(axis=1))
    if len(faulty):
        raise DataError("a value is not finite", file=path, row=int(selected[faulty[0]]) + 1)
    return PretrainedVectors(rows, chosen, len(words))


def _no_words(lines: int, entries: int, path: Path, remedy: str) -> DataError:
    message = f"none of the {lines:,} words in the file is in the vocabulary of {entries:,}"
    return DataError(message, file=path, remedy=remedy)


def read_vector_words(path: str | Path) -> list[str]:
    """The words of a file of vectors, lower-cased, in the order of their first occurrence."""
    path = vectors_file(path)
    if path.suffix == ".npy":
        words = read_lines(path.with_suffix(".txt"))
    else:
        words = (line.partition(" ")[0] for _, line in _without_header(path))
    return list(dict.fromkeys(map(str.lower, words)))


def vector_width(path: str | Path) -> int:
    path = vectors_file(path)
    if path.suffix == ".npy":
        vectors = map_array(path)
        if vectors.ndim != 2:
            raise DataError(f"expected an array of two dimensions, got {vectors.ndim}", file=path)
        return int(vectors.shape[1])
    for _, line in _without_header(path):
        return len(line.split()) - 1
    raise DataError("the file has no vectors", file=path)


def vectors_file(path: str | Path) -> Path:
    """The path itself, or `FILE` in it where it is a folder."""
    return Path(path) / FILE if Path(path).is_dir() else Path(path)


def _check_width(width: int, dimension: int | None, path: str | Path, row: int) -> None:
    if dimension is not None and width != dimension:
        raise DataError(
            f"expected vectors of dimension {dimension}, got {width}",
            file=path,
            row=row,
            remedy=f"Set dimension = {width}.",
        )


def _parse_numbers(text: str, path: str | Path, row: int) -> Float32s:
    try:
        numbers = np.array(text.split(" "), np.float32)
    except ValueError as error:
        raise DataError(f"not a number: {error}", file=path, row=row) from None
    if not np.isfinite(numbers).all():
        raise DataError("a value is not finite", file=path, row=row)
    return numbers


def distill_word_vectors(
    words: Sequence[str],
    counts: Sequence[int],
    encoder: EncoderLike,
    dimension: int,
    *,
    sif_coefficient: float = 1e-3,
    norm: float = 0.0,
    pad_dimensions: bool = False,
) -> Float32s:
    """Encode each word alone, reduce by PCA, and weight words by rarity (SIF, Arora et al. 2017), as model2vec does."""
    if dimension > encoder.dimension and not pad_dimensions:
        raise ConfigError(
            f"the encoder has {encoder.dimension} dimensions, fewer than the {dimension} that were asked for",
            remedy=f"Ask for {encoder.dimension} or fewer.",
        )
    vectors = encode_words(words, encoder)
    vectors -= vectors.mean(axis=0)
    reduced: Float32s = vectors @ principal_directions(vectors.T @ vectors, dimension)
    return weight_by_rarity(reduced, counts, dimension, sif_coefficient=sif_coefficient, norm=norm)


def encode_words(words: Sequence[str], encoder: EncoderLike) -> Float32s:
    """The vectors of n words, each encoded alone, float32 `(n, d)`."""
    vectors = np.empty((len(words), encoder.dimension), np.float32)
    with progress("encoding words", len(words), unit="words") as advance:
        for start in range(0, len(words), _CHUNK):
            chunk = words[start : start + _CHUNK]
            vectors[start : start + len(chunk)] = encoder.encode(chunk)
            advance(len(chunk))
    return vectors


def weight_by_rarity(
    vectors: Float32s, counts: Sequence[int], dimension: int, *, sif_coefficient: float = 1e-3, norm: float = 0.0
) -> Float32s:
    """Scale word vectors to a norm, pad them to a dimension with small random values, and weight rare words more."""
    reduced = vectors
    if norm:
        reduced = (
            reduced * np.float32(norm) / np.maximum(np.linalg.norm(reduced, axis=1, keepdims=True), np.float32(1e-6))
        )
    if dimension > reduced.shape[1]:
        padding = generator(0).standard_normal((len(reduced), dimension - reduced.shape[1]), np.float32)
        reduced = np.hstack([reduced, np.float32(_PADDING_STD) * reduced.std() * padding])
    if sif_coefficient:
        frequencies = np.asarray(counts, np.float64) / max(1, sum(counts))
        reduced = reduced * (sif_coefficient / (sif_coefficient + frequencies)).astype(np.float32)[:, None]
    return reduced


def read_words(path: str | Path, limit: int | None = None) -> tuple[list[str], list[int]]:
    words: dict[str, int] = {}
    without_counts = False
    for row, line in enumerate(islice(read_lines(path), limit), 1):
        fields = line.split()
        if not fields:
            continue
        without_counts = without_counts or len(fields) == 1
        if fields[0] in words:
            raise DataError(f"the word '{fields[0]}' is repeated", file=path, row=row)
        if len(fields) > 2 or (len(fields) == 2 and not (fields[1].isdecimal() and len(fields[1]) <= 18)):
            raise DataError(f"expected a word and its count, got '{line.strip()[:60]}'", file=path, row=row)
        words[fields[0]] = int(fields[1]) if len(fields) == 2 else 0
    if not words:
        raise DataError("the file contains no words", file=path)
    if without_counts:
        return list(words), [round(1e9 / rank) for rank in range(1, len(words) + 1)]
    return list(words), list(words.values())


def write_vectors(path: str | Path, words: Iterable[str], vectors: Float32s) -> None:
    """Write word vectors as text in the format of word2vec, compressed according to the suffix."""
    with open_write(path) as stream:
        stream.write(f"{len(vectors)} {vectors.shape[1]}\n".encode())
        for word, vector in zip(words, vectors, strict=True):
            stream.write(f"{word} {' '.join(f'{number:.5g}' for number in vector.tolist())}\n".encode())


_UNIT = "word"
_MAX_WORDS = 10_000_000


def average_vectors(path: str | Path, batches: Iterable[Texts]) -> SentenceEncoder:
    """Average given word vectors, read for the words of the sentences alone: their worth before any training."""
    counter = VocabularyCounter(_UNIT)
    for batch in batches:
        counter.count(batch, UNITS[_UNIT].split(batch))
    words = counter.most_common(_MAX_WORDS).vocabulary
    given = read_vectors(path, words)
    vocabulary = Vocabulary(_UNIT, [words.entries[row] for row in given.rows.tolist()])
    return SentenceEncoder(parse_spec(_UNIT), {_UNIT: Average(vocabulary, given.vectors)})
