"""Noisy texts in a file, or given, in their standard form: which were changed, and why others stay as they are."""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from paraloom.api.named_models import named_protector
from paraloom.api.outputs import check_output
from paraloom.bundled import bundled_path
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.progress import progress
from paraloom.core.results import ResultRecord
from paraloom.io import open_write, read_lines
from paraloom.io.compression import PIPE
from paraloom.io.records import (
    has_records,
    read_records,
    read_schema,
    record_format,
    schema_of_records,
    with_columns,
    write_records,
)
from paraloom.paraphrasing.spelling import CHANGED, KEPT, UNCHANGED, Canonicalizer, CanonicalText, Speller
from paraloom.stages.input_checks import SAMPLE_ROWS
from paraloom.stages.syntax import word_vectors
from paraloom.text.function_words import sample_language, suspected_language
from paraloom.text.language_names import language_name

FORM, STATUS, REASON = COLUMNS = ("canonical", "canonical_status", "canonical_reason")
"""Columns that are added to a table: the standard form; changed, unchanged or kept; why a text was kept."""

_TYPES = dict.fromkeys(COLUMNS, pa.string())
_NOT_TEXT = "not a text"
_TEXT_NAMES = ("text", "sentence", "question", "utterance", "review", "comment", "tweet", "content", "message", "query")


@dataclass(frozen=True)
class Canonicalization(ResultRecord):
    """What became of texts."""

    output: str
    texts: int
    changed: int
    unchanged: int
    kept: dict[str, int]
    method: str

    def format(self) -> str:
        count = sum(self.kept.values())
        reasons = "; ".join(f"{number:,} {reason}" for reason, number in self.kept.items())
        kept = f", {count:,} kept as {'it is' if count == 1 else 'they are'} ({reasons})" if count else ""
        noun = "text" if self.texts == 1 else "texts"
        return f"{self.texts:,} {noun}: {self.changed:,} changed, {self.unchanged:,} unchanged{kept}"


def open_canonicalizer(*, hold: Sequence[str] | None = None, terms: str | Path | Sequence[str] = ()) -> Canonicalizer:
    """A canonicalizer of English text."""
    return Canonicalizer(english_speller(), named_protector(hold, terms, "en"))


def check_english(texts: Sequence[str]) -> None:
    """Refuse texts in another language than English, that of the rules; warn where they are too few to be sure."""
    identified = sample_language(texts)
    if identified not in (None, "en"):
        raise DataError(
            f"the texts are {language_name(identified)}, and the rules are for English",
            remedy="If they are right as they are, switch the check off: --no-language-check.",
        )
    if identified is None and (suspected := suspected_language(texts, "en")) is not None:
        warnings.warn(f"the text looks {language_name(suspected)}, and the rules are for English", stacklevel=2)


def canonicalize_file(
    source: str | Path | Sequence[str],
    canonicalizer: Canonicalizer,
    output: str | Path = PIPE,
    *,
    text: str | int | None = None,
    check: Callable[[Sequence[str]], None] | None = None,
    report: Callable[[CanonicalText], None] | None = None,
) -> Canonicalization:
    """Write the standard form of texts.

    A table of records stays as it is, with `COLUMNS` added. Of lines of text, the output has the standard forms, a line
    each; or, if it is a table, a row each. The output appears whole or not at all.
    """
    file = str(source) if isinstance(source, (str, Path)) else PIPE
    if str(output) != PIPE:
        check_output(output, [] if file == PIPE else [file])
    texts = _read_table(file, text) if has_records(file) else _read_lines(source)
    if check is not None:
        _check(check, texts.sample, source)
    statuses: Counter[tuple[str, str]] = Counter()

    def forms() -> Iterator[tuple[dict[str, Any], CanonicalText]]:
        with progress("canonicalizing", texts.total, unit="texts") as advance:
            for row, one in _forms(texts.rows, texts.column, canonicalizer):
                statuses[one.status, one.reason] += 1
                if report is not None:
                    report(one)
                yield row, one
                advance(1)

    _write(forms(), texts, output)
    kept = Counter({reason: count for (status, reason), count in statuses.items() if status == KEPT})
    return Canonicalization(
        *(str(output), statuses.total(), statuses[CHANGED, ""], statuses[UNCHANGED, ""]),
        *(dict(kept.most_common()), canonicalizer.signature),
    )


