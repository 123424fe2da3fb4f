"""The first rows of any file or folder that a command reads or writes, to look at."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from paraloom.core.errors import DataError, ParaloomError
from paraloom.core.lazy import late, load_object
from paraloom.core.remote_files import path_below
from paraloom.core.schema import DECIDING, PAIRS
from paraloom.io import Corpus, read_lines
from paraloom.io.bitext import is_output_stream, read_pairs
from paraloom.io.compression import without_compression
from paraloom.io.formats.names import is_dataset, sides
from paraloom.io.quoting import BadRow
from paraloom.io.shards import open_shard, read_rows

_summarize_model = late("paraloom.api.models:summarize_model")
_json_values = late("paraloom.core.results:json_values")
_map_array = late("paraloom.io.arrays:map_array")
_table_rows = late("paraloom.io.records:table_rows")
_number_or_text = late("paraloom.io.typed_tables:number_or_text")

_COUNTED = 1_000_000
"""Lines of a text file that are counted at most: a preview should not take minutes."""

_Item = TypeVar("_Item")

_WIDTH = 200
"""Characters of a text that are shown."""


@dataclass(frozen=True)
class Preview:
    """The beginning of a file or folder."""

    path: str
    rows: int | None
    columns: tuple[str, ...]
    shown: tuple[dict[str, Any], ...]
    about: str = ""

    @property
    def count(self) -> str:
        """How many rows it has, in words."""
        if self.rows is None:
            return f"more than {_COUNTED:,} rows"
        kinds = {(): "line", ("vector",): "vector"}
        noun = "pair" if {"src", "tgt"} <= set(self.columns) else kinds.get(self.columns, "row")
        return f"{self.rows:,} {noun}{'' if self.rows == 1 else 's'}"

    def format(self, *, everything: bool = False) -> str:
        """The rows, sentences under each other: of pairs both sides and two scores, unless everything is wanted."""
        if not self.about and not everything and {"src", "tgt"} <= set(self.columns):
            return self._pairs()
        return self.about or "\n\n".join(self._row(row) for row in self.shown)

    def _pairs(self) -> str:
        numbers = [name for name, value in (self.shown[0] if self.shown else {}).items() if _is_number(value)]
        scores = list(dict.fromkeys([*(name for name in DECIDING if name in numbers), *numbers]))[:2]
        blank = " " * (8 * len(scores))
        lines = [f"{', '.join(scores)}, src over tgt:\n"] if scores else []
        for row in self.shown:
            # A score that is not defined is an empty text in a table.
            cells = [_number(row[name]) if _is_number(row.get(name)) else "" for name in scores]
            values = "".join(f"{cell:>7} " for cell in cells)
            lines += [f"{values} {_shortened(str(row['src']))}", f"{blank} {_shortened(str(row['tgt']))}"]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The path, number of rows, names of columns and first rows, as json.dumps takes them."""
        shown = _json_values(self.shown)
        return {"path": self.path, "rows": self.rows, "columns": list(self.columns), "shown": shown}

    def _row(self, row: dict[str, Any]) -> str:
        if not self.columns:
            return _shortened(row.get("line", ""))
        row = dict(_fields(row))
        texts = {name: value for name, value in row.items() if isinstance(value, str) and value}
        numbers = [f"{name} {_number(value)}" for name, value in row.items() if isinstance(value, int | float)]
        others = {name: value for name, value in row.items() if isinstance(value, list | np.ndarray)}
        width = max((len(name) for name in (*texts, *others)), default=-2)
        lines = [f"{name:<{width}}  {_shortened(_text(value))}" for name, value in (*texts.items(), *others.items())]
        return "\n".join([*lines, f"{'':<{width + 2}}{', '.join(numbers)}"] if numbers else lines)


def preview(path: str | Path, rows: int = 3) -> Preview:
    """The first rows of a file or folder."""
    name = str(path)
    pattern = sides(name) is not None
    if not pattern and not Path(path).exists():
        raise DataError("file not found", file=path, remedy="Check the name and the folder.")
    if Path(path).is_dir():
        return _folder(Path(path), rows)
    suffix = without_compression(name).suffix
    try:
        if pattern or suffix == ".tmx":
            return _batches(name, read_pairs(path), rows)
        if suffix == ".parquet":
            with open_shard(path) as file:
                count, columns = file.metadata.num_rows, tuple(file.schema_arrow.names)
            return Preview(name, count, columns, tuple(islice(read_rows(path), rows)))
        if suffix == ".npy":
            vectors = np.atleast_2d(_map_array(path))
            first = tuple({"vector": vector.tolist()} for vector in vectors[:rows])
            return Preview(name, len(vectors), ("vector",), first)
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = str(error).rstrip(".")
        remedy = "Restore it from a copy, or create it again."
        raise DataError(f"cannot be read ({reason})", file=path, remedy=remedy) from None
    return _separated(name, rows) if suffix in (".csv", ".tsv") else _lines(name, suffix, rows)


