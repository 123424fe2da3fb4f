"""Sentence encoders composed of parts, and the part that averages the vectors of words, trigrams or subwords."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.array_types import Bools, Float32s
from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError
from paraloom.embed import average_kernels
from paraloom.embed.spec import Spec
from paraloom.embed.vocabulary import Vocabulary
from paraloom.text.buffers import string_array

MAX_NIBBLE = 7  # The largest absolute value of a packed integer


def pack_nibbles(values: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
    """Pack integers of −7 to 7 two to a byte; the first of each two has the low bits."""
    padded = np.pad(values, ((0, 0), (0, values.shape[1] % 2)))
    unsigned = (padded + MAX_NIBBLE + 1).astype(np.uint8)
    packed: npt.NDArray[np.uint8] = unsigned[:, 0::2] | (unsigned[:, 1::2] << np.uint8(4))
    return packed


def unpack_nibbles(packed: npt.NDArray[np.uint8], width: int) -> npt.NDArray[np.int8]:
    """Undo `pack_nibbles`."""
    unsigned = np.empty((len(packed), 2 * packed.shape[1]), np.uint8)
    unsigned[:, 0::2], unsigned[:, 1::2] = packed & 15, packed >> 4
    return unsigned[:, :width].astype(np.int8) - np.int8(MAX_NIBBLE + 1)


Vectors = Float32s
Real = TypeVar("Real", np.float32, np.float64)

# Sentences of one kernel call: their tokens and vectors stay in the processor's cache.
_CHUNK = 2048
# Bytes of text that an average encodes without numba, which takes longer to import than they take.
_FEW_BYTES = 20_000


class Part(Protocol):
    """A part of an encoder, for inference."""

    vocabulary: Vocabulary

    @property
    def vectors(self) -> Vectors:
        """float32 `(V, d)`, one row per entry of the vocabulary."""

    @property
    def dimension(self) -> int:
        """Dimension d of the part."""

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.generic]]:
        """Everything that is stored in addition to the vocabulary, by name."""

    def add_to(self, texts: pa.Array, out: Vectors, column: int) -> Bools:
        """Add the vectors of n texts to `out[:, column : column + d]`."""


class Average:
    """The mean of the vectors of a text's known tokens: WORD and TRIGRAM of PNMT, AVG of W17."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        table: Float32s | npt.NDArray[np.int8],
        scales: Vectors | None = None,
        bits: Literal[4, 8] = 8,
    ) -> None:
        self.vocabulary = vocabulary
        self.table = table
        self.bits = bits
        self.scales = np.ones(len(table), np.float32) if scales is None else scales
        self._encoded_bytes = 0

    @property
    def dimension(self) -> int:
        return self.table.shape[1]

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.generic]]:
        if self.table.dtype != np.int8:
            return {"table": self.table}
        if self.bits == 4:
            return {"nibbles": pack_nibbles(self.table.astype(np.int8, copy=False)), "scales": self.scales}
        return {"table": self.table, "scales": self.scales}

    @property
    def vectors(self) -> Vectors:
        """float32 `(V, d)`, the table with its scales applied."""
        return self.table.astype(np.float32) * self.scales[:, None]

    def add_to(self, texts: pa.Array, out: Vectors, column: int) -> Bools:
        self._encoded_bytes += texts.nbytes
        if self.vocabulary.is_plain and self._encoded_bytes <= _FEW_BYTES and "numba" not in sys.modules:
            plain = [self.vocabulary.plain_rows(text) for text in string_array(texts).to_pylist()]
            for rows, vector in zip(plain, out, strict=True):
                add_mean(rows, self.table, self.scales, vector[column : column + self.dimension])
            return np.array([bool(rows) for rows in plain])
        lists = self.vocabulary.row_lists(texts)
        average_kernels.add_means(lists.rows, lists.offsets, self.table, self.scales, out, column, 0, len(out))
        return np.diff(lists.offsets) > 0