class _Texts(NamedTuple):
    """Rows with a text each, the first texts, and of a table its file, columns, number of rows and header."""

    rows: Iterable[dict[str, Any]]
    sample: list[str]
    table: str = ""
    columns: Sequence[str] = ("text",)
    column: str = "text"
    total: int | None = None
    header: bool = True


def _read_lines(source: str | Path | Sequence[str]) -> _Texts:
    lines = read_lines(source) if isinstance(source, (str, Path)) else iter(source)
    sample = list(islice(lines, SAMPLE_ROWS))
    return _Texts(({"text": line} for line in chain(sample, lines)), sample)


def _write(forms: Iterable[tuple[dict[str, Any], CanonicalText]], texts: _Texts, output: str | Path) -> None:
    """Write the forms; what is printed is written already, by a report on each."""
    if str(output) == PIPE:
        deque(forms, 0)
    elif has_records(output):
        types = pa.schema([("text", pa.string())])
        if texts.table and record_format(output) == ".parquet":
            types = _schema(texts.table, texts.header)
        added = (row | _columns(one) for row, one in forms)
        columns = [*texts.columns, *COLUMNS]
        write_records(added, output, columns, with_columns(types, _TYPES), header=texts.header)
    else:
        with open_write(output) as stream:
            for _, one in forms:
                stream.write(" ".join(one.text.splitlines()).encode() + b"\n")


def _check(check: Callable[[Sequence[str]], None], sample: Sequence[str], source: str | Path | Sequence[str]) -> None:
    """Check a sample of texts; an error names the file that they are from."""
    try:
        check(sample)
    except DataError as error:
        raise (error.at(file=source) if isinstance(source, (str, Path)) else error) from None


def _read_table(path: str, text: str | int | None) -> _Texts:
    """The rows of a table, whose columns, first texts and number are known; it is read twice."""
    header = not str(text or "").isdigit()
    columns: dict[str, None] = {}
    sample, total, column = list[str](), 0, ""
    for record in read_records(path, header=header):
        column = column if total else _text_column(path, text, list(record.values))
        columns.update(dict.fromkeys(record.values))
        total += 1
        if len(sample) < SAMPLE_ROWS and isinstance(value := record.values.get(column), str):
            sample.append(value)
    if not total:
        raise DataError("no row can be read", file=path, remedy="Check the file and its format.")
    if again := next((name for name in COLUMNS if name in columns), None):
        raise ConfigError(
            f"the table has a column '{again}' already",
            file=path,
            remedy="Give the table as it was before, or rename that column.",
        )
    rows = (record.values for record in read_records(path, header=header))
    return _Texts(rows, sample, path, list(columns), column, total, header)


def _text_column(path: str, given: str | int | None, names: Sequence[str]) -> str:
    """The column that was named, or the first one that is named as texts often are."""
    if given is not None and str(given) in names:
        return str(given)
    remedy = f"Name the column of the text with --text; the columns are {', '.join(names)}."
    if given is not None:
        raise ConfigError(f"column '{given}' not found{nearest(str(given), list(names))}", file=path, remedy=remedy)
    noticed = next((name for known in _TEXT_NAMES for name in names if name.lower() == known), None)
    if noticed is None:
        raise ConfigError("the column of the text was not noticed", file=path, remedy=remedy)
    return noticed


def _schema(path: str, header: bool) -> pa.Schema:
    return read_schema(path) or schema_of_records(record.values for record in read_records(path, header=header))


def _forms(
    rows: Iterable[dict[str, Any]], column: str, canonicalizer: Canonicalizer
) -> Iterator[tuple[dict[str, Any], CanonicalText]]:
    for row in rows:
        value = row.get(column)
        if isinstance(value, str):
            (form,) = canonicalizer.canonicalize([value])
        else:
            form = CanonicalText("", "", KEPT, _NOT_TEXT)
        yield row, form


def _columns(one: CanonicalText) -> dict[str, Any]:
    return {FORM: None if one.reason == _NOT_TEXT else one.text, STATUS: one.status, REASON: one.reason or None}


@cache
def english_speller() -> Speller:
    folder = bundled_path("english")
    assert folder is not None
    words, _ = word_vectors(folder)
    return Speller(words)
