"""Pairs and models that are in this process's memory, as stages: Python data, and what an object computes."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import DataError
from paraloom.core.protocols import TranslatorLike
from paraloom.core.schema import PAIRS
from paraloom.core.seeds import spawn_seed
from paraloom.core.stage import Source, StageContext
from paraloom.io.shards import with_plain_texts

BATCH_ROWS = 1024
"""Rows of a batch."""

Compute: TypeAlias = Callable[[pa.RecordBatch, int], pa.RecordBatch]
"""A batch of pairs, and a seed → a batch."""


@dataclass(frozen=True, kw_only=True)
class InMemoryPairs(Source):
    """Pairs from a table in memory."""

    output_schema: ClassVar[str] = "PAIRS"
    in_memory: ClassVar[tuple[str, ...]] = ("table",)

    table: pa.Table
    content: str = ""

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        yield from self.table.to_batches(max_chunksize=BATCH_ROWS)


@dataclass(frozen=True, kw_only=True)
class InProcess(Source):
    """Pairs computed from other pairs in this process, by an object that worker processes cannot load.

    Args:
        rows: Yields batches of the pairs.
        compute: Computes each batch.
        identity: Tells this stage from others: the content of an object in memory is not known.
    """

    output_schema: ClassVar[str] = "PAIRS"
    in_memory: ClassVar[tuple[str, ...]] = ("rows", "compute")

    rows: Any
    compute: Any
    identity: str = field(default_factory=lambda: uuid.uuid4().hex)

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(self.rows()):
            yield self.compute(batch, spawn_seed(context.seed, number) % 2**31)


def pairs_from_data(data: object, *, src_lang: str, tgt_lang: str) -> InMemoryPairs:
    table = _table(data)
    rows = table.num_rows
    if not rows:
        raise DataError("expected pairs, but the data is empty")
    table = _with_sides(table)
    table = table.cast(with_plain_texts(table.schema))
    columns: dict[str, pa.Array] = {
        "pair_id": pa.array([f"pairs:{row}" for row in range(1, rows + 1)]),
        "src_lang": pa.array([src_lang] * rows),
        "tgt_lang": pa.array([tgt_lang] * rows),
        "origin": pa.array(["memory"] * rows),
    }
    for name in PAIRS.names:
        if name in table.schema.names:
            columns[name] = _text(table.column(name), name)
    others = [name for name in table.schema.names if name not in PAIRS.names]
    schema = pa.schema([*PAIRS, *(table.schema.field(name) for name in others)])
    whole = pa.table(
        [*(columns[name] for name in PAIRS.names), *(table.column(name) for name in others)], schema=schema
    )
    return InMemoryPairs(name="input", table=whole, content=_content(whole))


def _table(data: object) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "with_format") and hasattr(data, "num_rows"):
        if isinstance(data, Mapping):
            split = next(iter(data), "train")
            raise TypeError(f"expected pairs, got a DatasetDict; name one of its splits, such as data[{split!r}]")
        return _table(data.with_format("arrow")[:])  # a Dataset of Hugging Face, with its selection and order
    # A Series of pairs (it has `to_frame`) is read as a list of them.
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "to_frame"):
        try:
            table = pa.table(data)
        except ValueError as error:  # of Arrow or of pandas
            raise DataError(f"the columns cannot be read: {error}", remedy="Give each one name and one type.") from None
        index = [name for name in table.schema.names if name.startswith("__index_level_")]  # of pandas
        return table.drop_columns(index).replace_schema_metadata(None)
    if isinstance(data, Mapping):
        return _columns({str(name): _listed(name, column) for name, column in data.items()})
    if isinstance(data, bytes) or not isinstance(data, Iterable):
        raise TypeError(f"expected pairs (tuples, a DataFrame, an Arrow table or a path), got {type(data).__name__}")
    return _rows(list(data))


def _listed(name: object, column: object) -> list[Any]:
    if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
        raise TypeError(f"expected a list for the column {name!r}, got {column!r}; for one pair write [pair]")
    return list(column)


def _rows(rows: Sequence[Any]) -> pa.Table:
    """A table of mappings, or of tuples (source, target)."""
    if all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return _columns({str(name): [row.get(name) for row in rows] for name in names})
    for number, row in enumerate(rows, start=1):
        if isinstance(row, (str, bytes)) or not isinstance(row, (Sequence, np.ndarray)) or len(row) != 2:
            raise TypeError(f"expected pairs (source, target), got {row!r} as number {number}")
    return _columns({"src": [row[0] for row in rows], "tgt": [row[1] for row in rows]})


def _columns(columns: Mapping[str, Sequence[object]]) -> pa.Table:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(
            f"the columns differ in length: {', '.join(f'{n} {size}' for n, size in lengths.items())}",
            remedy="Give every column one value for each pair.",
        )
    for name in ("src", "tgt"):
        for row, value in enumerate(columns.get(name, ()), start=1):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"expected text as '{name}', got {value!r} in row {row}")
    try:
        return pa.table({name: pa.array(list(column)) for name, column in columns.items()})
    except UnicodeEncodeError as error:
        raise DataError(f"a text is not valid Unicode: {error.reason} ({error.object[:40]!r})") from None
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(f"the values of a column do not have one type: {error}") from None


def _with_sides(table: pa.Table) -> pa.Table:
    """The table with the columns `src` and `tgt`; two columns of other names are taken for them in order."""
    names = table.schema.names
    if "src" in names and "tgt" in names:
        return table
    if len(names) == 2 and not {"src", "tgt"} & set(names):
        return table.rename_columns(["src", "tgt"])
    raise DataError(f"expected the columns 'src' and 'tgt', got {', '.join(map(repr, names))}")


def _text(column: pa.ChunkedArray, name: str) -> pa.Array:
    if not (pa.types.is_string(column.type) or pa.types.is_null(column.type)):
        raise DataError(f"column '{name}' has the type {column.type}", remedy="Convert it to text.")
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py() + 1
        raise DataError(f"column '{name}' is null", row=row, remedy="Drop such rows, or fill them in.")
    return column.cast(pa.string()).combine_chunks()


def _content(table: pa.Table) -> str:
    """The SHA-256 of a table."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return hashlib.sha256(memoryview(sink.getvalue())).hexdigest()


