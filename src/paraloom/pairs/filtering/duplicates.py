"""Near-duplicate pairs by MinHash (Broder 1997): sketches and bands lie on disk, so any number can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError
from paraloom.pairs.filtering.cuts import IDENTITY, keys
from paraloom.pairs.filtering.duplicate_kernels import bands, minima
from paraloom.text.tokens import Texts, character_ngrams, normalise

Read = Callable[[Sequence[str]], Iterable[pa.RecordBatch]]

SKETCH = 64
NGRAM = 5
_SHOWN = 100_000


@dataclass(frozen=True, kw_only=True)
class DuplicateConfig:
    """similarity: pairs whose texts share this much of their character 5-grams (Jaccard, above 0 to 1) are one.

    columns: the texts that are compared, joined.  Case, punctuation and runs of blanks do not count.
    """

    similarity: float = 0.8
    columns: tuple[str, ...] = ("src", "tgt")

    def check(self) -> None:
        """Raise ConfigError when a value is none of those that it may be."""
        if not 0 < self.similarity <= 1:
            raise ConfigError(f"'similarity' is above 0 to 1, not {self.similarity}")
        if not self.columns:
            raise ConfigError("'columns' names one text column at least")


def sketches(texts: Texts) -> npt.NDArray[np.uint32]:
    """A MinHash sketch of each text: uint32 (n, 64).

    The share of places where two sketches agree estimates the Jaccard similarity of the texts' character 5-grams,
    with a standard error of 0.06 or less.

    >>> a, b, c = sketches(["The dog sleeps in the sun.", "the dog sleeps in the sun", "Rain fell all day."])
    >>> bool((a == b).all()), bool((a == c).any())
    (True, False)
    """
    # A text of one or two letters is filled up: without a single n-gram all such texts would be one.
    lists = character_ngrams(pc.utf8_rpad(_plain(texts), NGRAM - 2), NGRAM)
    return minima(lists.ids, lists.offsets, SKETCH)


def find_duplicates(read: Read, scratch: Path, config: DuplicateConfig) -> tuple[npt.NDArray[np.uint64], int]:
    """The pairs that are near-duplicates of an earlier one, as row hashes (those of `is_duplicate`), and how many rows.

    read: gives the batches of a corpus with the named columns, anew each time.  scratch: a folder for the sketches,
    256 bytes a row, and their bands; memory stays bounded.  A pair is compared with the first pair of each bucket that
    it falls into, so of a chain of small changes some may stay; what goes is as similar as said, as far as sketches
    tell.
    """
    config.check()
    scratch.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys([*config.columns, *IDENTITY]))
    rows = 0
    database = duckdb.connect(str(scratch / "bands.duckdb"), config={"threads": 1, "memory_limit": "1GB"})
    try:
        database.execute("CREATE OR REPLACE TABLE bands (row BIGINT, band SMALLINT, hash UBIGINT)")
        with (scratch / "sketches.u32").open("wb") as sketch_file, (scratch / "rows.u64").open("wb") as row_file:
            for batch in read(columns):
                found = sketches(_joined(batch, config.columns))
                found.tofile(sketch_file)
                keys(batch, "", 0)[1].tofile(row_file)
                _store_bands(database, found, rows, config.similarity)
                rows += batch.num_rows
        if not rows:
            return np.empty(0, np.uint64), 0
        table = np.memmap(scratch / "sketches.u32", np.uint32, "r").reshape(rows, SKETCH)
        hashes = np.memmap(scratch / "rows.u64", np.uint64, "r")
        goes = np.zeros(rows, np.bool_)
        met = database.execute(
            "SELECT b.row, f.first FROM bands b JOIN (SELECT band, hash, min(row) AS first FROM bands "
            "GROUP BY band, hash HAVING count(*) > 1) f USING (band, hash) WHERE b.row > f.first"
        )
        while len(part := _chunk(met)):
            same = (table[part[:, 0]] == table[part[:, 1]]).mean(1) >= config.similarity
            goes[part[same, 0]] = True
        return np.sort(hashes[goes]), rows
    finally:
        database.close()


def is_duplicate(batch: pa.RecordBatch, duplicates: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Which rows of a batch are among `duplicates`, what `find_duplicates` gave: bool (n,)."""
    own = keys(batch, "", 0)[1]
    places = np.searchsorted(duplicates, own)
    places[places == len(duplicates)] = 0
    return duplicates[places] == own if len(duplicates) else np.zeros(len(own), np.bool_)


def _store_bands(
    database: duckdb.DuckDBPyConnection, found: npt.NDArray[np.uint32], first: int, similarity: float
) -> None:
    width = _band_width(similarity)
    hashes = bands(found, width)
    count, each = hashes.shape
    rows = pa.table(
        {
            "row": np.repeat(np.arange(first, first + count), each),
            "band": np.tile(np.arange(each, dtype=np.int16), count),
            "hash": hashes.ravel(),
        }
    )
    database.register("fresh", rows)
    database.execute("INSERT INTO bands SELECT * FROM fresh")
    database.unregister("fresh")


def _band_width(similarity: float) -> int:
    """Places of a band: the widest with which a pair as similar as asked shares a band with 99.5 % probability."""
    for width in (32, 16, 8, 4, 2):
        if 1 - (1 - similarity**width) ** (SKETCH // width) >= 0.995:
            return width
    return 1


def _chunk(result: duckdb.DuckDBPyConnection) -> npt.NDArray[np.int64]:
    """The next rows of an answer: int64 (k, 2), with k 0 at its end."""
    return np.array(result.fetchmany(_SHOWN), np.int64).reshape(-1, 2)


def _joined(batch: pa.RecordBatch, columns: tuple[str, ...]) -> pa.Array:
    texts = [pc.fill_null(batch.column(name), "") for name in columns]
    return pc.binary_join_element_wise(*texts, "\n") if len(texts) > 1 else texts[0]


def _plain(texts: Texts) -> pa.Array:
    words = pc.replace_substring_regex(normalise(texts), pattern=r"[\pP\pS\s]+", replacement=" ")
    return pc.utf8_trim(words, characters=" ")
