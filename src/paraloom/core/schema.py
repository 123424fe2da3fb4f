"""The five schemas that corpora have, and the check that a table has one."""

from __future__ import annotations

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
"""The text columns of pairs and of sentences, and the column where the language of each is said."""

SCHEMAS = {
    "DOCUMENTS": DOCUMENTS,
    "SENTENCES": SENTENCES,
    "LINKS": LINKS,
    "PAIRS": PAIRS,
    "VARIANTS": VARIANTS,
}


def require(schema: pa.Schema, wanted: pa.Schema) -> None:
    """Check that `schema` has every column of `wanted` with its type; further columns are welcome.

    Raises DataError that names the missing or mistyped column.
    """
    for field in wanted:
        position = schema.get_field_index(field.name)
        if position < 0:
            raise DataError(
                f"column '{field.name}' is missing; there are {', '.join(schema.names) or 'none'}",
                remedy=f"A corpus of this kind has the columns {', '.join(wanted.names)}.",
            )
        found = schema.field(position).type
        if found != field.type:
            raise DataError(f"column '{field.name}' is {found}, not {field.type}")


def add_column(batch: pa.RecordBatch, name: str, values: pa.Array, signature: str) -> pa.RecordBatch:
    """`batch` with one more column; `signature`, what produced it, stands in the field's metadata.

    Columns only ever accrete: a name that is there already with another signature is a DataError,
    with the same signature it is replaced (the same score again).
    """
    field = pa.field(name, values.type, metadata={"signature": signature})
    position = batch.schema.get_field_index(name)
    if position < 0:
        return batch.append_column(field, values)
    if signature_of(batch.schema.field(position)) != signature:
        raise DataError(
            f"column '{name}' is there already, made by {signature_of(batch.schema.field(position)) or 'the input'}",
            remedy="Rename the existing column, or leave this score out.",
        )
    return batch.set_column(position, field, values)


def signature_of(field: pa.Field) -> str:
    """The signature in a field's metadata, '' where there is none."""
    stored: bytes = (field.metadata or {}).get(b"signature", b"")
    return stored.decode()
