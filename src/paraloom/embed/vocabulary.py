"""Vocabularies: counted over a stream of sentences, kept as readable lines, looked up by hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.errors import ModelError
from paraloom.embed import list_kernels
from paraloom.embed.units import UNITS
from paraloom.text.buffers import Texts
from paraloom.text.token_kernels import hash_spans
from paraloom.text.tokens import TokenLists

IdArray = npt.NDArray[np.uint64]


class Rows(NamedTuple):
    """n lists of table rows, flat: `rows` int32 (tokens,), list i is rows[offsets[i]:offsets[i+1]], offsets int64."""

    rows: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]


class Vocabulary:
    """The units an encoder has a vector for; entry i belongs to row i.

    unit: a name in UNITS.  entries: as people read them, each once.

    >>> Vocabulary("word", ["a", "dog"]).lists(["A dog, a dog!"]).rows.tolist()
    [0, 1, 0, 1]
    """

    def __init__(self, unit: str, entries: Sequence[str]) -> None:
        self.unit = unit
        self.entries = tuple(entries)

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def identity(self) -> bytes:
        """What decides how texts are cut, for digests."""
        return "\n".join(self.entries).encode()

    def lists(self, texts: Texts) -> Rows:
        """The rows of each text's units; those without one are left out, so a list may be empty."""
        return self.rows(UNITS[self.unit].cut(texts))

    def rows(self, lists: TokenLists) -> Rows:
        """The row of each id; units without one are left out, so a list may become empty."""
        return Rows(*list_kernels.look_up(lists.ids, lists.offsets, *self._table))

    def check(self) -> None:
        """Raises ModelError where an entry is there twice."""
        _ = self._table

    @cached_property
    def _table(self) -> tuple[IdArray, npt.NDArray[np.int32]]:
        keys, values = empty_table(len(self))
        if list_kernels.place(hashes(self.entries), keys, values, 0) != len(self):
            twice = Counter(self.entries).most_common(1)[0][0]
            raise ModelError(f"the {self.unit} vocabulary has '{twice}' twice")
        return keys, values


class Chosen(NamedTuple):
    """A counted vocabulary.  rows: of each provisional number, int32, −1 for none.  shares: of all units, by row."""

    vocabulary: Vocabulary
    rows: npt.NDArray[np.int32]
    shares: npt.NDArray[np.float64]


class VocabularyCounter:
    """Numbers the units of a stream of sentences as they first appear, and counts them; memory grows with the kinds.

    `number` gives provisional numbers, `most_common` the vocabulary and the way from those numbers to its rows: the
    stream is read only once.
    """

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self._spellings: list[str] = []
        self._counts = np.zeros(1 << 15, np.int64)
        self._keys, self._values = empty_table(1 << 14)

    def number(self, texts: Texts, lists: TokenLists) -> npt.NDArray[np.int32]:
        """A provisional number for each id of `lists`, which are the units of `texts`; int32 (tokens,)."""
        self._make_room(len(self._spellings) + len(lists.ids))
        numbers, fresh = list_kernels.intern(lists.ids, self._keys, self._values, self._counts, len(self._spellings))
        if len(fresh):
            owners = np.searchsorted(lists.offsets, fresh, side="right") - 1
            chosen = pa.array(texts, pa.large_string()) if not isinstance(texts, pa.Array) else texts
            self._spellings += UNITS[self.unit].spell(chosen.take(pa.array(owners)), fresh - lists.offsets[owners])
        return numbers

    def counts(self) -> dict[str, int]:
        """How often each unit was met, by its spelling."""
        return dict(zip(self._spellings, self._counts.tolist(), strict=False))

    def most_common(self, size: int) -> Chosen:
        """The `size` commonest units, commonest first, equal counts by spelling.

        A unit that holds a line break is never among them: the vocabulary is kept as lines.
        """
        counts = self._counts[: len(self._spellings)].tolist()
        order = sorted(
            (number for number, spelling in enumerate(self._spellings) if "\n" not in spelling),
            key=lambda number: (-counts[number], self._spellings[number]),
        )[:size]
        rows = np.full(len(self._spellings), -1, np.int32)
        rows[order] = np.arange(len(order), dtype=np.int32)
        shares = self._counts[order] / max(1, self._counts.sum())
        return Chosen(Vocabulary(self.unit, [self._spellings[number] for number in order]), rows, shares)

    def _make_room(self, needed: int) -> None:
        if needed > len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros(needed, np.int64)])
        if 2 * needed > len(self._keys):
            held = self._values >= 0
            ordered = np.empty(len(self._spellings), np.uint64)
            ordered[self._values[held]] = self._keys[held]
            self._keys, self._values = empty_table(2 * needed)
            list_kernels.place(ordered, self._keys, self._values, 0)


def empty_table(entries: int) -> tuple[IdArray, npt.NDArray[np.int32]]:
    """Keys and values (−1: free) of a hash table that stays at most half full with so many entries."""
    size = 1 << max(4, (2 * entries - 1).bit_length())
    return np.zeros(size, np.uint64), np.full(size, -1, np.int32)


def hashes(entries: Sequence[str]) -> IdArray:
    """`core.text.token_hash` of each entry, uint64 (n,)."""
    array = pa.array(entries, pa.large_string())
    if not entries:
        return np.empty(0, np.uint64)
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(array) + 1)
    content = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    for values in (bounds, content):
        values.setflags(write=False)
    return hash_spans(content, bounds[:-1], bounds[1:])
