"""Features of the documents of one language, by which they are compared: words, named entities, images, sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from paraloom.alignment.addresses import address_tokens, link_tokens
from paraloom.alignment.images import ImageKey
from paraloom.alignment.lexicon import concatenate
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.array_types import Float32s, Ints
from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.core.schema import DOCUMENTS, require
from paraloom.io import Corpus
from paraloom.text.tokens import TokenLists, tokenize

Value = TypeVar("Value")

ParagraphReader = Callable[[Sequence[int]], dict[int, list[str]]]
"""Reads the paragraphs of some documents: indices → index: paragraphs."""

TRANSLATION = "translation"
"""The column of a corpus of documents that holds the translation of `text`, line by line."""

LINKS = "links"
"""The column of a corpus of documents that holds the addresses that each page links to; not every corpus has it."""

_CAPITALS = "".join(letter for letter in map(chr, range(0x41, 0x250)) if letter.isupper())
"""Latin capitals, with and without diacritics."""

_ADDRESS = re.compile(r"(?:https?://|www\.)\S*[\w/]")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
# A capital inside a word (NASA, LibreOffice, iPhone), letters with digits (F11), or a capital after a lower-case letter
# and a space.
_NAME = re.compile(rf"(?<=[^\W\d_{_CAPITALS}] )[{_CAPITALS}]\w+|\b[^\W\d_]\w*[{_CAPITALS}]\w*|\b[A-Za-z]+\d\w*")
_LATIN = re.compile(r"[A-Za-z][\w'-]*")
_OTHER_LETTER = re.compile(r"[^\W\d_\u0000-\u024f]")


@dataclass(frozen=True, eq=False)
class Documents:
    """Features of n documents of one language; make them with `from_texts` or `open_documents`."""

    ids: list[str]  # Names; they identify documents in the results and are never compared
    words: TokenLists  # Words of each document
    entities: TokenLists  # Named entities of each document, see `entities`
    paragraph_counts: Ints  # int64 (n,), non-empty lines
    images: list[list[ImageKey]]  # Images of each document
    read_paragraphs: ParagraphReader  # Reads the paragraphs of some documents
    # Words of each document's translation into the other language; None without a translator.
    translations: TokenLists | None = None
    read_translations: ParagraphReader | None = None  # Reads the translated paragraphs; None without a translator
    # Where all features are of a translation into a third language, reads the paragraphs that it was made from; None
    # otherwise.
    read_originals: ParagraphReader | None = None
    encoder: EncoderLike | None = None  # Encoder of both languages; None without one
    # float32 (n, d), the mean of the unit vectors of each document's paragraphs under the encoder, weighted by their
    # words; None without one.
    vectors: Float32s | None = None
    # Parts of each document's address, see `addresses.address_tokens`; None where they are not known.
    addresses: TokenLists | None = None
    # The pages that each document links to, see `addresses.link_tokens`; None where they are not known.
    links: TokenLists | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def from_texts(
        cls,
        texts: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        translations: Sequence[str] | None = None,
        images: Sequence[list[ImageKey]] | None = None,
        encoder: EncoderLike | None = None,
        language: str | Sequence[str] = "und",
        addresses: Sequence[str] | None = None,
        links: Sequence[Sequence[str]] | None = None,
    ) -> Documents:
        paragraphs = [split_paragraphs(text) for text in texts]
        translated = None if translations is None else [split_paragraphs(text) for text in translations]
        languages = [language] * len(texts) if isinstance(language, str) else language
        return cls(
            [str(index) for index in range(len(texts))] if ids is None else list(ids),
            tokenize(texts),
            entity_lists(texts),
            np.array([len(lines) for lines in paragraphs], np.int64),
            [[] for _ in texts] if images is None else list(images),
            partial(_select, paragraphs),
            None if translations is None else tokenize(translations),
            None if translated is None else partial(_select, translated),
            encoder=encoder,
            vectors=None if encoder is None else document_vectors(paragraphs, encoder),
            addresses=None if addresses is None else address_tokens(addresses, languages),
            links=None if links is None else link_tokens(links, languages),
        )


def open_documents(corpus: Corpus, *, pivot: bool = False, encoder: EncoderLike | None = None) -> Documents:
    """Extract the features of a corpus of documents; the texts stay on disk."""
    try:
        require(corpus.schema, DOCUMENTS)
        if pivot:
            require(corpus.schema, pa.schema([(TRANSLATION, pa.string())]))
    except DataError as error:
        raise error.at(file=corpus.folder) from None
    text_column = TRANSLATION if pivot else "text"
    columns = ["doc_id", "lang", "url", text_column, "images"]
    columns += [name for name in (TRANSLATION, LINKS) if name in corpus.schema.names and name not in columns]
    none = pa.RecordBatch.from_pylist([], schema=pa.schema([corpus.schema.field(name) for name in columns]))
    read = partial(partial, _read_paragraphs, corpus)
    parts = [
        # With readers of the corpus, nothing refers to the texts of a batch any more.
        replace(
            _of_batch(batch, text_column, encoder),
            read_paragraphs=read(text_column),
            read_translations=read(TRANSLATION) if TRANSLATION in columns[5:] else None,
            read_originals=read("text") if pivot else None,
        )
        for batch in chain([none], corpus.batches(columns))
    ]
    lists = {name: [getattr(part, name) for part in parts] for name in _JOINED if getattr(parts[0], name) is not None}
    return replace(parts[0], **{name: _JOINED[name](values) for name, values in lists.items()})


def _of_batch(batch: pa.RecordBatch, text_column: str, encoder: EncoderLike | None) -> Documents:
    def filled(name: str, empty: Value) -> list[Value] | None:
        there = name in batch.schema.names
        return [value or empty for value in batch.column(name).to_pylist()] if there else None

    images = batch.column("images").to_pylist()
    return Documents.from_texts(
        filled(text_column, "") or [],
        ids=batch.column("doc_id").to_pylist(),
        translations=None if text_column == TRANSLATION else filled(TRANSLATION, ""),
        images=[[ImageKey(image["sha256"], image["phash"]) for image in row or []] for row in images],
        encoder=encoder,
        language=filled("lang", "und") or [],
        addresses=filled("url", ""),
        links=filled(LINKS, []),
    )


# How the features of several batches become those of all of them.
_JOINED: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(("ids", "images"), lambda lists: [*chain.from_iterable(lists)]),
    **dict.fromkeys(("paragraph_counts", "vectors"), np.concatenate),
    **dict.fromkeys(("words", "entities", "translations", "addresses", "links"), concatenate),
}


def document_vectors(paragraphs: Sequence[Sequence[str]], encoder: EncoderLike) -> Float32s:
    """Vectors of documents: the mean of the unit vectors of their paragraphs, weighted by their numbers of words."""
    lines = [line for document in paragraphs for line in document]
    vectors = np.zeros((len(paragraphs), encoder.dimension), np.float32)
    if lines:
        encoded = encoder.encode(lines)
        weights = tokenize(lines).lengths / np.maximum(np.linalg.norm(encoded, axis=1), 1e-9)
        owners = np.repeat(np.arange(len(paragraphs)), [len(document) for document in paragraphs])
        np.add.at(vectors, owners, encoded * weights[:, None].astype(np.float32))
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(norms, 1e-9)


def read_text_pairs(source: Documents, target: Documents, rows: Sequence[tuple[int, int]]) -> Iterator[TextPair]:
    sides = [[pair[side] for pair in rows] for side in (0, 1)]
    source_texts, target_texts = source.read_paragraphs(sides[0]), target.read_paragraphs(sides[1])
    forward = source.read_translations(sides[0]) if source.read_translations else None
    backward = target.read_translations(sides[1]) if target.read_translations else None
    for i, j in rows:
        translations = [forward[i]] if forward else [], [backward[j]] if backward else []
        try:
            vectors = None
            if source.encoder is not None and target.encoder is not None:
                vectors = source.encoder.encode(source_texts[i]), target.encoder.encode(target_texts[j])
            texts = TextPair(source_texts[i], target_texts[j], *translations, vectors)
        except DataError as error:
            raise DataError(f"{source.ids[i]}, {target.ids[j]}: {error.what}", remedy=error.remedy) from None
        yield texts


def split_paragraphs(text: str) -> list[str]:
    """The non-empty lines of a document."""
    return [line for line in text.split("\n") if line.strip()]


def entities(text: str) -> list[str]:
    """Names, numbers and addresses by spelling; in another script every word in Latin letters is a name."""
    addresses = _ADDRESS.findall(text)
    rest = _ADDRESS.sub(" ", text)
    is_latin = len(_OTHER_LETTER.findall(rest)) * 4 <= len(rest)
    names = (_NAME if is_latin else _LATIN).findall(rest)
    return list(dict.fromkeys(name.lower() for name in [*addresses, *_NUMBER.findall(rest), *names]))


def entity_lists(texts: Sequence[str]) -> TokenLists:
    """The entities of n texts as token ids, n lists without duplicates."""
    # One token for each entity: characters that would split it are replaced.
    return tokenize([" ".join(re.sub(r"[\W_]", "x", name) for name in entities(text)) for text in texts])


def _select(paragraphs: Sequence[list[str]], indices: Sequence[int]) -> dict[int, list[str]]:
    return {index: paragraphs[index] for index in indices}


def _read_paragraphs(corpus: Corpus, column: str, indices: Sequence[int]) -> dict[int, list[str]]:
    wanted = set(indices)
    paragraphs: dict[int, list[str]] = {}
    first = 0
    for batch in corpus.batches([column]):
        rows = [row for row in range(batch.num_rows) if first + row in wanted]
        if rows:
            texts = batch.column(0).take(pa.array(rows)).to_pylist()
            paragraphs |= {first + row: split_paragraphs(text or "") for row, text in zip(rows, texts, strict=True)}
        first += batch.num_rows
    return paragraphs
