"""Scores of the pairs inside records: a list for each record, its minimum and its mean."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.api.pair_inputs import read_pairs
from paraloom.api.run import run_stages
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.results import ResultRecord
from paraloom.core.schema import PAIRS
from paraloom.core.stage import Stage
from paraloom.io import Corpus
from paraloom.io.formats.base import ReadOptions, json_column
from paraloom.io.nested_pairs import record_pairs
from paraloom.io.records import read_records, read_schema, record_format, with_columns, write_records
from paraloom.io.tables import files_of_bitext
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.scores import Score

_LOOKED_AT = 100  # Records of a file without types, before any work


@dataclass(frozen=True)
class ScoredRecords(ResultRecord):
    """What was scored in records."""

    rows: int  # Rows that were written
    pairs: int  # Places for a pair in them
    scored: int  # Pairs with a text on both sides; the scores of others are null

    def format(self) -> str:
        return f"{self.rows:,} row{'s' * (self.rows != 1)}: {self.scored:,} of {self.pairs:,} pairs scored"


def score_records(
    source: str,
    output: str,
    *,
    src_column: str | int | None = None,
    tgt_column: str | int | None = None,
    engine: str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
    **scoring: Any,
) -> ScoredRecords:
    """Score the pairs at two paths in records, and write the records with the scores; stopped, it resumes.

    Each score is a list in the order of the texts, null where one is missing, and NAME_min and NAME_mean are the
    minimum and the mean of the others.

    Args:
        source: A table of records, .jsonl or .parquet; or two with the same rows, as 'chats{,.en}.jsonl'.
        output: The same format again, with the records of the second table.
        src_column: Path of the source texts, such as 'turns.*.de'; of two tables one path is enough.
        tgt_column: Path of the target texts. A path without * has the one text that each of the other is paired with.
        **scoring: As `Pairs.score` takes it.
    """
    last = str(files_of_bitext(Path(source))[-1])
    if (kind := record_format(last)) != record_format(output):
        raise ConfigError(
            f"records of {kind} are written in the same format",
            file=output,
            remedy=f"Name an output such as out{kind}.",
        )
    pairs = read_pairs(source, src_column=src_column, tgt_column=tgt_column, on_error=on_error).score(**scoring)
    _check_scores(pairs.stages, last)
    ignore = None if on_error == "stop" else lambda *_: None  # What was rejected is reported where pairs are read.
    options = ReadOptions(source, src_column=src_column, tgt_column=tgt_column, on_reject=ignore)
    counts = {"rows": 0, "pairs": 0, "scored": 0}

    def deliver(result: RunResult, path: str) -> list[dict[str, Any]]:
        scored = Corpus.open(result.stages[-1].folder)
        scores = {field.name: field.type for field in scored.schema if field.name not in PAIRS.names}
        types: dict[str, pa.DataType] = {}
        for name, kind in scores.items():
            types[name] = pa.list_(kind)
            if pa.types.is_floating(kind) or pa.types.is_integer(kind):
                types |= {f"{name}_min": kind, f"{name}_mean": pa.float64()}

        def records() -> Iterator[dict[str, Any]]:
            # As files of pairs have them: numbers of 32 bits in their shortest form.
            rows = (
                dict(zip(batch.schema.names, row, strict=True))
                for batch in scored.batches(["pair_id", *scores])
                for row in zip(*map(json_column, batch.columns), strict=True)
            )
            following = next(rows, None)
            for row, (values, places) in record_pairs(options):
                _check_free(types, values, last, row)
                columns: dict[str, list[object]] = {name: [] for name in scores}
                for name in places:
                    row_scores: dict[str, object] = {}
                    if following is not None and following["pair_id"] == name:
                        row_scores, following = following, next(rows, None)
                        counts["scored"] += 1
                    for score, column in columns.items():
                        column.append(row_scores.get(score))
                counts["rows"] += 1
                counts["pairs"] += len(places)
                yield values | _aggregated(columns, types)

        written = records()
        first = next(written)
        schema = read_schema(last)
        write_records(chain([first], written), path, list(first), schema and with_columns(schema, types))
        return []

    run_stages(pairs.stages, output, engine=engine, workers=workers, on_error=on_error, deliver=deliver)
    return ScoredRecords(**counts)


def _check_scores(stages: Sequence[Stage], file: str) -> None:
    """Check, before any work, that the first records have no column of a score that will be added."""
    for score in (stage for stage in stages if isinstance(stage, Score)):
        names = [name + end for name in score.known_columns() for end in ("", "_min", "_mean")]
        try:
            if schema := read_schema(file):
                _check_free(names, schema.names, file)
            else:
                for record in islice(read_records(file, on_bad=lambda *_: None), _LOOKED_AT):
                    _check_free(names, record.values, file, record.row)
        except DataError as error:
            raise error.at(stage=score.name) from None


def _check_free(names: Iterable[str], columns: Container[str], file: str, row: int | None = None) -> None:
    """Raise DataError for the first name of a score that a record has as a column."""
    if taken := next((name for name in names if name in columns), None):
        raise DataError(
            f"the records have a column '{taken}' already, which a score is written to",
            file=file,
            row=row,
            remedy="Rename or remove it, or leave that score out.",
        )


def _aggregated(columns: dict[str, list[Any]], types: dict[str, pa.DataType]) -> dict[str, Any]:
    """The scores of a record, each followed by its minimum and mean."""
    values: dict[str, object] = {}
    for name, column in columns.items():
        values[name] = column
        if f"{name}_min" in types:
            known = [value for value in column if value is not None]
            values[f"{name}_min"] = min(known, default=None)
            values[f"{name}_mean"] = sum(known) / len(known) if known else None
    return values
