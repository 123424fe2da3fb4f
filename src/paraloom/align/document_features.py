"""The documents of one language as numbers: what comparing them needs, and none of their text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.align.entities import entity_lists
from paraloom.align.lexicon import together
from paraloom.align.same_images import Picture
from paraloom.core.errors import DataError
from paraloom.core.schema import DOCUMENTS, require
from paraloom.io import Corpus
from paraloom.text.tokens import TokenLists, tokenize

Ints = npt.NDArray[np.int64]

Paragraphs = Callable[[Sequence[int]], dict[int, list[str]]]
"""The paragraphs of some documents, by their numbers."""


@dataclass(frozen=True, eq=False)
class Documents:
    """n documents of one language.

    ids: their names, never compared.  words, entities: as ids.  sentences: int64 (n,), lines.  pictures: of each.
    paragraphs: reads the text of some, when it is wanted.  translation: the words of each in the other language, and
    translated: the translations of `paragraphs`, line by line; None without a translator.  originals: where all of
    these are of a translation into a third language, what it was made from; None otherwise.
    """

    ids: list[str]
    words: TokenLists
    entities: TokenLists
    sentences: Ints
    pictures: list[list[Picture]]
    paragraphs: Paragraphs
    translation: TokenLists | None = None
    translated: Paragraphs | None = None
    originals: Paragraphs | None = None

    def __len__(self) -> int:
        return len(self.ids)


TRANSLATION = "translation"
"""The column of a corpus of documents that holds the translation of `text`, line by line."""


def open_documents(corpus: Corpus, *, pivot: bool = False) -> Documents:
    """The numbers of a corpus of the schema DOCUMENTS, with or without the column `translation`.

    pivot: the translation is into a third language, in which both sides are compared (PARK17 §5): it is read in the
    place of the text.  Memory: eight bytes a word; the texts stay on the disk.  Raises DataError where a column is
    missing.
    """
    try:
        require(corpus.schema, DOCUMENTS)
        if pivot:
            require(corpus.schema, pa.schema([(TRANSLATION, pa.string())]))
    except DataError as error:
        raise error.at(file=corpus.folder) from None
    read = TRANSLATION if pivot else "text"
    known = TRANSLATION in corpus.schema.names and not pivot
    ids: list[str] = []
    pictures: list[list[Picture]] = []
    words, names, translations = [tokenize([])], [entity_lists([])], [tokenize([])]
    lines: list[int] = []
    for batch in corpus.batches(["doc_id", read, "images", *([TRANSLATION] if known else [])]):
        texts = [text or "" for text in batch.column(read).to_pylist()]
        ids += batch.column("doc_id").to_pylist()
        words.append(tokenize(texts))
        names.append(entity_lists(texts))
        lines += [len(paragraphs_in(text)) for text in texts]
        for shown in batch.column("images").to_pylist():
            pictures.append([Picture(each["sha256"], each["phash"]) for each in shown or []])
        if known:
            translations.append(tokenize(batch.column(TRANSLATION)))
    return Documents(
        ids,
        together(words),
        together(names),
        np.array(lines, np.int64),
        pictures,
        partial(_paragraphs, corpus, read),
        together(translations) if known else None,
        partial(_paragraphs, corpus, TRANSLATION) if known else None,
        partial(_paragraphs, corpus, "text") if pivot else None,
    )


def _paragraphs(corpus: Corpus, column: str, places: Sequence[int]) -> dict[int, list[str]]:
    wanted = set(places)
    found: dict[int, list[str]] = {}
    first = 0
    for batch in corpus.batches([column]):
        here = [place for place in range(first, first + batch.num_rows) if place in wanted]
        if here:
            texts = batch.column(0).take(pa.array([place - first for place in here])).to_pylist()
            found |= {place: paragraphs_in(text or "") for place, text in zip(here, texts, strict=True)}
        first += batch.num_rows
    return found


def paragraphs_in(text: str) -> list[str]:
    """The lines of a document's text that are not empty.

    >>> paragraphs_in("One.\\n\\nTwo.")
    ['One.', 'Two.']
    """
    return [line for line in text.split("\n") if line.strip()]
