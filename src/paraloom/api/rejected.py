"""Rows that could not be read or processed: written beside the output with their reasons, and reported."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from paraloom.core.errors import DataError
from paraloom.core.stage import Stage
from paraloom.io import open_write, read_batches, read_lines
from paraloom.io.compression import PIPE, decode, read_raw_lines, without_compression
from paraloom.io.formats.base import raw_text
from paraloom.io.formats.names import sides
from paraloom.io.tables import check_lines
from paraloom.pipeline.definition import Definition
from paraloom.pipeline.result import RunResult, StageResult
from paraloom.pipeline.shard import OnError

SUFFIX = ".rejected.jsonl"
"""End of the name of the file beside an output."""

_SHOWN_ROWS = 3
_FORMATS = (".tsv", ".csv", ".jsonl", ".parquet", ".tmx")


def rejected_file(output: str | Path) -> Path:
    path = Path(output)
    two = sides(str(output))
    if two is not None:
        return Path(two.src).with_name(two.stem + SUFFIX)
    name = path.name
    for suffix in (".gz", ".zst", ".xz"):
        name = name.removesuffix(suffix)
    for suffix in _FORMATS:
        name = name.removesuffix(suffix)
    return path.with_name(name + SUFFIX)


def _asks_endpoint(stage: Stage) -> bool:
    """Whether the rows that a stage rejects are sentences that an endpoint did not translate."""
    from paraloom.stages.pairs import BackTranslate
    from paraloom.stages.variants import TranslateVariants

    return isinstance(stage, (BackTranslate, TranslateVariants))


def rejected_rows(definition: Definition, result: RunResult) -> Iterator[dict[str, Any]]:
    """The rows that could not be read, or that a stage could not process; not those that a filter rejects."""
    from paraloom.stages.bitext import ReadPairs, ReadScoredPairs

    for step, stage in zip(definition.steps, result.stages, strict=False):
        if isinstance(step.stage, (ReadPairs, ReadScoredPairs)) and not getattr(step.stage, "where", ""):
            yield from _unread(str(step.stage.source), stage)
        if "requests" in stage.figures and _asks_endpoint(step.stage):
            for row in _rows(stage, "rejected"):
                where = {"stage": step.name, "pair_id": row["pair_id"]}
                yield {**where, "reason": row["reason"], "text": str(row.get("pivot", row.get("original")) or "")}
        for row in _rows(stage, "failed"):
            texts = [str(row[name]) for name in ("src", "tgt", "text") if row.get(name) is not None]
            where = {"stage": step.name, "pair_id": row.get("pair_id")}
            yield {**where, "reason": row["error"], "text": "\t".join(texts)}


def report_rejected(
    definition: Definition, result: RunResult, output: str | Path | None = None, unread: Iterable[dict[str, Any]] = ()
) -> None:
    """Write the rejected rows beside the output, and warn with the first of them; nothing if there are none."""
    _write_rejected(chain(unread, rejected_rows(definition, result)), output)


class RejectedLines:
    """Lines that are not UTF-8: an error that names the option, or rejected and read as empty, to keep row numbers."""

    def __init__(self, on_error: OnError) -> None:
        self.on_error = on_error
        self.rows: list[dict[str, Any]] = []
        self.numbers: set[int] = set()

    def read(self, source: str) -> Iterator[str]:
        """The lines of a file; '-' is standard input."""
        if without_compression(source).suffix != ".tsv":  # whose lines may be texts with tabs
            check_lines(Path(source))
        for row, line in enumerate(read_raw_lines(source), 1):
            try:
                text = decode(line, source, row)
            except DataError as error:
                if self.on_error == "stop":
                    error.remedy = f"{(error.remedy or '').rstrip('.')}; or leave such lines out: --on-error reject."
                    raise error.at(file=_name(source)) from None
                self.rows.append({"file": _name(source), "row": row, "reason": error.what, "text": raw_text(line)})
                self.numbers.add(row)
                text = ""
            yield text

    def add(self, source: str, row: int, reason: str, text: str) -> None:
        """Reject a line that was read, such as one without a translation."""
        if row not in self.numbers:
            self.rows.append({"file": _name(source), "row": row, "reason": reason, "text": text})
            self.numbers.add(row)

    def report(self, output: str | Path | None) -> None:
        """Write the rejected lines beside the output, and warn with the first of them; nothing if there are none."""
        _write_rejected(iter(self.rows), output)


def _name(source: str) -> str:
    return "standard input" if source == PIPE else _shown(source)


def _write_rejected(rows: Iterator[dict[str, Any]], output: str | Path | None) -> None:
    first = list(islice(rows, _SHOWN_ROWS))
    path = None if output is None or str(output) == PIPE else rejected_file(output)
    if not first:
        if path is not None and _is_ours(path):
            path.unlink()  # of an earlier output with this name
        return
    count = 0
    if path is None:
        count = len(first) + sum(1 for _ in rows)
    else:
        with open_write(path) as stream:
            for row in chain(first, rows):
                stream.write((json.dumps(row, ensure_ascii=False) + "\n").encode(errors="backslashreplace"))
                count += 1
    shown = "; ".join(_described(row) for row in first) + (" …" if count > len(first) else "")
    rejected = "1 row was" if count == 1 else f"{count:,} rows were"
    warnings.warn(f"{rejected} rejected{'' if path is None else f', see {path}'}: {shown}", stacklevel=4)


def _unread(source: str, stage: StageResult) -> Iterator[dict[str, Any]]:
    from paraloom.stages.bitext import UNREAD

    for row in _rows(stage, "rejected"):
        unread = row["origin"] == UNREAD
        where = {"row": int(row["pair_id"])} if unread else {"pair_id": row["pair_id"]}
        text = row["src"] if unread else f"{row['src'] or ''}\t{row['tgt'] or ''}"
        yield {"file": _shown(source), **where, "reason": row["reason"], "text": text}


def _rows(stage: StageResult, split: str) -> Iterator[dict[str, Any]]:
    for shard in sorted((stage.folder / split).glob("*.parquet")):
        for batch in read_batches(shard):
            yield from batch.to_pylist()


def _described(row: Mapping[str, object]) -> str:
    where = f"row {row['row']}" if "row" in row else str(row["pair_id"])
    return f"{where} of {row['file']}: {row['reason']}" if "file" in row else f"{where}: {row['reason']}"


def _shown(source: str) -> str:
    """A path as a user would name it: relative to the working folder, if it is below that."""
    path = Path(source)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else source


def _is_ours(path: Path) -> bool:
    """Whether a file is a list of rejected rows."""
    if not path.is_file():
        return False
    try:
        return {"reason", "text"} <= set(json.loads(next(iter(read_lines(path)), "null")) or ())
    except (DataError, ValueError, TypeError):
        return False
