"""Interpolated n-gram language models of characters or words, trained and applied without extras."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Floats, Ids, Ints
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import DataError
from paraloom.pairs.scoring import witten_bell_kernels as kernels
from paraloom.text.buffers import Texts, code_points
from paraloom.text.normalize import normalize
from paraloom.text.token_kernels import insert
from paraloom.text.tokens import TokenLists, token_hash, tokenize

Units: TypeAlias = Literal["characters", "words"]

ORDERS: dict[Units, int] = {"characters": 6, "words": 3}
"""Units → default order of the n-grams."""

FILE = "language_model.safetensors"
BEGIN, END, UNKNOWN = (np.uint64(token_hash(mark)) for mark in ("<s>", "</s>", "<unk>"))
_BATCH_SYMBOLS = 1_000_000


@dataclass(frozen=True, eq=False)
class WittenBellModel:
    """An n-gram model with Witten–Bell smoothing: each order is interpolated with the next lower one.

    It knows how often each n-gram occurs, and how often and with how many different continuations each history. The
    lowest order is the uniform distribution over the vocabulary, the end of the sentence and one unknown symbol. See
    Witten and Bell 1991, "The zero-frequency problem"; Chen and Goodman 1998, §2.5.
    """

    ngrams: Ids  # Ids of the n-grams of all orders, uint64 `(g,)`, ascending
    counts: Ints  # How often each occurs, int64 `(g,)`
    histories: Ids  # Ids of the histories, uint64 `(h,)`, ascending
    stats: Ints  # Occurrences and different continuations of each history, int64 `(h, 2)`
    symbols: Ids  # Ids of the known characters or words, uint64 `(v,)`, ascending
    order: int  # Maximum order of the n-grams
    units: Units  # 'characters' (in their original case) or 'words' (lower-cased)
    digest: str = ""  # Digest of the file that the model was loaded from

    @property
    def signature(self) -> str:
        """Units, order, number of n-grams, and the digest of the file."""
        return signature(
            "witten-bell", units=self.units, order=self.order, ngrams=len(self.ngrams), digest=self.digest or "none"
        )

    def logprobs(self, texts: Texts, *, ended: bool = True) -> Floats:
        """Compute the natural logarithm of the probability of sentences."""
        return self._logprobs(_symbols(texts, self.units), ended)

    def perplexity(self, texts: Texts) -> Float32s:
        """Compute the perplexity of sentences per character or word; the end of the sentence counts as one."""
        lists = _symbols(texts, self.units)
        lengths = np.where(lists.lengths > 0, lists.lengths + 1, np.nan)
        return np.exp(-self._logprobs(lists) / lengths).astype(np.float32)

    def save(self, folder: Path) -> None:
        from safetensors.numpy import save

        folder.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(self, name) for name in ("ngrams", "counts", "histories", "stats", "symbols")}
        settings = {"order": np.array([self.order]), "characters": np.array([int(self.units == "characters")])}
        (folder / FILE).write_bytes(save({**arrays, **settings}))

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[np.generic]], path: Path) -> WittenBellModel:
        """Make the model of the arrays that `save` wrote."""
        parts = {name: arrays[name] for name in ("ngrams", "counts", "histories", "stats", "symbols")}
        units: Units = "characters" if arrays["characters"][0] else "words"
        return cls(**parts, order=int(arrays["order"][0]), units=units, digest=file_digest(path)[:12])  # type: ignore[arg-type]

    def _logprobs(self, lists: TokenLists, ended: bool = True) -> Floats:
        known = kernels.replace_unknown(lists.ids, self._known, UNKNOWN)
        ids, offsets = kernels.framed(known, lists.offsets, BEGIN, END, ended)
        return kernels.logprobs(ids, offsets, self.order, *self._tables, len(self.symbols) + 2)

    @cached_property
    def _known(self) -> Ids:
        table = np.zeros(kernels.slots_for(len(self.symbols)), np.uint64)
        insert(self.symbols, table)
        return table

    @cached_property
    def _tables(self) -> tuple[Ids, Ints, Ids, Ints]:
        return (
            *_table(self.ngrams, self.counts, len(self.ngrams)),
            *_table(self.histories, self.stats, len(self.histories)),
        )


def train_witten_bell(batches: Iterable[Texts], *, units: Units = "characters", order: int = 0) -> WittenBellModel:
    """Train an interpolated n-gram model on sentences, unpruned; some 100 bytes for each different n-gram."""
    order = order or ORDERS[units]
    symbols = np.empty(0, np.uint64)
    ngrams, counts = np.zeros(16, np.uint64), np.zeros(16, np.int64)
    histories, stats = np.zeros(16, np.uint64), np.zeros((16, 2), np.int64)
    entries = 0
    for batch in batches:
        lists = _symbols(batch, units)
        symbols = np.union1d(symbols, lists.ids)
        filled = np.flatnonzero(lists.lengths)
        for rows in np.array_split(filled, 1 + len(lists.ids) // _BATCH_SYMBOLS):
            part = TokenLists(
                np.concatenate([lists[row] for row in rows]) if len(rows) else np.empty(0, np.uint64),
                np.concatenate([[0], np.cumsum(lists.lengths[rows])]),
            )
            ids, offsets = kernels.framed(part.ids, part.offsets, BEGIN, END, True)
            room = entries + order * len(ids)
            if 2 * room > len(ngrams):
                ngrams, counts = _table(*_entries(ngrams, counts), 2 * room)
                histories, stats = _table(*_entries(histories, stats), 2 * room)
            entries += kernels.count_ngrams(ids, offsets, order, ngrams, counts, histories, stats)
    if not entries:
        raise DataError("the corpus has no sentences to train a language model on")
    return WittenBellModel(*_entries(ngrams, counts), *_entries(histories, stats), symbols, order, units)


def _symbols(texts: Texts, units: Units) -> TokenLists:
    if units == "words":
        return tokenize(texts)
    points, offsets = code_points(normalize(texts))
    return TokenLists(points.astype(np.uint64), offsets)


def _table(keys: Ids, values: Ints, entries: int) -> tuple[Ids, Ints]:
    slots = kernels.slots_for(entries)
    table, table_values = np.zeros(slots, np.uint64), np.zeros((slots, *values.shape[1:]), np.int64)
    kernels.insert_counts(keys, values, table, table_values)
    return table, table_values


def _entries(table: Ids, values: Ints) -> tuple[Ids, Ints]:
    """The entries of a hash table, by ascending key."""
    filled = np.flatnonzero(table)
    filled = filled[np.argsort(table[filled])]
    return table[filled], values[filled]
