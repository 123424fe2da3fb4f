"""Near-duplicates by MinHash or by vectors, which are kept on disk: corpora may be larger than memory.

By MinHash a row takes 216 bytes there at a similarity of 0.8, and 24 more while rows are compared. After a kill, rows
that are not on disk are sketched, and all are compared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import Bools, Ids, Ints
from paraloom.core.config import Config, check_range
from paraloom.core.errors import ConfigError
from paraloom.core.lazy import late
from paraloom.core.progress import progress
from paraloom.core.sorted_ids import find_ids
from paraloom.io.atomic import atomic_write
from paraloom.pairs.filtering.cuts import ROW_ID_COLUMNS

if TYPE_CHECKING:
    from paraloom.text.buffers import Texts

earlier_rows, hash_bands, minhash = (
    late(f"paraloom.pairs.filtering.duplicate_kernels:{name}") for name in ("earlier_rows", "hash_bands", "minhash")
)
hash_spans, text_buffers = late("paraloom.text.token_kernels:hash_spans"), late("paraloom.text.buffers:text_buffers")
without_punctuation = late("paraloom.pairs.filtering.held_out:without_punctuation")
character_ngrams = late("paraloom.text.ngrams:character_ngrams")

SKETCH_SIZE = 64
NGRAM_ORDER = 5
_NONE = np.empty(0, np.uint64)
_CHUNK_ROWS = 1 << 18
_SAVED_ROWS = 1_000_000
"""After so many rows what is on disk counts as done, should the process be killed."""
_TABLE_ROWS = 1 << 21
"""Rows of a band whose buckets are in memory at a time."""
_GATHERED_ROWS = 2048
"""A page of each is in memory while they are compared, and those beside it."""


@dataclass(frozen=True, kw_only=True)
class DuplicateConfig(Config):
    """Groups of rows that are duplicates of each other.

    Args:
        similarity: Jaccard similarity of the character 5-grams of two rows, above 0 to 1, from which on the later one
            is a duplicate. Case, punctuation and runs of white space do not matter.
        columns: Text columns that are compared, concatenated.
    """

    similarity: float = 0.8
    columns: tuple[str, ...] = ("src", "tgt")

    def validate(self) -> None:
        check_range(self, "similarity", above=0, high=1)
        if not self.columns:
            raise ConfigError("'columns' is empty", remedy="Name at least one text column.")


def sketches(texts: Texts, *, plain: bool = False) -> npt.NDArray[np.uint32]:
    """Compute a MinHash sketch of each text.

    The share of positions where two sketches agree estimates the Jaccard similarity of the texts' character 5-grams,
    with a standard error of at most 0.06. Plain texts are in lower case and without punctuation already. See Broder
    1997, "On the resemblance and containment of documents".
    """
    # Texts of one or two letters are padded: without any n-gram all of them would count as equal.
    plain_texts = texts if plain else without_punctuation(texts)
    lists = character_ngrams(pc.utf8_rpad(plain_texts, NGRAM_ORDER - 2), NGRAM_ORDER, lower=not plain)
    return minhash(lists.ids, lists.offsets, SKETCH_SIZE)


class Duplicates(NamedTuple):
    """The near-duplicates of a corpus; rows are known by a hash of their ids and texts, equal rows by the same one."""

    hashes: Ids
    repeated: Ids
    columns: tuple[str, ...]
    rows: int
    total: int = 0


def find_duplicates(
    read: Callable[[Sequence[str]], Iterable[pa.RecordBatch]], scratch: Path, config: DuplicateConfig
) -> Duplicates:
    """Find the rows that are near-duplicates of an earlier row.

    A row is compared with the first row of each bucket that it falls into, so some rows of a chain of small changes
    may remain; of equal texts, all but the first are found. Memory is bounded.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys([*config.columns, *ROW_ID_COLUMNS]))
    sketched = _Sketched(scratch, SKETCH_SIZE // _band_width(config.similarity) + 1)
    for batch in read(columns):
        sketched.add(batch, config)
    rows = sketched.close()
    duplicate = np.zeros(rows, np.bool_)
    # Bits that may differ: no more than the values that may.
    for candidates in sketched.candidates(int(SKETCH_SIZE * (1 - config.similarity))):
        left = candidates[~duplicate[candidates[:, 0]]]
        for start in range(0, len(left), _GATHERED_ROWS):
            later, earlier = left[start : start + _GATHERED_ROWS].T
            # Mapped for these rows only: pages that were read count as memory until then.
            table = np.memmap(sketched.sketches, np.uint8, "r").reshape(rows, SKETCH_SIZE)
            duplicate[later[(table[later] == table[earlier]).mean(1) >= config.similarity]] = True
    return listed_duplicates(sketched.hashes, duplicate, config.columns)


def listed_duplicates(file: Path, duplicate: Bools, columns: tuple[str, ...]) -> Duplicates:
    """The rows that are marked, by their hashes, which a file has in order, and which may be larger than memory."""
    dropped = np.unique(np.concatenate([_NONE, *(chunk[duplicate[part]] for part, chunk in _chunks(file))]))
    others = (chunk[~duplicate[part]] for part, chunk in _chunks(file))
    repeated = np.unique(np.concatenate([_NONE, *(chunk[find_ids(dropped, chunk)[0]] for chunk in others)]))
    return Duplicates(dropped, repeated, columns, len(duplicate), int(duplicate.sum()))


def later_rows(first: Ints, second: Ints, rows: int) -> Bools:
    """The rows that are similar to an earlier one that is not one of them, of pairs of an earlier and a later row."""
    later = np.zeros(rows, np.bool_)
    order = np.lexsort((first, second))
    for earlier, row in zip(first[order].tolist(), second[order].tolist(), strict=True):
        if not later[earlier]:
            later[row] = True
    return later


class _Sketched:
    """Rows on disk: the lower bytes of their sketches, their lowest bits, hashes of ids and texts, and of bands."""

    def __init__(self, folder: Path, bands: int) -> None:
        self.sketches, self.hashes, self._bits = folder / "sketches.u8", folder / "rows.u64", folder / "bits.u64"
        self._folder, self._done = folder, folder / "sketched.json"
        self._bands = [folder / f"band-{band}.u64" for band in range(bands)]
        self.rows = self._saved = json.loads(self._done.read_bytes()) if self._done.exists() else 0
        self._seen = 0
        widths = {self.sketches: SKETCH_SIZE, self.hashes: 8, self._bits: 8, **dict.fromkeys(self._bands, 8)}
        self._files = []
        for path, width in widths.items():
            file = path.open("ab")
            file.truncate(self.rows * width)
            self._files.append(file)

    def add(self, batch: pa.RecordBatch, config: DuplicateConfig) -> None:
        """Sketch the rows that are not on disk; batches come in the same order each time."""
        new = batch.slice(min(batch.num_rows, max(0, self.rows - self._seen)))
        self._seen += batch.num_rows
        if not new.num_rows:
            return
        wide = sketches(_concatenate(new, config.columns))
        # The last band is the whole sketch: equal texts meet in it, whatever else is in the other ones.
        bands = np.concatenate([sketch_bands(wide, config.similarity), hash_bands(wide, SKETCH_SIZE)], axis=1)
        values = wide.astype(np.uint8)
        columns = [values, text_hashes(new, config.columns), np.packbits(values & 1, axis=1), *bands.T]
        for file, column in zip(self._files, columns, strict=True):
            # Not `tofile`, whose errors do not say that the disk is full.
            file.write(np.ascontiguousarray(column).data)
        self.rows += new.num_rows
        if self.rows >= self._saved + _SAVED_ROWS:
            self._save()

    def close(self) -> int:
        """All rows are there: their number."""
        self._save()
        for file in self._files:
            file.close()
        return self.rows

    def _save(self) -> None:
        for file in self._files:
            file.flush()
            os.fsync(file.fileno())
        with atomic_write(self._done) as path:
            path.write_text(json.dumps(self.rows), encoding="utf-8")
        self._saved = self.rows

    def candidates(self, limit: int) -> Iterator[Ints]:
        """Rows that share a band with an earlier row, and the first that has it, if few bits differ: int64 (m, 2)."""
        table = np.zeros((1 << min(self.rows, _TABLE_ROWS).bit_length(), 3), np.uint64)
        with progress("comparing", self.rows * len(self._bands)) as advance:
            for band in self._bands:
                for part in self._partition(band):
                    table[:] = 0
                    for _, entries in _chunks(part, "3u8"):
                        yield earlier_rows(entries, limit, table)
                        advance(len(entries))

    def _partition(self, band: Path) -> list[Path]:
        """Files of hashes, rows and bits, split by hash: a table of each fits into memory."""
        parts = [self._folder / f"part-{part}.u64" for part in range(-(-self.rows // _TABLE_ROWS))]
        with ExitStack() as stack:
            files = [stack.enter_context(path.open("wb")) for path in parts]
            for (rows, hashes), (_, bits) in zip(_chunks(band), _chunks(self._bits), strict=True):
                entries = np.stack([hashes, np.arange(rows.start, rows.stop, dtype=np.uint64), bits], axis=1)
                # By the upper bits: the lower ones are the slots of the table.
                part = (hashes >> np.uint64(48)).astype(np.uint16) % np.uint16(len(parts))
                order = np.argsort(part, kind="stable")
                ends = np.searchsorted(part[order], np.arange(1, len(parts)))
                for file, of_part in zip(files, np.split(entries[order], ends), strict=True):
                    file.write(of_part.data)
        return parts


def _chunks(path: Path, dtype: npt.DTypeLike = np.uint64) -> Iterator[tuple[slice, Ids]]:
    with path.open("rb") as file:
        start = 0
        while len(chunk := np.fromfile(file, dtype, _CHUNK_ROWS)):
            yield slice(start, start + len(chunk)), chunk
            start += len(chunk)


def first_copies(batches: Iterable[pa.RecordBatch], duplicates: Duplicates) -> Iterator[Bools]:
    """Find the rows to keep among those that are repeated: the first one of each."""
    seen = np.zeros(len(duplicates.repeated), np.bool_)
    for batch in batches:
        first = np.zeros(batch.num_rows, np.bool_)
        if len(seen):
            hashes = text_hashes(batch, duplicates.columns)
            repeated = np.flatnonzero(find_ids(duplicates.repeated, hashes)[0])
            positions, indices = np.unique(np.searchsorted(duplicates.repeated, hashes[repeated]), return_index=True)
            new = ~seen[positions]
            first[repeated[indices[new]]] = True
            seen[positions] = True
        yield first


def is_duplicate(batch: pa.RecordBatch, duplicates: Duplicates, first: Bools | None = None) -> Bools:
    """Look up rows among those that `find_duplicates` found."""
    listed, _ = find_ids(duplicates.hashes, text_hashes(batch, duplicates.columns))
    return listed if first is None else listed & ~first


def text_hashes(batch: pa.RecordBatch, columns: Sequence[str]) -> Ids:
    """A hash of the id and the texts of each row."""
    known = set(batch.schema.names)
    names = [name for name in dict.fromkeys([*ROW_ID_COLUMNS, *columns]) if name in known]
    texts = [pc.fill_null(batch.column(name).cast(pa.large_string()), "") for name in names]
    data, offsets = text_buffers(pc.binary_join_element_wise(*texts, pa.scalar("\x1f", pa.large_string())))
    hashes: Ids = hash_spans(data, offsets[:-1], offsets[1:])
    return hashes


def sketch_bands(rows: npt.NDArray[np.uint32], similarity: float) -> Ids:
    """Hashes of parts of each sketch, of which two texts of this similarity share one: uint64 (n, bands)."""
    bands: Ids = hash_bands(rows, _band_width(similarity))
    return bands


def _band_width(similarity: float) -> int:
    """Values per band: the widest band that a pair of this similarity shares with a probability of at least 99.5 %."""
    for width in (32, 16, 8, 4, 2):
        if 1 - (1 - similarity**width) ** (SKETCH_SIZE // width) >= 0.995:
            return width
    return 1


def _concatenate(batch: pa.RecordBatch, columns: tuple[str, ...]) -> pa.Array:
    texts = [pc.fill_null(batch.column(name), "") for name in columns]
    return pc.binary_join_element_wise(*texts, "\n") if len(texts) > 1 else texts[0]
