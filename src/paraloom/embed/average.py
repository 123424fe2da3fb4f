"""Sentences in, vectors out: averages of unit vectors, summed and concatenated as the spec says, in numpy and numba."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.digests import signature
from paraloom.core.errors import DataError
from paraloom.embed import average_kernels
from paraloom.embed.spec import Spec
from paraloom.embed.vocabulary import Vocabulary

Vectors = npt.NDArray[np.float32]

# Sentences a kernel call takes: their tokens and vectors stay in the processor's cache.
_CHUNK = 2048


class Part(Protocol):
    """One part of an encoder at rest.  What is not an average of units (an LSTM, say) implements the same."""

    vocabulary: Vocabulary

    @property
    def vectors(self) -> Vectors:
        """float32 (V, d), of the vocabulary's entries."""

    @property
    def dimension(self) -> int:
        """How many numbers it adds."""

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.generic]]:
        """All that is stored beside its vocabulary."""

    def add(self, texts: pa.Array, out: Vectors, column: int) -> npt.NDArray[np.bool_]:
        """Add its vector of text i to out[i, column : column + dimension]; returns which texts it knew anything of."""


class Average:
    """Mean of the vectors of a text's known units: PNMT's WORD and TRIGRAM, W17's AVG.

    table: (V, d), float32, or int8 that `scales` float32 (V,) multiplies row by row.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        table: npt.NDArray[np.float32] | npt.NDArray[np.int8],
        scales: Vectors | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.table = table
        self.scales = np.ones(len(table), np.float32) if scales is None else scales

    @property
    def dimension(self) -> int:
        return self.table.shape[1]

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.generic]]:
        return {"table": self.table, "scales": self.scales} if self.table.dtype == np.int8 else {"table": self.table}

    @property
    def vectors(self) -> Vectors:
        """float32 (V, d), the table with its scales applied."""
        return self.table.astype(np.float32) * self.scales[:, None]

    def add(self, texts: pa.Array, out: Vectors, column: int) -> npt.NDArray[np.bool_]:
        lists = self.vocabulary.lists(texts)
        average_kernels.add_means(lists.rows, lists.offsets, self.table, self.scales, out, column, 0, len(out))
        return np.diff(lists.offsets) > 0


class SentenceEncoder:
    """A composition of parts that meets `core.protocols.EncoderLike`; `load_encoder` opens one, `train_encoder` makes one.

    threads: how many share the work of `encode`; the vectors are the same for any number.

    >>> from paraloom.embed.spec import parse_spec
    >>> part = Average(Vocabulary("word", ["a", "dog"]), np.float32([[1, 0], [0, 1]]))
    >>> SentenceEncoder(parse_spec("word"), {"word": part}).encode(["A dog"])
    array([[0.5, 0.5]], dtype=float32)
    """

    def __init__(self, spec: Spec, parts: Mapping[str, Part], threads: int = 1) -> None:
        self.spec = spec
        self.parts = dict(parts)
        self.threads = threads

    @property
    def part_dimension(self) -> int:
        """Width of each part, which is that of each block."""
        return self.parts[self.spec.parts[0]].dimension

    @property
    def dimension(self) -> int:
        return self.spec.width(self.part_dimension)

    @cached_property
    def signature(self) -> str:
        """Name, spec, width and a digest of everything that the vectors depend on."""
        state = hashlib.sha256()
        for name in self.spec.parts:
            part = self.parts[name]
            state.update(f"{name}\n".encode() + part.vocabulary.identity)
            for tensor in part.tensors.values():
                state.update(np.ascontiguousarray(tensor).data)
        return signature("encoder", spec=self.spec, dimension=self.dimension, vectors=state.hexdigest()[:12])

    def encode(self, sentences: Sequence[str] | pa.Array) -> Vectors:
        """float32 (n, d), one row a sentence, not normalised.

        A part that knows no unit of a sentence leaves its numbers 0; a sentence that no part knows anything of has
        the zero vector, and one warning says how many there were.
        """
        vectors = np.zeros((len(sentences), self.dimension), np.float32)
        known = np.zeros(len(sentences), np.bool_)
        columns = self.spec.columns(self.part_dimension)

        def fill(start: int) -> None:
            chunk = sentences[start : start + _CHUNK]
            texts = chunk if isinstance(chunk, pa.Array) else pa.array(chunk, pa.large_string())
            span = slice(start, start + len(texts))
            for name, column in columns.items():
                known[span] |= self.parts[name].add(texts, vectors[span], column)

        starts = range(0, len(sentences), _CHUNK)
        if self.threads > 1 and len(starts) > 1:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(fill, starts))
        else:
            for start in starts:
                fill(start)
        unknown = len(known) - int(known.sum())
        if unknown:
            warnings.warn(
                f"{unknown} of {len(known)} sentences have no unit that the encoder knows: their vectors are zero",
                stacklevel=2,
            )
        return vectors


def similarity(encoder: SentenceEncoder, a: Sequence[str], b: Sequence[str]) -> Vectors:
    """Cosine of each sentence of `a` with the same one of `b`, float32 (n,), −1 to 1; 0 where a vector is zero."""
    x, y = unit(encoder.encode(a)), unit(encoder.encode(b))
    if len(x) != len(y):
        raise DataError(f"{len(x)} sentences stand against {len(y)}")
    cosines: Vectors = np.einsum("nd,nd->n", x, y)
    return cosines


def unit(vectors: Vectors) -> Vectors:
    """Each row divided by its length; zero rows stay zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = np.divide(vectors, norms, where=norms > 0, out=np.zeros_like(vectors))
    return scaled


def quantise(encoder: SentenceEncoder) -> SentenceEncoder:
    """The same encoder with its averaging tables in int8, each row with a scale of its own: a quarter of the size."""
    return SentenceEncoder(
        encoder.spec, {name: _in_bytes(part) for name, part in encoder.parts.items()}, encoder.threads
    )


def _in_bytes(part: Part) -> Part:
    if not isinstance(part, Average) or part.table.dtype == np.int8:
        return part
    peaks = np.abs(part.table).max(axis=1, initial=0)
    scales = np.where(peaks > 0, peaks / 127, 1).astype(np.float32)
    return Average(part.vocabulary, np.rint(part.table / scales[:, None]).astype(np.int8), scales)
