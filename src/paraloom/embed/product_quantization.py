"""Averages in a megabyte: frequent types, their vectors as codes of groups of dimensions (Jégou et al. 2011)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Floats, Ints
from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.seeds import generator
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.vocabulary import Vocabulary

Codes = npt.NDArray[np.uint8]
Centroids = npt.NDArray[np.float16]

_GROUPS = (48, 24, 12)  # Bytes of a row: the most with which all types have room, or the fewest
_DIMENSIONS = 144  # Of a part, at most
_CENTROIDS, _ROUNDS = 256, 15
_AROUND = 10_000  # Bytes of the card, the configuration and headers

# The type of rank r counts 1 / (r + 1000): counts are not kept with an encoder, and by 1 / r rare words are blurred.
_FIRST_RANK = 1000


class CodedAverage(Average):
    """An average of `vocabulary`, whose row i is `centroids[j, codes[i, j]]` for each group j, one after the other."""

    def __init__(
        self, vocabulary: Vocabulary, codes: Codes, centroids: Centroids, dimension: int | None = None
    ) -> None:
        _check_codes(codes, centroids, dimension)
        rows = centroids[np.arange(codes.shape[1]), codes].astype(np.float32)
        super().__init__(vocabulary, rows.reshape(len(codes), -1))
        self._codes, self._centroids = codes, centroids

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.generic]]:
        return {"codes": self._codes, "centroids": self._centroids}


def _check_codes(codes: Codes, centroids: Centroids, dimension: int | None) -> None:
    agree = codes.ndim == 2 and centroids.ndim == 3 and codes.shape[1] == len(centroids)
    agree = agree and dimension in (None, len(centroids) * centroids.shape[2])
    agree = agree and (codes.dtype, centroids.dtype) == (np.uint8, np.float16)
    if not agree or not codes.size or codes.max() >= centroids.shape[1]:
        raise ModelError(
            f"expected codes of uint8, one for each group of centroids of float16, got {codes.dtype} of shape "
            f"{codes.shape} for centroids of {centroids.dtype} of shape {centroids.shape}"
        )


def product_quantize(encoder: SentenceEncoder, megabytes: float) -> SentenceEncoder:
    """The encoder within so many megabytes: frequent types only, a byte for each group of rotated dimensions."""
    averages = {name: part for name, part in encoder.parts.items() if type(part.vocabulary) is Vocabulary}
    if len(averages) != len(encoder.parts) or not all(isinstance(part, Average) for part in averages.values()):
        raise ConfigError(
            f"'{encoder.spec}' cannot be made smaller: only averages of words and n-grams can",
            remedy="Leave the number of megabytes out.",
        )
    entries = {name: part.vocabulary.entries for name, part in averages.items()}
    for size in _GROUPS:
        groups = min(size, encoder.part_dimension)
        width = groups * min(_DIMENSIONS // size, encoder.part_dimension // groups)
        room = 1e6 * megabytes - _AROUND - len(averages) * 2 * _CENTROIDS * width
        sizes = _rows_within(entries, groups, room)
        if sizes == {name: len(types) for name, types in entries.items()}:
            break
    if not all(sizes.values()):
        raise ConfigError("too few megabytes for an encoder", remedy="Give more, such as 1.")
    parts: dict[str, CodedAverage] = {}
    for block in encoder.spec.blocks:
        weighted = np.concatenate([_weighted(averages[name].vectors) for name in block])
        axes = _axes(weighted)[:, _interleaved(width, groups)]
        for name in block:
            codes, centroids = _coded(averages[name].vectors[: sizes[name]] @ axes, groups)
            unit = averages[name].vocabulary.unit
            parts[name] = CodedAverage(Vocabulary(unit, entries[name][: sizes[name]]), codes, centroids)
    return SentenceEncoder(encoder.spec, parts, encoder.threads, encoder.training)


def _rows_within(entries: Mapping[str, tuple[str, ...]], groups: int, room: float) -> dict[str, int]:
    """As many of the first types of each part, the same share of all of them, as take up to `room` bytes."""
    taken = {name: [0, *accumulate(len(of.encode()) + 1 + groups for of in types)] for name, types in entries.items()}
    for thousandths in range(1000, 0, -1):
        sizes = {name: len(types) * thousandths // 1000 for name, types in entries.items()}
        if sum(taken[name][size] for name, size in sizes.items()) <= room:
            return sizes
    return dict.fromkeys(entries, 0)


def _shares(count: int) -> Floats:
    return 1 / (np.arange(count) + _FIRST_RANK)


def _weighted(vectors: Float32s) -> Float32s:
    return vectors * np.sqrt(_shares(len(vectors))).astype(np.float32)[:, None]


def _axes(rows: Float32s) -> Float32s:
    """Principal axes of rows, the largest first, in columns."""
    axes: Float32s = np.linalg.eigh(rows.T @ rows)[1][:, ::-1]
    return axes


def _interleaved(width: int, groups: int) -> Ints:
    """The order of dimensions in which each group has some of large and some of small variance."""
    order = np.arange(width).reshape(-1, groups)
    order[1::2] = order[1::2, ::-1]
    return order.T.ravel()


def _coded(rows: Float32s, groups: int) -> tuple[Codes, Centroids]:
    """Codes, and for each group its centroids by k-means with the square roots of the types' shares as weights."""
    weights = np.sqrt(_shares(len(rows)))
    draw = generator(1, groups)
    codes, centroids = [], []
    for values in np.split(rows, groups, axis=1):
        count = min(_CENTROIDS, len(values))
        means = values[draw.choice(len(values), count, replace=False, p=weights / weights.sum())]
        for _ in range(_ROUNDS):
            nearest = _nearest(values, means)
            totals = np.bincount(nearest, weights, count)
            sums = np.stack([np.bincount(nearest, weights * column, count) for column in values.T], axis=1)
            means = np.where(totals[:, None] > 0, sums / np.maximum(totals, 1e-9)[:, None], means).astype(np.float32)
        stored = means.astype(np.float16)
        codes.append(_nearest(values, stored.astype(np.float32)).astype(np.uint8))
        centroids.append(stored)
    return np.stack(codes, axis=1), np.stack(centroids)


def _nearest(values: Float32s, means: Float32s) -> Ints:
    nearest: Ints = ((means**2).sum(1) - 2 * values @ means.T).argmin(1)
    return nearest