def _folder(folder: Path, rows: int) -> Preview:
    run = folder / "run.json"
    corpora = [folder]
    if run.is_file():
        try:
            stages = json.loads(run.read_text(encoding="utf-8"))["stages"]
            corpora = [path_below(folder, stage["folder"], run) for stage in reversed(stages) if "folder" in stage]
        except (ValueError, KeyError, TypeError):
            raise DataError("cannot be read", file=run, remedy="Run the pipeline again.") from None
    if is_dataset(folder):
        read = load_object("paraloom.io.formats.hf_datasets:read_dataset")
        return _batches(str(folder), read(folder), rows)
    for path in corpora:
        if (path / "corpus.json").is_file():
            corpus = Corpus.open(path)
            return Preview(str(path), corpus.rows, tuple(corpus.schema.names), _first(corpus.batches(), rows))
    model = _summarize_model(folder, str(folder))
    if model.kind == "model":
        raise DataError("neither a corpus, a run nor a model", file=folder, remedy="Name a file, or such a folder.")
    return Preview(str(folder), None, (), (), model.format())


def _first(batches: Iterator[pa.RecordBatch], rows: int) -> tuple[dict[str, object], ...]:
    return tuple(islice(chain.from_iterable(batch.to_pylist() for batch in batches), rows))


def _batches(name: str, batches: Iterator[pa.RecordBatch], rows: int) -> Preview:
    shown: list[dict[str, object]] = []
    count = 0
    for batch in batches:
        shown += batch.slice(0, max(0, rows - len(shown))).to_pylist()
        count += batch.num_rows
        if count > _COUNTED:
            return Preview(name, None, tuple(batch.schema.names), tuple(shown))
    return Preview(name, count, tuple(shown[0]) if shown else ("src", "tgt"), tuple(shown))


def _lines(name: str, suffix: str, rows: int) -> Preview:
    lines = read_lines(name)
    first, count = _begin(lines, rows)
    if suffix == ".jsonl":
        return _json_lines(name, first[:rows], count)
    return Preview(name, count, (), tuple({"line": line} for line in first[:rows]))


def _json_lines(name: str, lines: Sequence[str], count: int | None) -> Preview:
    try:
        values = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        raise DataError("not JSON lines", file=name, remedy="Write a JSON object per line.") from None
    shown = tuple(value if isinstance(value, dict) else {"value": value} for value in values)
    return Preview(name, count, tuple(shown[0]) if shown else ("src", "tgt"), shown)


def _begin(items: Iterator[_Item], rows: int) -> tuple[list[_Item], int | None]:
    """The first items, one more than rows, and how many there are; None: too many to count."""
    first = list(islice(items, rows + 1))
    total = len(first) + sum(1 for _ in islice(items, _COUNTED))
    return first, total if total <= _COUNTED else None


def _separated(name: str, rows: int) -> Preview:
    first, count = _begin(_table_rows(name), rows)
    for number, row in enumerate(first, start=1):
        if isinstance(row, BadRow):
            raise row.error.at(file=name, row=number)
    lines = [row for row in first if not isinstance(row, BadRow)]
    return _table(name, lines, rows, count) if lines else Preview(name, count, (), ())


def _table(name: str, lines: Sequence[Sequence[str]], rows: int, count: int | None) -> Preview:
    """Rows of a table, by the names of its first line, if these can be names, or by numbers."""
    if not lines:
        return Preview(name, count, ("src", "tgt"), ())
    header = lines[0]
    named = all(field.isidentifier() for field in header) and len(set(header)) > len(header) // 2
    columns = [
        str(number) if not named else name if name not in header[: number - 1] else f"{name} ({number})"
        for number, name in enumerate(header, 1)
    ]
    cells = (zip(columns, line, strict=False) for line in lines[named : rows + named])
    shown = tuple({column: _value(column, field) for column, field in row} for row in cells)
    return Preview(name, None if count is None else count - named, tuple(columns), shown)


def preview_output(path: str | Path, rows: int = 3) -> Preview | None:
    """As `preview`, of what a command just wrote; None where there is nothing to show."""
    try:
        return None if is_output_stream(path) else preview(path, rows)  # a pipe that was written would be waited for
    except ParaloomError:
        return None


def _value(column: str, field: str) -> str | int | float:
    """A field of a table: a number, unless its column is one of text."""
    value: str | int | float = field if column in (*PAIRS.names, "text") else _number_or_text(field)
    return value


def _fields(row: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a row, and those of objects in it, by the names that options take, such as translation.de."""
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _fields(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _text(value: object) -> str:
    """A value as text; the numbers of a vector in four digits, and no more of them than fit."""
    if isinstance(value, list | np.ndarray) and len(value) and isinstance(value[0], float):
        return f"[{', '.join(_number(number) for number in value[:_WIDTH])}]"
    return value if isinstance(value, str) else json.dumps(_json_values(value), ensure_ascii=False)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: float) -> str:
    whole = isinstance(value, int) or (value.is_integer() and abs(value) < 1e15)
    return str(value).removesuffix(".0") if whole else f"{value:.3g}"


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
