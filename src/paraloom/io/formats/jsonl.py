"""JSON Lines: one object per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError
from paraloom.io.compression import decode, open_write, read_raw_lines
from paraloom.io.fields import json_text
from paraloom.io.formats.base import PROVENANCE, PairRow, ReadOptions, json_column, json_object, raw_text
from paraloom.io.formats.columns import TRANSLATION, Side, choose_sides
from paraloom.text.language_names import known_language

_CODE = re.compile(r"[a-z]{2,3}([-_][a-z0-9]+)*", re.IGNORECASE)  # 'de', 'pt-BR', 'deu_Latn'


def read(options: ReadOptions) -> Iterator[PairRow]:
    """Read pairs from two keys of each object: those of `_sides` in the first good one; blank lines are skipped."""
    sides: Sequence[Side] = ()
    for row, line in enumerate(read_raw_lines(options.path), 1):
        if not line.strip():
            continue
        try:
            value = json_object(decode(line, options.path, row))
            chosen = sides or _sides(value, options)
            src, tgt = (json_text(value, ".".join(filter(None, side[:2]))) for side in chosen)
            known = [json_text(value, key) if value.get(key) is not None else None for key in PROVENANCE]
        except DataError as error:
            options.reject(row, error, raw_text(line))
        else:
            sides = chosen
            langs = [lang or side.lang for lang, side in zip(known, sides, strict=False)]
            yield PairRow(row, src, tgt, *langs, *known[2:])


def _sides(value: dict[str, Any], options: ReadOptions) -> tuple[Side, Side]:
    """The keys of the two sides: those that are named, else `src` and `tgt`, else two that are named as sides are.

    Other keys of an object are not sides, not even its only two texts: the next objects may have more.
    """
    if options.src_column is None and options.tgt_column is None and not {"src", "tgt"} & set(value):
        inside = value.get(TRANSLATION)
        keys = _text_keys(inside) if isinstance(inside, dict) else []
        languages = [key for key in keys if _CODE.fullmatch(key) or known_language(key)]
        fields = [(key, pa.string()) for key in _text_keys(value)]
        if languages:
            fields.append((TRANSLATION, pa.struct([(key, pa.string()) for key in languages])))
        with suppress(ConfigError, UnicodeEncodeError):
            return choose_sides(pa.schema(fields), options, any_two=False)
    return Side(str(options.src_column or "src")), Side(str(options.tgt_column or "tgt"))


def _text_keys(value: dict[str, Any]) -> list[str]:
    return [key for key, text in value.items() if text is None or isinstance(text, str)]


def write(batches: Iterable[pa.RecordBatch], names: Sequence[str], target: str) -> int:
    rows = 0
    with open_write(target) as stream:
        for batch in batches:
            columns = [json_column(batch.column(name)) for name in names]
            for values in zip(*columns, strict=True):
                stream.write((json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False) + "\n").encode())
            rows += batch.num_rows
    return rows
