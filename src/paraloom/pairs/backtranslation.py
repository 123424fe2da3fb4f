"""Paraphrase pairs by back-translation: each sentence with the translations of its other side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import Int32s
from paraloom.core.errors import DataError
from paraloom.core.protocols import Variant
from paraloom.core.schema import PAIRS, require, with_reasons

REPEATED = "the same words as a better translation of the sentence"
"""Reason of a pair that is rejected; case and punctuation do not count."""

_WORDS = re.compile(r"\w+")

PIECES = pa.field("pieces", pa.int32())
"""Further column of translations: how many parts a long text was translated in."""


def pair_translations(
    pairs: pa.RecordBatch,
    variants: Sequence[Sequence[Variant]],
    method: str,
    *,
    reference: Literal["src", "tgt"] = "tgt",
    signature: str = "",
) -> pa.RecordBatch:
    """Pair each reference with each translation of its other side, best first (W17 §3)."""
    require(pairs.schema, PAIRS)
    if len(variants) != pairs.num_rows:
        raise DataError(f"expected the translations of {pairs.num_rows} pairs, got those of {len(variants)}")
    flat = flatten_variants(variants)
    of_pairs = pairs.take(pa.array(flat.source))
    language = of_pairs.column(f"{reference}_lang")
    pivot = "src" if reference == "tgt" else "tgt"
    metadata = {"signature": signature} if signature else None
    columns: list[tuple[pa.Field, pa.Array]] = [
        (PAIRS.field("pair_id"), of_pairs.column("pair_id")),
        (PAIRS.field("src"), of_pairs.column(reference)),
        (pa.field("tgt", pa.string(), metadata=metadata), flat.text),
        (PAIRS.field("src_lang"), language),
        (PAIRS.field("tgt_lang"), language),
        (PAIRS.field("origin"), of_pairs.column("origin")),
        (pa.field("rank", pa.int32()), flat.rank),
        (pa.field("logprob", pa.float32(), metadata=metadata), flat.logprob),
        (pa.field("tokens", pa.int32(), metadata=metadata), flat.tokens),
        (PIECES, flat.pieces),
        (pa.field("method", pa.string()), pa.array([method] * len(flat.text), pa.string())),
        (pa.field("pivot", pa.string()), of_pairs.column(pivot)),
        (pa.field("pivot_lang", pa.string()), of_pairs.column(f"{pivot}_lang")),
        (pa.field("_source", pa.int32()), pa.array(flat.source)),
    ]
    return pa.RecordBatch.from_arrays([values for _, values in columns], schema=pa.schema([f for f, _ in columns]))


def reject_empty(pairs: pa.RecordBatch, variants: Sequence[Sequence[Variant]] = ()) -> pa.RecordBatch:
    """Mark the pairs to be rejected: those whose translation is empty, or that of an earlier one of the sentence."""
    empty = pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(pairs.column("tgt"))), 0)
    reason = pc.if_else(empty, "empty translation", pa.scalar(None, pa.string()))
    if repeated := _repeated(variants):
        reason = pc.coalesce(reason, pc.if_else(pa.array(repeated), REPEATED, pa.scalar(None, pa.string())))
    own = pa.array([variant.reason for group in variants for variant in group], pa.string())
    return with_reasons(pairs, pc.coalesce(own, reason) if len(own) > own.null_count else reason)


def _repeated(variants: Sequence[Sequence[Variant]]) -> list[bool]:
    """Whether an earlier variant of the same sentence has the same words; empty where each sentence has one."""
    if all(len(group) == 1 for group in variants):
        return []
    flags: list[bool] = []
    for group in variants:
        words = [" ".join(_WORDS.findall(variant.text.casefold())) or variant.text for variant in group]
        flags += [word in words[:index] for index, word in enumerate(words)]
    return flags


class FlatVariants(NamedTuple):
    """The m variants of n sentences as columns."""

    source: Int32s
    rank: pa.Array
    text: pa.Array
    logprob: pa.Array
    tokens: pa.Array
    cut: pa.Array
    pieces: pa.Array


def flatten_variants(variants: Sequence[Sequence[Variant]]) -> FlatVariants:
    counts = np.fromiter((len(group) for group in variants), np.int32, len(variants))
    source = np.repeat(np.arange(len(variants), dtype=np.int32), counts)
    flat = [variant for group in variants for variant in group]
    rank = np.arange(len(flat), dtype=np.int32) - np.repeat(np.cumsum(counts, dtype=np.int32) - counts, counts)
    return FlatVariants(
        source,
        pa.array(rank),
        pa.array([variant.text for variant in flat], pa.string()),
        pa.array([variant.logprob for variant in flat], pa.float32(), from_pandas=True),
        pa.array([None if isnan(variant.logprob) else variant.tokens for variant in flat], pa.int32()),
        pa.array([variant.cut for variant in flat], pa.bool_()),
        pa.array([variant.pieces for variant in flat], pa.int32()),
    )
