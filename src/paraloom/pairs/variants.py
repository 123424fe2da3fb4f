"""Several translations of each text as VARIANTS, and VARIANTS as PAIRS to train a translator on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import Bools, Int32s
from paraloom.core.config import Config
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.lazy import late
from paraloom.core.protocols import Variant
from paraloom.core.reasons import HELD_OUT
from paraloom.core.schema import PAIRS, VARIANTS, require, with_reasons
from paraloom.pairs.backtranslation import PIECES, flatten_variants

if TYPE_CHECKING:
    from paraloom.pairs.filtering.held_out import HeldOut

repeats, normalize = late("paraloom.pairs.scoring.repetition:repeats"), late("paraloom.text.normalize:normalize")
code_points = late("paraloom.text.buffers:code_points")

ORIGINALS = pa.schema(
    [("original", pa.string()), ("original_lang", pa.string()), ("origin", pa.string()), ("repeated", pa.bool_())]
)
"""Columns of `variant_rows` besides those of VARIANTS."""

CUT = "cut"
"""Further column of `variant_rows`: whether the decoder stopped a variant before its end."""

MIN_RATIO_CHARACTERS, MAX_RATIO, MAX_REPEATS = 40, 5, 5
"""The ratio of lengths is bounded where a side has more characters; a stretch may be repeated less often."""

_SOURCE = "_source"


def variant_rows(
    originals: pa.RecordBatch, variants: Sequence[Sequence[Variant]], method: str, *, signature: str = ""
) -> pa.RecordBatch:
    """Turn the translations of texts into rows: one for each variant, in order, ranked from 0."""
    if len(variants) != originals.num_rows:
        raise DataError(f"expected the translations of {originals.num_rows} texts, got those of {len(variants)}")
    flat = flatten_variants(variants)
    of_originals = originals.take(pa.array(flat.source))
    metadata = {"signature": signature} if signature else None
    columns: list[tuple[pa.Field, pa.Array]] = [
        (VARIANTS.field("pair_id"), of_originals.column("pair_id")),
        (VARIANTS.field("rank"), flat.rank),
        (pa.field("text", pa.string(), metadata=metadata), flat.text),
        (VARIANTS.field("method"), pa.array([method] * len(flat.text), pa.string())),
        (pa.field("logprob", pa.float32(), metadata=metadata), flat.logprob),
        (pa.field("tokens", pa.int32(), metadata=metadata), flat.tokens),
        (pa.field(CUT, pa.bool_()), flat.cut),
        (PIECES, flat.pieces),
        *((ORIGINALS.field(name), of_originals.column(name)) for name in ("original", "original_lang", "origin")),
        (ORIGINALS.field("repeated"), pa.array(_repeated(flat.source, flat.text), pa.bool_())),
        (pa.field(_SOURCE, pa.int32()), pa.array(flat.source)),
    ]
    return pa.RecordBatch.from_arrays([values for _, values in columns], schema=pa.schema([f for f, _ in columns]))


@dataclass(frozen=True, kw_only=True)
class TrainingPairs(Config):
    """Rules by which VARIANTS become pairs to train on. A bound of 0 switches its rule off.

    Variants that the decoder stopped before their end (column `cut`) are rejected in any case; so are copies of their
    originals, those that repeat a stretch of 3 to 100 characters five times, the mark of a decoder in a loop, and, of
    more than 40 characters, those that are five times as long as their original, or a fifth.

    Args:
        src_lang: Language of the variants.
        tag: Token that is put before each variant, such as <BT>, so that a translator can tell synthetic from real
            text (Caswell, Chelba, Grangier 2019). Name it in the `special_tokens` of `train-translator`, too.
        max_length: Subwords at which the decoder stops; a variant that has this many or more is rejected.
    """

    src_lang: str = "und"
    tag: str = ""
    max_length: int = 256

    def validate(self) -> None:
        if self.tag != self.tag.strip() or len(self.tag.split()) > 1:
            raise ConfigError(f"'tag' must be one token without white space, such as <BT>, not '{self.tag}'")
        if self.max_length < 0:
            raise ConfigError(f"'max_length' must be 1 or more, or 0 for no limit, not {self.max_length}")


def training_pairs(batch: pa.RecordBatch, config: TrainingPairs, held_out: HeldOut | None = None) -> pa.RecordBatch:
    """Turn variants into pairs to train a translator on, with the variant as source and the original as target."""
    require(batch.schema, VARIANTS)
    require(batch.schema, ORIGINALS)
    texts = pc.fill_null(batch.column("text"), "")
    reasons = _faults(batch, texts, config, held_out)
    tagged = pc.binary_join_element_wise(config.tag, texts, " ") if config.tag else texts
    rank = pc.cast(batch.column("rank"), pa.string())
    columns = {
        "pair_id": pc.binary_join_element_wise(batch.column("pair_id"), rank, "/"),
        "src": tagged,
        "tgt": batch.column("original"),
        "src_lang": pa.array([config.src_lang] * batch.num_rows, pa.string()),
        "tgt_lang": batch.column("original_lang"),
        "origin": batch.column("origin"),
    }
    pairs = pa.RecordBatch.from_arrays([columns[name] for name in PAIRS.names], schema=PAIRS)
    for name in ("rank", "method", "logprob", "tokens"):
        pairs = pairs.append_column(batch.schema.field(name), batch.column(name))
    return with_reasons(pairs, reasons)


def _faults(
    batch: pa.RecordBatch, texts: pa.Array, config: TrainingPairs, held_out: HeldOut | None
) -> list[str | None]:
    """The first reason to reject each row, None where there is none."""
    variants, originals = normalize(texts), normalize(batch.column("original"))
    points = code_points(variants)
    lengths = np.diff(points[1]), np.diff(code_points(originals)[1])
    shorter, longer = np.minimum(*lengths), np.maximum(*lengths)
    tests: list[tuple[Bools, str]] = [(lengths[0] == 0, "empty"), (lengths[1] == 0, "the original is empty")]
    if CUT in batch.schema.names:
        tests.append((pc.fill_null(batch.column(CUT), False).to_numpy(zero_copy_only=False), "cut off before its end"))
    if config.max_length:
        subwords = pc.fill_null(batch.column("tokens"), 0).to_numpy(zero_copy_only=False)
        tests.append((subwords >= config.max_length, f"cut off at {config.max_length} sub-words"))
    tests.append((pc.equal(variants, originals).to_numpy(zero_copy_only=False), "a copy of the original"))
    uneven = (longer > MIN_RATIO_CHARACTERS) & (longer > MAX_RATIO * shorter)
    tests.append((uneven, f"a side more than {MAX_RATIO} times as long as the other"))
    tests.append((repeats(points) >= MAX_REPEATS, f"repeats itself {MAX_REPEATS} times or more"))
    if held_out is not None:
        levels = held_out.find(texts)
        tests += [(levels == level, f"src: {reason}") for level, reason in enumerate(HELD_OUT) if level]
    reasons = np.full(batch.num_rows, None, object)
    for fails, reason in reversed(tests):
        reasons[fails] = reason
    return list(reasons)


def _repeated(source: Int32s, texts: pa.Array) -> list[bool]:
    """True if an earlier row of the same source has the same text."""
    seen: set[tuple[int, str]] = set()
    repeated = []
    for key in zip(source.tolist(), normalize(texts).to_pylist(), strict=True):
        repeated.append(key in seen)
        seen.add(key)
    return repeated
