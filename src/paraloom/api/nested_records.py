"""Records with texts inside, written again with other texts: chats, rows of any table, documents."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from paraloom.api.endpoints import with_answers
from paraloom.api.run import run_stages
from paraloom.api.translators import CHUNK, AnyTranslator, translator_stages
from paraloom.core.errors import ConfigError, RunError
from paraloom.core.results import ResultRecord
from paraloom.io import Corpus
from paraloom.io.documents import TEXT, in_its_place, is_document, words_of, write_document
from paraloom.io.formats.columns import path_keys
from paraloom.io.records import has_header, read_schema, record_format, write_records
from paraloom.io.texts import is_nested, nested_texts
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.sentences import ReadSentences
from paraloom.stages.variants import TranslateVariants
from paraloom.text.segments import Segment

MARKS_LOST = "code, a link or emphasis would be lost"
"""Reason of a sentence whose marks are not in what should replace it."""


@dataclass(frozen=True)
class RewrittenRecords(ResultRecord):
    """What became of the texts in records."""

    rows: int  # Rows that were written; every row that could be read
    unreadable: int  # Rows that could not be read
    texts: int  # Texts at the path
    segments: int  # Sentences in them, code, and places without a text
    replaced: int  # Sentences that were replaced
    unchanged: dict[str, int]  # Why others were left as they are, and how many of them

    def format(self) -> str:
        rows = f"{self.rows:,} row{'s' * (self.rows != 1)}" + (
            f", {self.unreadable:,} cannot be read" if self.unreadable else ""
        )
        texts = f"{self.texts:,} text{'s' * (self.texts != 1)}"
        lines = [f"{rows}, {texts}: {self.replaced:,} of {self.segments:,} segments replaced"]
        if self.unchanged:
            counts = "; ".join(f"{count:,} {reason}" for reason, count in Counter(self.unchanged).most_common())
            lines.append(f"left as they are: {counts}")
        return "\n".join(lines)


def translate_records(
    translator: AnyTranslator,
    source: str | Path,
    output: str | Path,
    *,
    column: str,
    decode: str | None = None,
    workers: int | None = None,
    check_languages: bool = True,
    on_error: OnError = "stop",
    seed: int = 1,
) -> RewrittenRecords:
    """Translate texts inside records or documents, such as the messages of chats; if stopped, the same call resumes.

    The output has the same rows with the same structure. Code, JSON and tables in the texts are left as they are, and a
    sentence keeps its own words where its translation failed, or would lose a link, a tag or code in backticks.

    Args:
        source: Records, .jsonl, .csv, .tsv or .parquet; or a document: .md, .html, .srt or .vtt.
        output: The same format again.
        column: The texts: a column, its number from 1 in a .csv or .tsv without a header, or a path such as
            messages.*.content, with * for every item of a list; text of a document.
        decode: How to decode. Default: beam:5; greedy for an endpoint.
    """
    path, target = Path(source), str(output)
    named = isinstance(translator, (str, Path))
    loading, reference, own = translator_stages(with_answers(str(translator), target) if named else translator)
    reading = record_stage(path, nested_column(path, column), target, on_error=on_error, shard_rows=CHUNK)
    stage = TranslateVariants(
        input=reading, translator=(reference,), decode=decode or own or "beam:5", check_languages=check_languages
    )
    written: list[RewrittenRecords] = []
    run_stages(
        [reading, *loading, stage],
        target,
        seed=seed,
        workers=workers,
        on_error=on_error,
        deliver=lambda result, path: rewrite_records(result, reading, path, "without a translation", written),
    )
    return written[0]


def nested_column(path: Path, column: str) -> str:
    """A column as a path, unless it is one."""
    return column if column.startswith("$.") or is_nested(path, column) else f"$.{column}"


def record_stage(path: Path, column: str, output: str, *, on_error: OnError, shard_rows: int) -> ReadSentences:
    """The stage that reads the sentences of the texts in records; the output must have the format of the input."""
    if not is_document(path, output) and (kind := record_format(path)) != record_format(output):
        raise ConfigError(
            f"records of {kind} are written in the same format, not as {record_format(output)}",
            file=output,
            remedy=f"Name an output such as out{kind}.",
        )
    return ReadSentences(
        name="input",
        text_files=(path.absolute(),),
        field=column,
        lang="und",
        max_length=sys.maxsize,
        distinct=False,
        shard_rows=shard_rows,
        bad_rows=on_error,
    )


def rewrite_records(
    result: RunResult, reading: ReadSentences, output: str, missing: str, written: list[RewrittenRecords]
) -> list[dict[str, Any]]:
    """Write the records that a stage read, each sentence replaced by its first variant; returns unreadable rows."""
    source, column = reading.text_files[0], str(reading.field)
    document = is_document(source)
    answers = answers_of(result.stage(reading.name).folder, result.stages[-1].folder, "text")
    unchanged: Counter[str] = Counter()
    unreadable: list[dict[str, object]] = []
    rows = texts = replaced = 0

    def on_bad(row: int, reason: str, raw: str) -> None:
        unreadable.append({"file": str(source), "row": row, "reason": reason, "text": raw})

    def answered(sentence: str) -> Segment:
        _, original, variants = next(answers, (0, "", []))
        if original != words_of(source, sentence):
            raise RunError("the file changed while it was read", file=source, remedy="Run again.")
        if not (variants and variants[0]["text"].strip()):
            return Segment(sentence, missing)
        text = in_its_place(source, sentence, variants[0]["text"])
        return Segment(sentence, MARKS_LOST) if text is None else Segment(text)

    def records() -> Iterator[dict[str, Any]]:
        nonlocal rows, texts, replaced
        for record, of_record in nested_texts(source, column, None if reading.bad_rows == "stop" else on_bad):
            rows += 1
            for text in of_record:
                parts = [answered(one.text) if one.reason is None else one for one in text.segments]
                replaced += sum(part.reason is None for part in parts)
                unchanged.update(part.reason for part in parts if part.reason)
                if text.slot is not None:
                    texts += 1
                    text.slot.holder[text.slot.key] = "".join(part.text for part in parts)
            yield record.values

    rewritten = records()
    first = next(rewritten)
    if document:
        write_document(first[TEXT], output)
    else:
        header = has_header(source, path_keys(column)[-1])
        write_records(chain([first], rewritten), output, list(first), read_schema(source), header=header)
    written.append(
        RewrittenRecords(rows, len(unreadable), texts, replaced + unchanged.total(), replaced, dict(unchanged))
    )
    return unreadable


def answers_of(source: Path, answered: Path, column: str) -> Iterator[tuple[int, str, list[dict[str, Any]]]]:
    """Each text of a corpus with its number in the input, from 0, and its variants."""
    corpus, kept = Corpus.open(source), Corpus.open(answered)
    sentences = "text" in corpus.schema.names and column in ("", "text")
    groups = groupby((row for batch in kept.batches() for row in batch.to_pylist()), key=lambda row: row["pair_id"])
    name, rows = next(groups, (None, iter(())))
    count = 0
    for batch in corpus.batches():
        for row in batch.to_pylist():
            key = f"{row['doc_id']}:{row['sent_id']}" if sentences else row["pair_id"]
            variants: list[dict[str, object]] = []
            if key == name:
                variants = list(rows)
                name, rows = next(groups, (None, iter(())))
            original = row["text"] if sentences else row[column or "src"]
            yield (row["sent_id"] if sentences else count), original, variants
            count += 1
