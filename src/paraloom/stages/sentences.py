"""Stages that read single sentences, load an encoder and compute their vectors."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from paraloom.core.config import check_range
from paraloom.core.errors import ConfigError, nearest
from paraloom.core.lazy import late
from paraloom.core.reasons import HELD_OUT
from paraloom.core.schema import LANGUAGE_OF, SENTENCES, add_column, with_reasons
from paraloom.core.stage import Fit, Json, Map, Ref, Source, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.io import Corpus
from paraloom.io.bitext import UNKNOWN
from paraloom.io.texts import read_texts
from paraloom.stages.bitext import held_out

_CHUNK_ROWS = 5000


class _Texts(NamedTuple):
    """Texts, with the name of where each is from, its stated language and the reason why it is not used."""

    names: Sequence[str]
    texts: Sequence[str]
    langs: Sequence[str | None]
    faults: Sequence[str | None]

    def head(self, rows: int) -> _Texts:
        return _Texts(self.names[:rows], self.texts[:rows], self.langs[:rows], self.faults[:rows])


@dataclass(frozen=True, kw_only=True)
class ReadSentences(Source):
    """Reads the sentences of corpora and text files; duplicates, empty and long ones are rejected.

    Args:
        corpora: Corpora of pairs or sentences.
        columns: Text columns to read from the corpora, as far as they exist: 'src', 'tgt' or 'text'.
        text_files: Files with a sentence per line: .txt, .tsv or .jsonl, plain or compressed; or folders that
            `Dataset.save_to_disk` wrote. Read after the corpora.
        field: Field to read from a line. In .tsv its number, from 1, or from the end with -1, or its name in the
            header; in .jsonl the key; of a data set the column. 0: the whole line, or the key 'text'. A path such as
            messages.*.content or $.text reads the sentences of the texts there, of .parquet and .csv, too; code, JSON
            and tables in them are rejected.
        lang: Language of the sentences. Texts of a corpus that are labeled with another one are rejected, except with
            'und' (any language).
        max_length: Maximum number of characters of a sentence.
        limit: Maximum number of texts to read, from the beginning; 0 for all.
        distinct: Reject a text that was read before.
        capitalize: Upper-case the first letter of each text, for text that was lower-cased.
        held_out: Test sets, as in :class:`Clean`. What is near to a text (in files: of three words on) is rejected.
        bad_rows: 'stop' at a line that cannot be read (not UTF-8, not JSON), or 'reject' it with the reason.

    Raises:
        ConfigError: Neither `corpora` nor `text_files` is given, or a column is unknown.
        DataError: When it runs: a line cannot be read.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "text.txt"
        >>> _ = file.write_text("A dog sleeps.\\nA dog sleeps.\\n")
        >>> batch = next(ReadSentences(text_files=[file]).batches(StageContext(seed=1)))
        >>> batch.column("keep").to_pylist()
        [True, False]
    """

    output_schema: ClassVar[str] = "SENTENCES"
    version: ClassVar[str] = "2"
    optional_fields: ClassVar[tuple[str, ...]] = ("capitalize", "distinct")

    corpora: tuple[Ref, ...] = ()
    columns: tuple[str, ...] = ("src", "tgt", "text")
    text_files: tuple[Path, ...] = ()
    field: int | str = 0
    lang: str = "en"
    max_length: int = 400
    limit: int = 0
    distinct: bool = True
    capitalize: bool = False
    held_out: tuple[Ref, ...] = ()
    bad_rows: Literal["stop", "reject"] = "stop"

    def validate(self) -> None:
        for column in self.columns:
            if column not in LANGUAGE_OF:
                raise ConfigError(f"key 'columns': unknown column '{column}'{nearest(column, list(LANGUAGE_OF))}")
        if not (self.corpora or self.text_files):
            raise ConfigError("key 'corpora' or 'text_files' is missing", remedy="Name at least one corpus or file.")
        check_range(self, "limit", low=0)

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        from paraloom.text.hashing import TextSet

        seen, count = TextSet(), 0
        for names, texts, langs, faults in self._within_limit(context):
            stripped = [" ".join(text.split()) for text in texts]
            if self.capitalize:
                stripped = [text[:1].upper() + text[1:] for text in stripped]
            levels = held_out(context.paths("held_out")).find(stripped).tolist() if self.held_out else [0] * len(texts)
            faults = [
                fault or self._foreign(lang) or HELD_OUT[level] or None
                for fault, lang, level in zip(faults, langs, levels, strict=True)
            ]
            # A text that is rejected for another reason does not make an equal one a duplicate.
            new = seen.add(["" if fault else text for text, fault in zip(stripped, faults, strict=True)]).tolist()
            reasons = [
                fault or _reason(text, is_new or not self.distinct, self.max_length)
                for fault, text, is_new in zip(faults, stripped, new, strict=True)
            ]
            numbers = range(count, count + len(texts))
            columns = {"doc_id": names, "sent_id": numbers, "lang": [self.lang] * len(texts), "text": stripped}
            yield with_reasons(pa.record_batch(columns, schema=SENTENCES), reasons)
            count += len(texts)

    def _foreign(self, lang: str | None) -> str | None:
        accepted = self.lang == UNKNOWN or lang in (None, "", UNKNOWN, self.lang)
        return None if accepted else f"in '{lang}'"

    def _within_limit(self, context: StageContext) -> Iterator[_Texts]:
        remaining = self.limit or sys.maxsize
        for part in self._texts(context):
            yield part.head(remaining)
            remaining -= len(part.texts)
            if remaining <= 0:
                return

    def _texts(self, context: StageContext) -> Iterator[_Texts]:
        remaining = self.limit or sys.maxsize
        for reference, path in zip(self.corpora, context.paths("corpora"), strict=True):
            for part in self._texts_of_corpus(reference, path):
                remaining -= len(part.texts)
                yield part
        for path in self.text_files:
            rows = read_texts(path, self.field, reject=self.bad_rows == "reject")
            # Lines after the limit are not read, so that none of them can be faulty.
            while chunk := list(islice(rows, min(_CHUNK_ROWS, max(remaining, 0)))):
                remaining -= len(chunk)
                texts, faults = [row.text for row in chunk], [row.error for row in chunk]
                yield _Texts([row.slot or path.name for row in chunk], texts, [None] * len(chunk), faults)

    def _texts_of_corpus(self, reference: Ref, path: Path) -> Iterator[_Texts]:
        corpus = Corpus.open(path)
        known = corpus.schema.names
        languages = {column: LANGUAGE_OF[column] for column in self.columns if column in known}
        if not languages:
            raise ConfigError(f"'{reference}' has none of the columns {', '.join(self.columns)}")
        for batch in corpus.batches([*languages, *(name for name in languages.values() if name in known)]):
            nothing = [None] * batch.num_rows
            for column, language in languages.items():
                texts = [text or "" for text in batch.column(column).to_pylist()]
                stated = batch.column(language).to_pylist() if language in known else nothing
                yield _Texts([Path(str(reference)).name] * len(texts), texts, stated, nothing)


@dataclass(frozen=True, kw_only=True)
class LoadEncoder(Fit):
    """Converts a sentence-transformers model to CTranslate2, for fast encoding on this processor.

    Args:
        folder: Folder of the model, or a stage `distill-transformer`.
        model: Hugging Face name of the model, instead of `folder`; downloaded unless it is in the local cache.
        precision: Precision of the weights, as CTranslate2 names it, such as 'int8' or 'float32'.

    Raises:
        ConfigError: Both or neither of `folder` and `model` are given.

    Example:
        >>> LoadEncoder(model="sentence-transformers/all-MiniLM-L6-v2").precision
        'int8'
    """

    folder: Ref | None = None
    model: str = ""
    precision: str = "int8"

    def validate(self) -> None:
        if bool(self.folder) == bool(self.model):
            raise ConfigError("expected one of the keys 'folder' and 'model'", remedy="Give exactly one of them.")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        from paraloom.embed.transformer import TransformerEncoder, convert_transformer

        convert_transformer(context.inputs.get("folder") or self.model, folder, precision=self.precision)
        encoder = TransformerEncoder(folder)
        return {"dimension": encoder.dimension, "signature": encoder.signature}


@dataclass(frozen=True, kw_only=True)
class Encode(Map):
    """Adds the column `vector`: the embedding of each text, of length 1, in float16.

    Args:
        encoder: A stage that trained or loaded an encoder, or the folder of one (Paraloom's or sentence-transformers').
        column: Name of the text column.
        ensemble: Further encoders, as `encoder`. Each one's vector is divided by the root of the number of encoders and
            appended: the cosine of such vectors is the mean of the encoders' cosines.

    Example:
        >>> Encode(encoder="load-encoder").column
        'text'
    """

    optional_fields: ClassVar[tuple[str, ...]] = ("ensemble",)

    encoder: Ref
    column: str = "text"
    ensemble: tuple[Ref, ...] = ()

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        from paraloom.embed.average import normalize_vectors

        encoders = [_encoder(path) for path in (context.inputs["encoder"], *context.paths("ensemble"))]
        texts = [text or "" for text in batch.column(self.column).to_pylist()]
        units = [normalize_vectors(encoder.encode(texts)) for encoder in encoders]
        halves = (units[0] if len(units) == 1 else np.hstack(units) / len(units) ** 0.5).astype(np.float16)
        column = pa.FixedSizeListArray.from_arrays(pa.array(halves.ravel()), halves.shape[1])
        return add_column(batch, "vector", column, " + ".join(encoder.signature for encoder in encoders))


_encoder = cached_per_stage()(late("paraloom.embed.encoder:open_encoder"))


def _reason(text: str, is_new: bool, max_length: int) -> str | None:
    if not text:
        return "empty"
    if len(text) > max_length:
        return f"more than {max_length} characters"
    return None if is_new else "duplicate"
