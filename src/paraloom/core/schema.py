"""The five schemas of corpora, and functions that check and extend them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from paraloom.core.errors import DataError

DOCUMENTS = pa.schema(
    [
        ("doc_id", pa.string()),
        ("lang", pa.string()),
        ("url", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        (
            "images",
            pa.list_(
                pa.struct([("src", pa.string()), ("alt", pa.string()), ("sha256", pa.string()), ("phash", pa.string())])
            ),
        ),
    ]
)
SENTENCES = pa.schema([("doc_id", pa.string()), ("sent_id", pa.int32()), ("lang", pa.string()), ("text", pa.string())])
LINKS = pa.schema(
    [
        ("src_doc", pa.string()),
        ("tgt_doc", pa.string()),
        ("src_ids", pa.list_(pa.int32())),
        ("tgt_ids", pa.list_(pa.int32())),
        ("score", pa.float32()),
    ]
)
PAIRS = pa.schema(
    [
        ("pair_id", pa.string()),
        ("src", pa.string()),
        ("tgt", pa.string()),
        ("src_lang", pa.string()),
        ("tgt_lang", pa.string()),
        ("origin", pa.string()),
    ]
)
VARIANTS = pa.schema(
    [
        ("pair_id", pa.string()),
        ("rank", pa.int32()),
        ("text", pa.string()),
        ("method", pa.string()),
        ("logprob", pa.float32()),
        ("tokens", pa.int32()),
    ]
)

LANGUAGE_OF = {"src": "src_lang", "tgt": "tgt_lang", "text": "lang"}
"""Text column → the column with its language, in PAIRS and SENTENCES."""

SCHEMAS = {"DOCUMENTS": DOCUMENTS, "SENTENCES": SENTENCES, "LINKS": LINKS, "PAIRS": PAIRS, "VARIANTS": VARIANTS}

DECIDING = (
    *("p_paraphrase", "judge", "paraphrase_score", "bilingual_similarity"),
    *("cosine", "score", "meaning", "trigram_overlap", "chrf"),
)
"""Scores that decide whether a pair is kept, the most telling first."""


def require(schema: pa.Schema, expected: pa.Schema) -> None:
    """Check that a schema has all expected columns with their types; it may have more."""
    for field in expected:
        position = schema.get_field_index(field.name)
        if position < 0:
            raise DataError(
                f"column '{field.name}' is missing; the columns are {', '.join(schema.names) or 'none'}",
                remedy=f"A corpus of this kind has the columns {', '.join(expected.names)}.",
            )
        actual = schema.field(position).type
        if actual != field.type:
            raise DataError(f"column '{field.name}' must be {field.type}, got {actual}")


def add_column(batch: pa.RecordBatch, name: str, values: pa.Array, signature: str) -> pa.RecordBatch:
    """Add a column with the signature of what produced it. A column of the same name and signature is replaced."""
    position = batch.schema.get_field_index(name)
    existing = signature_of(batch.schema.field(position)) if position >= 0 else signature
    if existing != signature:
        raise DataError(
            f"column '{name}' exists already, produced by {existing or 'the input'}",
            remedy="Rename the existing column, or leave this score out.",
        )
    return with_column(batch, pa.field(name, values.type, metadata={"signature": signature}), values)


def with_column(batch: pa.RecordBatch, field: pa.Field | str, values: pa.Array) -> pa.RecordBatch:
    """A column in the place of the one of its name, or at the end."""
    position = batch.schema.get_field_index(field if isinstance(field, str) else field.name)
    return batch.append_column(field, values) if position < 0 else batch.set_column(position, field, values)


def with_reasons(batch: pa.RecordBatch, reasons: pa.Array | Sequence[str | None]) -> pa.RecordBatch:
    """Add the columns that reject rows: `reason`, and `keep`, true where there is none."""
    reasons = reasons if isinstance(reasons, pa.Array) else pa.array(reasons, pa.string())
    batch = batch.append_column(pa.field("keep", pa.bool_()), reasons.is_null())
    return batch.append_column(pa.field("reason", pa.string()), reasons)


def signature_of(field: pa.Field) -> str:
    stored: bytes = (field.metadata or {}).get(b"signature", b"")
    return stored.decode()
