"""Stages about single sentences: gather the distinct ones, bring an encoder in, and give each sentence its vector."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from paraloom.core.errors import ConfigError, nearest
from paraloom.core.protocols import EncoderLike
from paraloom.core.schema import LANGUAGE_OF, SENTENCES, add_column
from paraloom.core.stage import Fit, Json, Map, Ref, Source, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.embed.loading import open_encoder
from paraloom.embed.transformer import TransformerEncoder, convert_transformer
from paraloom.io import Corpus
from paraloom.io.bitext import UNKNOWN
from paraloom.io.texts import read_texts
from paraloom.text.hashing import TextSet

_CHUNK = 5000


class _Texts(NamedTuple):
    """Where texts come from, the texts, the language of each where it is said, and why it could not be read."""

    name: str
    texts: Sequence[str]
    langs: Sequence[str | None]
    faults: Sequence[str | None]


@dataclass(frozen=True, kw_only=True)
class ReadSentences(Source):
    """The distinct sentences of corpora and files; those met before, empty ones and very long ones are set aside.

    corpora: of pairs or sentences, of which the text columns `columns` are read, where they are there.
    files_of_lines: a sentence a line, .txt, .tsv or .jsonl, plain or compressed; field: of lines with fields between
    tabs, the one to read, from 1, or from the end by -1, or its name in the header; of JSON lines the key ('text').
    lang: of the sentences wanted, `und`: any; a corpus's text that is said to be in another is set aside, too.
    longest: characters.  limit: texts that are read at most, from the start (0: all).
    bad_rows: 'stop' at a line that cannot be read (not UTF-8, no JSON), or 'reject' it with its reason.
    """

    output_schema: ClassVar[str] = "SENTENCES"
    version: ClassVar[str] = "2"
    inputs: ClassVar[tuple[str, ...]] = ("corpora",)

    corpora: tuple[Ref, ...] = ()
    columns: tuple[str, ...] = ("src", "tgt", "text")
    files_of_lines: tuple[Path, ...] = ()
    field: int | str = 0
    lang: str = "en"
    longest: int = 400
    limit: int = 0
    bad_rows: Literal["stop", "reject"] = "stop"

    def validate(self) -> None:
        for column in self.columns:
            if column not in LANGUAGE_OF:
                raise ConfigError(f"there is no text column '{column}'{nearest(column, list(LANGUAGE_OF))}")
        if not (self.corpora or self.files_of_lines):
            raise ConfigError("there are no sentences without 'corpora' or 'files_of_lines'")
        if self.limit < 0:
            raise ConfigError("'limit' is 0 (all) or more texts")

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All sentences in order, with `keep` and `reason`."""
        seen, count = TextSet(), 0
        for name, texts, langs, faults in self._within_limit(context):
            stripped = [" ".join(text.split()) for text in texts]
            wanted = (None, "", UNKNOWN, self.lang)
            foreign = [None if lang in wanted or self.lang == UNKNOWN else f"in '{lang}'" for lang in langs]
            # What is set aside for something else is not met: of two equal texts the other may be the one wanted.
            first = seen.add(
                ["" if fault or other else text for text, fault, other in zip(stripped, faults, foreign, strict=True)]
            ).tolist()
            reasons = [
                fault or other or _reason(text, new, self.longest)
                for fault, other, text, new in zip(faults, foreign, stripped, first, strict=True)
            ]
            yield pa.record_batch(
                {
                    "doc_id": pa.array([name] * len(texts), pa.string()),
                    "sent_id": pa.array(range(count, count + len(texts)), pa.int32()),
                    "lang": pa.array([self.lang] * len(texts), pa.string()),
                    "text": pa.array(stripped, pa.string()),
                    "keep": pa.array([reason is None for reason in reasons]),
                    "reason": pa.array(reasons, pa.string()),
                },
                schema=SENTENCES.append(pa.field("keep", pa.bool_())).append(pa.field("reason", pa.string())),
            )
            count += len(texts)

    def _within_limit(self, context: StageContext) -> Iterator[_Texts]:
        left = self.limit or sys.maxsize
        for found in self._texts(context):
            if len(found.texts) >= left:
                yield _Texts(found.name, found.texts[:left], found.langs[:left], found.faults[:left])
                return
            left -= len(found.texts)
            yield found

    def _texts(self, context: StageContext) -> Iterator[_Texts]:
        left = self.limit or sys.maxsize
        for reference, path in zip(self.corpora, context.paths("corpora"), strict=True):
            corpus = Corpus.open(path)
            columns = [name for name in self.columns if name in corpus.schema.names]
            if not columns:
                raise ConfigError(f"'{reference}' has none of the columns {', '.join(self.columns)}")
            said = {name: lang for name in columns if (lang := LANGUAGE_OF[name]) in corpus.schema.names}
            for batch in corpus.batches([*columns, *said.values()]):
                for column in columns:
                    texts = [text or "" for text in batch.column(column).to_pylist()]
                    langs = batch.column(said[column]).to_pylist() if column in said else [None] * len(texts)
                    left -= len(texts)
                    yield _Texts(Path(str(reference)).name, texts, langs, [None] * len(texts))
        for path in self.files_of_lines:
            rows = read_texts(path, self.field, reject=self.bad_rows == "reject")
            # A line behind the limit is not read, so it cannot be at fault.
            while chunk := list(islice(rows, min(_CHUNK, max(left, 0)))):
                left -= len(chunk)
                texts, faults = [row.text for row in chunk], [row.fault for row in chunk]
                yield _Texts(path.name, texts, [None] * len(chunk), faults)


@dataclass(frozen=True, kw_only=True)
class LoadEncoder(Fit):
    """Brings a ready-made sentence-transformers model in, compiled for this processor.

    folder: of such a model; or model: a Hugging Face name, which is fetched unless it is in the library's cache.
    precision: CTranslate2's, `int8` or `float32`.
    """

    inputs: ClassVar[tuple[str, ...]] = ("folder",)

    folder: Ref | None = None
    model: str = ""
    precision: str = "int8"

    def validate(self) -> None:
        if bool(self.folder) == bool(self.model):
            raise ConfigError("there is no encoder without a 'folder' or a 'model'", remedy="Give one of them.")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Convert the model into the artifact."""
        convert_transformer(context.inputs.get("folder") or self.model, folder, precision=self.precision)
        encoder = TransformerEncoder(folder)
        return {"dimension": encoder.dimension, "signature": encoder.signature}


@dataclass(frozen=True, kw_only=True)
class Encode(Map):
    """Adds `vector`, a unit vector of each text, in half precision.

    encoder: one of ours, a transformer that load-encoder made, or a folder of sentence-transformers.
    column: the text to encode.
    """

    inputs: ClassVar[tuple[str, ...]] = ("encoder",)

    encoder: Ref
    column: str = "text"

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with its vectors; the encoder is opened once a worker."""
        encoder = _opened(context.inputs["encoder"])
        vectors = encoder.encode([text or "" for text in batch.column(self.column).to_pylist()])
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        halves = (vectors / np.where(norms > 0, norms, 1)).astype(np.float16)
        column = pa.FixedSizeListArray.from_arrays(pa.array(halves.ravel()), halves.shape[1])
        return add_column(batch, "vector", column, encoder.signature)


@cached_per_stage()
def _opened(path: Path) -> EncoderLike:
    return open_encoder(path)


def _reason(text: str, new: bool, longest: int) -> str | None:
    if not text:
        return "empty"
    if len(text) > longest:
        return f"more than {longest} characters"
    return None if new else "met before"