def add_mean(rows: Sequence[int], table: npt.NDArray[np.int8] | Vectors, scales: Vectors, out: Vectors) -> None:
    """As `average_kernels.add_means` for one list, to the last bit, without numba."""
    if not rows:
        return
    share = np.float32(1) / np.float32(len(rows))
    terms = (share * scales[rows])[:, None] * table[rows].astype(np.float32)
    whole = len(rows) // 4 * 4
    for k in range(0, whole, 4):
        out += (terms[k] + terms[k + 1]) + (terms[k + 2] + terms[k + 3])
    for term in terms[whole:]:
        out += term


class SentenceEncoder:
    """An encoder composed of parts, which `load_encoder` opens; `paraloom.Encoder` is its public face."""

    def __init__(
        self, spec: Spec, parts: Mapping[str, Part], threads: int = 1, training: Mapping[str, object] | None = None
    ) -> None:
        self.spec = spec
        self.parts = dict(parts)
        self.threads = threads
        self.training = dict(training or {})

    @property
    def part_dimension(self) -> int:
        """Dimension of each part, and so of each block."""
        return self.parts[self.spec.parts[0]].dimension

    @property
    def dimension(self) -> int:
        return self.spec.width(self.part_dimension)

    @cached_property
    def signature(self) -> str:
        """Name, architecture, dimension and a digest of everything that the vectors depend on."""
        state = hashlib.sha256()
        for name in self.spec.parts:
            part = self.parts[name]
            state.update(f"{name}\n".encode() + part.vocabulary.identity)
            for tensor in part.tensors.values():
                state.update(np.ascontiguousarray(tensor).data)
        return signature("encoder", spec=self.spec, dimension=self.dimension, vectors=state.hexdigest()[:12])

    def encode(self, sentences: Sequence[str] | pa.Array) -> Vectors:
        """Encode sentences; a part that knows no token leaves its columns 0, and one warning counts zero vectors."""
        vectors = np.zeros((len(sentences), self.dimension), np.float32)
        known = np.zeros(len(sentences), np.bool_)
        columns = self.spec.columns(self.part_dimension)

        def fill(start: int) -> None:
            chunk = sentences[start : start + _CHUNK]
            if not isinstance(chunk, pa.Array):
                # Of few sentences, pa.array takes longer than their encoding: it imports pandas.
                chunk = string_array(chunk) if len(starts) == 1 else pa.array(chunk, pa.large_string())
            span = slice(start, start + len(chunk))
            for name, column in columns.items():
                known[span] |= self.parts[name].add_to(chunk, vectors[span], column)

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
                f"{unknown} of {len(known)} sentences consist of unknown tokens only; their vectors are zero",
                stacklevel=2,
            )
        return vectors


def normalize_vectors(vectors: Vectors) -> Vectors:
    """Divide each row of `(n, d)` by its Euclidean norm; zero rows stay zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = np.divide(vectors, norms, where=norms > 0, out=np.zeros_like(vectors))
    return scaled


def principal_directions(products: npt.NDArray[Real], count: int, *, skipped: int = 0) -> npt.NDArray[Real]:
    """Eigenvectors `(d, count)`, strongest first after the `skipped` ones; the largest entry of each is positive."""
    strongest: npt.NDArray[Real] = np.linalg.eigh(products)[1][:, ::-1][:, skipped : skipped + count]
    strongest = strongest * np.sign(strongest[np.abs(strongest).argmax(axis=0), np.arange(strongest.shape[1])])
    return strongest


def quantize(encoder: SentenceEncoder, bits: Literal[4, 8] = 8) -> SentenceEncoder:
    """The same encoder with the tables of averages in integers and a scale per row."""
    if bits not in (4, 8):
        raise ConfigError(f"'bits' is {bits}; expected 4 or 8")
    parts = {name: _to_integers(part, bits) for name, part in encoder.parts.items()}
    return SentenceEncoder(encoder.spec, parts, encoder.threads)


def _to_integers(part: Part, bits: Literal[4, 8]) -> Part:
    if not isinstance(part, Average) or part.table.dtype == np.int8:
        return part
    largest = MAX_NIBBLE if bits == 4 else 127
    peaks = np.abs(part.table).max(axis=1, initial=0)
    scales = np.where(peaks > 0, peaks / largest, 1).astype(np.float32)
    return Average(part.vocabulary, np.rint(part.table / scales[:, None]).astype(np.int8), scales, bits)
