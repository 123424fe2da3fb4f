"""Labeled sets of texts: which columns are the text and the label, what is wrong with a set, and how many rows."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.api.rejected import RejectedLines
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.io.records import Record, read_records, read_schema, record_format, schema_of_records
from paraloom.pipeline.shard import OnError
from paraloom.stages.input_checks import SAMPLE_ROWS

TEXT_NAMES = (
    *("text", "sentence", "question", "utterance", "review", "comment", "tweet", "headline", "content", "document"),
    *("body", "title", "message", "query"),
)
"""Names of columns of texts, the likeliest first."""

LABEL_NAMES = ("label", "labels", "class", "category", "intent", "sentiment", "target", "topic", "tag", "coarse_label")
"""Names of columns of labels, the likeliest first."""

_SHOWN_COLUMNS = 12


@dataclass
class LabeledSet:
    """A labeled set in a file, read as often as it is needed.

    Args:
        path: The file.
        text: Column of the texts.
        label: Column of the labels.
        header: Whether the first row of .csv and .tsv names the columns.
        rejected: Rows that are left out.
        columns: All columns.
        counts: Rows of each label, by `label_key`.
        names: Key of a label → the label as it is shown.
        sample: The first texts.
    """

    path: str
    text: str
    label: str
    header: bool
    rejected: RejectedLines
    columns: list[str] = field(default_factory=list)
    counts: Counter[Hashable] = field(default_factory=Counter)
    names: dict[Hashable, str] = field(default_factory=dict)
    sample: list[str] = field(default_factory=list)

    def records(self) -> Iterator[Record]:
        """All rows that are not rejected, in order."""
        for record in read_records(self.path, header=self.header, on_bad=self.report_bad):
            if record.row not in self.rejected.numbers:
                yield record

    def report_bad(self, row: int, reason: str, raw: str) -> None:
        """Keep, or raise, what is wrong with a row."""
        if self.rejected.on_error == "stop":
            raise DataError(
                reason,
                file=self.path,
                row=row,
                remedy="Fix the row; or leave such rows out: --on-error reject (on_error='reject' in Python).",
            )
        self.rejected.add(self.path, row, reason, raw)

    def schema(self) -> pa.Schema:
        """Types of all columns: those of a Parquet file, or those that hold all values."""
        try:
            return read_schema(self.path) or schema_of_records(record.values for record in self.records())
        except DataError as error:
            raise error.at(file=self.path) from None


def survey_labeled_set(
    path: str | Path, *, text: str | int | None = None, label: str | int | None = None, on_error: OnError = "stop"
) -> LabeledSet:
    """Read a labeled set once, and check all of its rows."""
    suffix = record_format(path)
    numbered = suffix in (".csv", ".tsv") and all(str(name).isdigit() for name in (text, label))
    labeled = LabeledSet(str(path), "", "", not numbered, RejectedLines(on_error))
    first = next(read_records(path, header=labeled.header, on_bad=lambda *_: None), None)
    if first is None:
        raise DataError("no row can be read", file=path, remedy="Check the file and its format.")
    names = list(first.values)
    labeled.text = choose_column(path, "text", text, TEXT_NAMES, names)
    labeled.label = choose_column(path, "label", label, LABEL_NAMES, [name for name in names if name != labeled.text])
    columns: dict[str, None] = {}
    for record in labeled.records():
        columns.update(dict.fromkeys(record.values))
        reason = _row_problem(record.values, labeled.text, labeled.label)
        if reason:
            labeled.report_bad(record.row, reason, json.dumps(record.values, ensure_ascii=False, default=str))
            continue
        value = record.values[labeled.label]
        key = label_key(value)
        labeled.counts[key] += 1
        labeled.names.setdefault(key, value if isinstance(value, str) else json.dumps(value, default=str))
        if len(labeled.sample) < SAMPLE_ROWS:
            labeled.sample.append(record.values[labeled.text])
    labeled.columns = list(columns)
    _check_labels(labeled)
    return labeled


def label_key(value: Any) -> Hashable:
    """A label as a key: lists and objects as JSON; 1 and True are different labels."""
    if isinstance(value, str):
        return value
    return ("json", json.dumps(value, ensure_ascii=False, sort_keys=True, default=str))


def choose_column(
    path: str | Path, what: str, given: str | int | None, known: Sequence[str], names: Sequence[str]
) -> str:
    """The column that was named, or the one that has a known name."""
    shown = ", ".join(names[:_SHOWN_COLUMNS]) + (" …" if len(names) > _SHOWN_COLUMNS else "")
    if given is not None:
        name = str(given)
        if name in names:
            return name
        raise ConfigError(
            f"column '{name}' not found{nearest(name, list(names))}",
            file=path,
            remedy=f"Name the column of the {what} with --{what}; the columns are {shown}.",
        )
    lowered = {name.lower(): name for name in reversed(names)}
    noticed = next((lowered[name] for name in known if name in lowered), None)
    if noticed is None:
        raise ConfigError(
            f"the column of the {what} was not noticed among {shown}",
            file=path,
            remedy=f"Name it with --{what}. Of a table without a header, give both by number: --text 2 --label 1.",
        )
    return noticed


def _row_problem(values: dict[str, Any], text: str, label: str) -> str:
    """What is wrong with a row; '' if nothing is."""
    value = values.get(text)
    if value is None or (isinstance(value, str) and not value.strip()):
        return f"the text, '{text}', is empty"
    if not isinstance(value, str):
        return f"'{text}' must be text, got {json.dumps(value, default=str)[:40]}"
    value = values.get(label)
    missing = value is None or (isinstance(value, str) and not value.strip())
    if missing or (isinstance(value, float) and math.isnan(value)):
        return f"the label, '{label}', is missing"
    return ""


def _check_labels(labeled: LabeledSet) -> None:
    rows = labeled.counts.total()
    if not rows:
        raise DataError("no row is left", file=labeled.path, remedy="Check the columns of text and label.")
    if len(labeled.counts) == 1:
        name = next(iter(labeled.names.values()))
        raise DataError(
            f"all {rows:,} rows have the label '{name}': a set to classify has two labels or more",
            file=labeled.path,
            remedy="Check the column of the label (--label); to paraphrase texts, use `paraloom paraphrase`.",
        )
