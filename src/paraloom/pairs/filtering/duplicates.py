"""Near-duplicates by MinHash or by vectors, which are kept on disk: corpora may be larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.config import Config, check_range
from paraloom.core.errors import ConfigError
from paraloom.core.lazy import late
from paraloom.io.database import open_database
from paraloom.pairs.filtering.cuts import ROW_ID_COLUMNS, row_hashes

if TYPE_CHECKING:
    from paraloom.io.database import Connection
    from paraloom.text.buffers import Texts

hash_bands, minhash = (late(f"paraloom.pairs.filtering.duplicate_kernels:{name}") for name in ("hash_bands", "minhash"))
without_punctuation = late("paraloom.pairs.filtering.held_out:without_punctuation")
character_ngrams = late("paraloom.text.ngrams:character_ngrams")

SKETCH_SIZE = 64
NGRAM_ORDER = 5
_FETCHED_ROWS = 100_000


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
    with a standard error of at most 0.06. Plain texts are in lower case and without punctuation already.

    Reference:
        Broder 1997, "On the resemblance and containment of documents".
    """
    # Texts of one or two letters are padded: without any n-gram all of them would count as equal.
    plain_texts = texts if plain else without_punctuation(texts)
    lists = character_ngrams(pc.utf8_rpad(plain_texts, NGRAM_ORDER - 2), NGRAM_ORDER, lower=not plain)
    return minhash(lists.ids, lists.offsets, SKETCH_SIZE)


class Duplicates(NamedTuple):
    """The near-duplicates of a corpus; rows are known by a hash of their ids and texts, equal rows by the same one."""

    hashes: npt.NDArray[np.uint64]
    repeated: npt.NDArray[np.uint64]
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
    rows = 0
    for name in ("bands.duckdb", "bands.duckdb.wal"):
        # What a kill or a full disk left may not open, and would be replaced anyway.
        (scratch / name).unlink(missing_ok=True)
    with open_database(scratch / "bands.duckdb", scratch=scratch / "spilled") as database:
        database.execute("CREATE TABLE bands (row BIGINT, band SMALLINT, hash UBIGINT)")
        with (scratch / "sketches.u32").open("wb") as sketch_file, (scratch / "rows.u64").open("wb") as row_file:
            for batch in read(columns):
                batch_sketches = sketches(_concatenate(batch, config.columns))
                # Not `tofile`, whose errors do not say that the disk is full.
                sketch_file.write(np.ascontiguousarray(batch_sketches).data)
                row_file.write(np.ascontiguousarray(text_hashes(batch, config.columns)).data)
                _store_bands(database, batch_sketches, rows, config.similarity)
                rows += batch.num_rows
        if not rows:
            return Duplicates(np.empty(0, np.uint64), np.empty(0, np.uint64), config.columns, 0)
        table = np.memmap(scratch / "sketches.u32", np.uint32, "r").reshape(rows, SKETCH_SIZE)
        hashes = np.memmap(scratch / "rows.u64", np.uint64, "r")
        duplicate = np.zeros(rows, np.bool_)
        candidates = database.execute(
            "SELECT b.row, f.first FROM bands b JOIN (SELECT band, hash, min(row) AS first FROM bands "
            "GROUP BY band, hash HAVING count(*) > 1) f USING (band, hash) WHERE b.row > f.first"
        )
        while len(chunk := _fetch(candidates)):
            similar = (table[chunk[:, 0]] == table[chunk[:, 1]]).mean(1) >= config.similarity
            duplicate[chunk[similar, 0]] = True
        return listed_duplicates(hashes, duplicate, config.columns)


def listed_duplicates(
    hashes: npt.NDArray[np.uint64], duplicate: npt.NDArray[np.bool_], columns: tuple[str, ...]
) -> Duplicates:
    """The rows that are marked, by their hashes, which may be larger than memory."""
    dropped = np.unique(hashes[duplicate])
    repeated = _repeated(dropped, hashes, duplicate)
    return Duplicates(dropped, repeated, columns, len(duplicate), int(duplicate.sum()))


def later_rows(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], rows: int) -> npt.NDArray[np.bool_]:
    """The rows that are similar to an earlier one that is not one of them, of pairs of an earlier and a later row."""
    later = np.zeros(rows, np.bool_)
    order = np.lexsort((first, second))
    for earlier, row in zip(first[order].tolist(), second[order].tolist(), strict=True):
        if not later[earlier]:
            later[row] = True
    return later


