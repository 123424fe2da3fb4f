"""Sentence pairs as training wants them: those fit for use, numbered, with a key for each sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.digests import digest
from paraloom.core.errors import DataError
from paraloom.embed import list_kernels
from paraloom.embed.numbering import Numbered, Numbering
from paraloom.embed.units import UNITS
from paraloom.embed.vocabulary import Vocabulary
from paraloom.io.atomic import disk_full_as_error


@runtime_checkable
class Batched(Protocol):
    """What has `batches`, as `core.io.Corpus` does."""

    def batches(self, columns: list[str]) -> Iterable[pa.RecordBatch]:
        """Record batches with these columns."""


Pairs: TypeAlias = Batched | Iterable[pa.RecordBatch]
"""A corpus, or record batches, with the text columns `src` and `tgt`."""


@dataclass(frozen=True)
class TrainingPairs:
    """n pairs to train on: sentences 2i and 2i + 1 are the sides of pair i.

    keys: uint64 (2n,), equal for sentences of the same words, in the same order where that counts.
    digest: of all of it.

    counts: `read` = `used` + `empty` (a side without a word) + `too_long` (a side of more than max_tokens words).
    """

    units: dict[str, Numbered]
    keys: npt.NDArray[np.uint64]
    counts: dict[str, int]
    digest: str

    def __len__(self) -> int:
        return self.counts["used"]


def stream_pairs(
    pairs: Pairs,
    folder: Path,
    max_tokens: int,
    sizes: Mapping[str, int],
    known: Mapping[str, Vocabulary] | None = None,
    *,
    ordered: bool = False,
) -> TrainingPairs:
    """Number the units of every pair into files in `folder`; no text stays in memory.

    sizes: entries of the vocabulary of each kind of unit, which is counted on the way; `known`: vocabularies that are
    settled already instead.  ordered: whether sentences of the same words in another order are
    different ones.  Raises DataError where no pair is left.
    """
    counts = {"read": 0, "used": 0, "empty": 0, "too_long": 0}
    with disk_full_as_error(folder), Numbering(folder, sizes, known) as numbering:
        keys = numbering.file("keys")
        for texts in _usable(pairs, max_tokens, counts):
            keys.append(_keys(texts, ordered))
            numbering.add(texts)
    if not counts["used"]:
        raise DataError(
            f"no pair is left to train on: of {counts['read']}, {counts['empty']} empty, {counts['too_long']} too long",
            remedy=f"A pair has two sides of 1 to {max_tokens} words.",
        )
    return TrainingPairs(numbering.numbered(), keys.mapped(np.uint64), counts, digest(numbering.digests))


def _usable(pairs: Pairs, max_tokens: int, counts: dict[str, int]) -> Iterable[pa.Array]:
    """The texts of each batch, the sides of a pair one after the other, without the pairs that cannot be used."""
    batches = pairs.batches(["src", "tgt"]) if isinstance(pairs, Batched) else pairs
    for batch in batches:
        for column in ("src", "tgt"):
            if column not in batch.schema.names:
                raise DataError(
                    f"column '{column}' is missing; there are {', '.join(batch.schema.names) or 'none'}",
                    remedy="An encoder learns from pairs: a src and a tgt of the same meaning.",
                )
        sides = [batch.column(column).cast(pa.large_string()).fill_null("") for column in ("src", "tgt")]
        count = batch.num_rows
        texts = pa.concat_arrays(sides).take(pa.array(np.arange(2 * count).reshape(2, count).T.ravel()))
        lengths = UNITS["word"].cut(texts).lengths.reshape(count, 2)
        empty = (lengths == 0).any(axis=1)
        too_long = (lengths > max_tokens).any(axis=1) & ~empty
        kept = ~(empty | too_long)
        counts["read"] += count
        counts["empty"] += int(empty.sum())
        counts["too_long"] += int(too_long.sum())
        counts["used"] += int(kept.sum())
        if kept.any():
            yield texts.filter(pa.array(np.repeat(kept, 2)))


def _keys(texts: pa.Array, ordered: bool) -> npt.NDArray[np.uint64]:
    lists = UNITS["word"].cut(texts)
    make = list_kernels.list_keys if ordered else list_kernels.bag_keys
    keys: npt.NDArray[np.uint64] = make(lists.ids, lists.offsets)
    return keys
