"""Paraphrases without a model: sentences that translate the same sentence of another language."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import combinations, count, islice
from pathlib import Path

import pyarrow as pa

from paraloom.core.batches import batched
from paraloom.core.digests import digest
from paraloom.core.schema import PAIRS
from paraloom.io.database import Connection, open_database, register_shards, sql

_BATCH_ROWS = 1000

WITH_PIVOT = pa.schema([*PAIRS, pa.field("pivot", pa.string()), pa.field("pivot_lang", pa.string())])
"""PAIRS with the sentence that both sides translate, and its language."""


def common_translations(
    shards: Sequence[Path], *, side: str = "tgt", max_pairs: int = 1, limit: int = 0
) -> Iterator[pa.RecordBatch]:
    """Pair the sentences of one side of a bitext that have the same counterpart, in bounded memory (DuckDB)."""
    text, pivot = ("tgt", "src") if side == "tgt" else ("src", "tgt")
    with tempfile.TemporaryDirectory() as scratch, open_database(scratch=Path(scratch)) as database:
        names = register_shards(database, "bitext", shards)
        query = sql(
            "SELECT {pivot}, list(DISTINCT {text} ORDER BY {text}), min({lang}), min({pivot_lang}), min({origin}) "
            "FROM bitext GROUP BY {pivot} HAVING count(DISTINCT {text}) > 1 ORDER BY md5({pivot})",
            pivot=names[pivot].name,
            text=names[text].name,
            lang=names[f"{text}_lang"].name,
            pivot_lang=names[f"{pivot}_lang"].name,
            origin=names["origin"].name,
        )
        cursor = database.execute(query)
        for rows in batched(islice(_pairs(cursor, max_pairs), limit or None), _BATCH_ROWS):
            yield pa.RecordBatch.from_pylist(rows, schema=WITH_PIVOT)


def _pairs(cursor: Connection, max_pairs: int) -> Iterator[dict[str, str]]:
    numbers = count(1)
    while groups := cursor.fetchmany(_BATCH_ROWS):
        for shared, texts, lang, pivot_lang, origin in groups:
            # An order that has nothing to do with the texts, and is the same at every run.
            shuffled = sorted(texts, key=digest)
            different = ((a, b) for a, b in combinations(shuffled, 2) if _letters(a) != _letters(b))
            for a, b in islice(different, max_pairs):
                yield {
                    "pair_id": f"{origin}:{next(numbers)}", "src": a, "tgt": b, "src_lang": lang, "tgt_lang": lang,
                    "origin": origin, "pivot": shared, "pivot_lang": pivot_lang,
                }  # fmt: skip


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