def first_copies(batches: Iterable[pa.RecordBatch], duplicates: Duplicates) -> Iterator[npt.NDArray[np.bool_]]:
    """Find the rows to keep among those that are repeated: the first one of each."""
    seen = np.zeros(len(duplicates.repeated), np.bool_)
    for batch in batches:
        first = np.zeros(batch.num_rows, np.bool_)
        if len(seen):
            hashes = text_hashes(batch, duplicates.columns)
            repeated = np.flatnonzero(_contains(duplicates.repeated, hashes))
            positions, indices = np.unique(np.searchsorted(duplicates.repeated, hashes[repeated]), return_index=True)
            new = ~seen[positions]
            first[repeated[indices[new]]] = True
            seen[positions] = True
        yield first


def is_duplicate(
    batch: pa.RecordBatch, duplicates: Duplicates, first: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.bool_]:
    """Look up rows among those that `find_duplicates` found."""
    listed = _contains(duplicates.hashes, text_hashes(batch, duplicates.columns))
    return listed if first is None else listed & ~first


def _repeated(
    dropped: npt.NDArray[np.uint64], hashes: npt.NDArray[np.uint64], duplicate: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint64]:
    """Hashes of duplicates that rows which are none have, too; `hashes` may be larger than memory."""
    repeated = [np.empty(0, np.uint64)]
    for start in range(0, len(hashes), _FETCHED_ROWS):
        part = slice(start, start + _FETCHED_ROWS)
        others = np.asarray(hashes[part])[~duplicate[part]]
        repeated.append(others[_contains(dropped, others)])
    return np.unique(np.concatenate(repeated))


def _contains(known: npt.NDArray[np.uint64], hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """True where the hash is in an ascending array."""
    if not len(known):
        return np.zeros(len(hashes), np.bool_)
    positions = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    contained: npt.NDArray[np.bool_] = known[positions] == hashes
    return contained


def text_hashes(batch: pa.RecordBatch, columns: Sequence[str]) -> npt.NDArray[np.uint64]:
    """A hash of the id and the texts of each row."""
    return row_hashes(batch, list(dict.fromkeys([*ROW_ID_COLUMNS, *columns])), 0)


def _store_bands(
    database: Connection, batch_sketches: npt.NDArray[np.uint32], first_row: int, similarity: float
) -> None:
    # The last band is the whole sketch: equal texts meet in it, whatever else is in the other ones.
    hashes = np.concatenate([sketch_bands(batch_sketches, similarity), hash_bands(batch_sketches, SKETCH_SIZE)], axis=1)
    rows, bands = hashes.shape
    table = pa.table(
        {
            "row": np.repeat(np.arange(first_row, first_row + rows), bands),
            "band": np.tile(np.arange(bands, dtype=np.int16), rows),
            "hash": hashes.ravel(),
        }
    )
    database.register("fresh", table)
    database.execute("INSERT INTO bands SELECT * FROM fresh")
    database.unregister("fresh")


def sketch_bands(rows: npt.NDArray[np.uint32], similarity: float) -> npt.NDArray[np.uint64]:
    """Hashes of parts of each sketch, of which two texts of this similarity share one: uint64 (n, bands)."""
    bands: npt.NDArray[np.uint64] = hash_bands(rows, _band_width(similarity))
    return bands


def _band_width(similarity: float) -> int:
    """Values per band: the widest band that a pair of this similarity shares with a probability of at least 99.5 %."""
    for width in (32, 16, 8, 4, 2):
        if 1 - (1 - similarity**width) ** (SKETCH_SIZE // width) >= 0.995:
            return width
    return 1


def _fetch(result: Connection) -> npt.NDArray[np.int64]:
    """The next rows of a result: int64 (k, 2), k = 0 at its end."""
    return np.array(result.fetchmany(_FETCHED_ROWS), np.int64).reshape(-1, 2)


def _concatenate(batch: pa.RecordBatch, columns: tuple[str, ...]) -> pa.Array:
    texts = [pc.fill_null(batch.column(name), "") for name in columns]
    return pc.binary_join_element_wise(*texts, "\n") if len(texts) > 1 else texts[0]