def translation_in_process(
    translator: TranslatorLike, decode: str | None, side: Literal["src", "tgt"], check_languages: bool
) -> Compute:
    """Back-translation of a batch by an object of this process; the first batch is checked."""
    from paraloom.mt.translator import Translator
    from paraloom.pairs.backtranslation import pair_translations, reject_empty
    from paraloom.stages.input_checks import Direction, SampledRows, name_languages
    from paraloom.stages.input_checks import check_languages as check_sample

    model = translator.with_decoding(decode) if isinstance(translator, Translator) and decode else translator
    signature = str(getattr(model, "signature", type(model).__name__))
    reference: Literal["src", "tgt"] = "tgt" if side == "src" else "src"

    unchecked = check_languages

    def compute(batch: pa.RecordBatch, seed: int) -> pa.RecordBatch:
        nonlocal unchecked
        if unchecked:
            texts = {str(name): [text or "" for text in batch.column(name).to_pylist()] for name in (side, reference)}
            sample = SampledRows(batch.column("pair_id").to_pylist(), texts)
            check_sample(sample, side, Direction.of(model), reference)
            unchecked = False
        batch = name_languages(batch, Direction.of(model), side)
        variants = model.translate([text or "" for text in batch.column(side).to_pylist()], seed=seed)
        for row, group in enumerate(variants):
            if not group:
                raise DataError(f"the translator returned nothing for {batch.column(side)[row].as_py()!r}")
        paired = pair_translations(batch, variants, decode or signature, reference=reference, signature=signature)
        return reject_empty(paired.drop_columns(["_source"]), variants)

    return compute
