"""Pairs out of translations: each reference beside each of the k best translations of its other side (W17 §3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import DataError
from paraloom.core.protocols import TranslatorLike, Variant
from paraloom.core.schema import PAIRS, require


def pair_translations(
    pairs: pa.RecordBatch,
    variants: Sequence[Sequence[Variant]],
    method: str,
    *,
    reference: str = "tgt",
    signature: str = "",
) -> pa.RecordBatch:
    """Each reference paired with each of its translations, best first.

    pairs: a batch of PAIRS, n rows.  variants: n lists, the translations of the other side of each row.  method: how
    they were decoded.  reference: the side, 'src' or 'tgt', that the translations are paired with.  signature: of the
    translator, for the metadata of the columns that it made.

    Returns PAIRS in the reference's language on both sides (src the reference, tgt the translation; pair_id and
    origin kept) with the columns rank (int32, 0 is the best), logprob (float32, nats), tokens (int32, sub-words),
    method, and `_source` (int32, the row of `pairs`).  A row without variants gives none.
    Raises DataError when there are not as many lists as rows.
    """
    require(pairs.schema, PAIRS)
    if len(variants) != pairs.num_rows:
        raise DataError(f"there are {pairs.num_rows} pairs, but translations of {len(variants)}")
    counts = np.fromiter((len(each) for each in variants), np.int32, len(variants))
    source = np.repeat(np.arange(len(variants), dtype=np.int32), counts)
    flat = [variant for each in variants for variant in each]
    rank = np.arange(len(flat), dtype=np.int32) - np.repeat(np.cumsum(counts, dtype=np.int32) - counts, counts)
    language = pairs.column(f"{reference}_lang").take(pa.array(source))
    made = {"signature": signature} if signature else None
    columns: list[tuple[pa.Field, pa.Array]] = [
        (PAIRS.field("pair_id"), pairs.column("pair_id").take(pa.array(source))),
        (PAIRS.field("src"), pairs.column(reference).take(pa.array(source))),
        (pa.field("tgt", pa.string(), metadata=made), pa.array([each.text for each in flat], pa.string())),
        (PAIRS.field("src_lang"), language),
        (PAIRS.field("tgt_lang"), language),
        (PAIRS.field("origin"), pairs.column("origin").take(pa.array(source))),
        (pa.field("rank", pa.int32()), pa.array(rank)),
        (pa.field("logprob", pa.float32(), metadata=made), pa.array([each.logprob for each in flat], pa.float32())),
        (pa.field("tokens", pa.int32(), metadata=made), pa.array([each.tokens for each in flat], pa.int32())),
        (pa.field("method", pa.string()), pa.array([method] * len(flat), pa.string())),
        (pa.field("_source", pa.int32()), pa.array(source)),
    ]
    return pa.RecordBatch.from_arrays([values for _, values in columns], schema=pa.schema([f for f, _ in columns]))


def backtranslate(
    batch: pa.RecordBatch, translator: TranslatorLike, *, side: str = "src", seed: int = 0, method: str = ""
) -> pa.RecordBatch:
    """Translate one side of a bitext and pair the other side, the reference, with what comes out.

    batch: PAIRS.  side: 'src' or 'tgt', the side that is translated.  seed: for decoders that sample.  method: a name
    for the decoding; left out, it is the translator's signature.  Returns what `pair_translations` does.

    >>> class Parrot:
    ...     signature = "parrot"
    ...     def translate(self, sentences, *, seed=0):
    ...         return [[Variant(text.upper(), -1.0, 2)] for text in sentences]
    >>> row = {"pair_id": "1", "src": "hallo", "tgt": "hello", "src_lang": "de", "tgt_lang": "en", "origin": "toy"}
    >>> backtranslate(pa.RecordBatch.from_pylist([row], schema=PAIRS), Parrot()).select(["src", "tgt"]).to_pylist()
    [{'src': 'hello', 'tgt': 'HALLO'}]
    """
    require(batch.schema, PAIRS)
    sentences = pc.fill_null(batch.column(side), "").to_pylist()
    variants = translator.translate(sentences, seed=seed)
    reference = "tgt" if side == "src" else "src"
    made_by = translator.signature
    return pair_translations(batch, variants, method or made_by, reference=reference, signature=made_by)
