"""Turns parsed pages into documents: drops repeated content, checks length, language and duplicates."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from paraloom.core.array_types import Ids
from paraloom.core.errors import RunError
from paraloom.core.results import ResultRecord
from paraloom.extract.images import ImageHashes
from paraloom.text.languages import LanguageIdentifier

MIN_IDENTIFIABLE = 120  # Characters of a text from which on lingua uses trigrams only

MIN_SHARE = 0.1
"""Minimum share of a page's prose in the language that the page declares; with less, it is not translated at all."""

# Characters of a text that are enough to identify its language.
_SAMPLE = 3000

# A declared language is wrong only if its probability is below this: Croatian may look slightly more like Bosnian.
_MIN_PROBABILITY = 0.1

# Paragraphs that are judged one by one: the first ones, of some bytes each. Bytes, because a syllable of Korean, which
# has three, says as much as two or three Latin letters.
_MAX_PARAGRAPHS, _MIN_BYTES = 100, 12


class PageProse(NamedTuple):
    """The paragraphs of a page that are not program code, and the language that it declares."""

    paragraphs: Sequence[str]
    declared: str | None

    @property
    def text(self) -> str:
        return "\n".join(self.paragraphs)


def identify_pages(
    pages: Sequence[PageProse], identifier: LanguageIdentifier | None, *, keep_declared: bool = False
) -> list[str | None]:
    """The language of each page, or None: the declared one if probable for the prose, or for `MIN_SHARE` of it."""
    languages: list[str | None] = [None] * len(pages)
    if identifier is None:
        return languages
    checked = [
        index
        for index, page in enumerate(pages)
        if page.declared is None
        or (page.declared in identifier.languages and not keep_declared and len(page.text) >= MIN_IDENTIFIABLE)
    ]
    samples = [pages[index].text[:_SAMPLE] for index in checked]
    for index, language in zip(checked, identifier.identify(samples), strict=True):
        languages[index] = language
    doubtful = [index for index in checked if pages[index].declared not in (None, languages[index])]
    for index in _probably_as_declared([pages[index] for index in doubtful], identifier):
        languages[doubtful[index]] = pages[doubtful[index]].declared
    return languages


def _probably_as_declared(pages: Sequence[PageProse], identifier: LanguageIdentifier) -> Iterator[int]:
    """The pages whose declared language is not ruled out."""
    declared = [page.declared or "" for page in pages]
    probabilities = identifier.probabilities([page.text[:_SAMPLE] for page in pages], declared)
    for index, page in enumerate(pages):
        # NaN: the declared language cannot be ruled out.
        if not probabilities[index] <= _MIN_PROBABILITY or declared_share(page, identifier) >= MIN_SHARE:
            yield index


def declared_share(page: PageProse, identifier: LanguageIdentifier) -> float:
    """The share of a page's prose, in bytes of UTF-8, in paragraphs of the language that it declares; 0 without any."""
    sizes = [len(text.encode("utf-8", "replace")) for text in page.paragraphs]
    chosen = [index for index, size in enumerate(sizes) if size >= _MIN_BYTES][:_MAX_PARAGRAPHS]
    identified = identifier.identify([page.paragraphs[index][:_SAMPLE] for index in chosen])
    own = sum(sizes[index] for index, lang in zip(chosen, identified, strict=True) if lang == page.declared)
    return own / max(1, sum(sizes[index] for index in chosen))


@dataclass
class ExtractionCounts(ResultRecord):
    """Counts that grow while pages are read and documents are written."""

    read: int = 0
    documents: int = 0  # Pages that became documents
    rejected: Counter[str] = field(default_factory=Counter)  # The other pages, by reason
    methods: Counter[str] = field(default_factory=Counter)  # Pages by the method of extracting their main text
    paragraphs: int = 0
    repeated_paragraphs: int = 0  # Paragraphs dropped because their site repeats them
    images: int = 0
    missing_images: int = 0  # Those of them without a file, which have no hashes
    repeated_images: int = 0  # Images dropped because their site repeats them
    invalid_bytes: int = 0  # Documents with bytes that no charset explains
    unchecked_languages: int = 0  # Documents whose declared language was not checked

    def check(self) -> ExtractionCounts:
        if self.read != self.documents + self.rejected.total():
            raise RunError(
                f"page counts do not add up: read {self.read}, documents {self.documents}, "
                f"rejected {self.rejected.total()}",
                stage="extract",
                remedy="This is a bug of Paraloom, not of the data: please report it.",
            )
        return self

    def format(self) -> str:
        noun = "document" if self.documents == 1 else "documents"
        reasons = f" ({_listed(self.rejected)})" if self.rejected else ""
        lines = [
            f"pages: {self.read:,} read = {self.documents:,} {noun} + {self.rejected.total():,} rejected{reasons}; "
            f"main text by {_listed(self.methods)}",
            f"paragraphs: {self.paragraphs:,} kept, {self.repeated_paragraphs:,} dropped as repeated on the site",
            f"images: {self.images:,} kept, {self.missing_images:,} of them missing, "
            f"{self.repeated_images:,} dropped as repeated on the site",
        ]
        if self.invalid_bytes:
            lines.append(f"documents with invalid bytes, replaced by U+FFFD: {self.invalid_bytes:,}")
        if self.unchecked_languages:
            lines.append(f"documents whose declared language was not checked: {self.unchecked_languages:,}")
        return "\n".join(lines)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))


Row = dict[str, Any]

Repeated = Mapping[str, Ids]
"""Site → hashes that it repeats, as `boilerplate.find_repeated` returns them."""

UNKNOWN_LANGUAGE = "und"  # Language of a page that declares none and where none is identified (ISO 639-2: undetermined)

_NO_HASHES = np.zeros(0, np.uint64)


class _Candidate(NamedTuple):
    """A parsed page with enough text: its row, text, the paragraphs that are not code, and how many were dropped."""

    row: Row
    text: str
    prose: list[str]
    dropped: int


@dataclass
class DocumentBuilder:
    """Decides in order which parsed pages become documents, and writes a line for each rejected page."""

    min_characters: int
    keep_languages: bool
    identifier: LanguageIdentifier | None
    repeated: Repeated
    repeated_images: Repeated
    images: Mapping[str, ImageHashes]
    counts: ExtractionCounts
    rejections: BinaryIO
    _first_with_text: dict[bytes, str] = field(default_factory=dict)

    def build(self, rows: Sequence[Row]) -> list[Row]:
        candidates = list(self._with_text(rows))
        return [self._document(candidate) for candidate in self._with_language(candidates)]

    def _with_text(self, rows: Iterable[Row]) -> Iterator[_Candidate]:
        """The pages with enough text of their own."""
        for row in rows:
            if row["reason"]:
                self._reject(row, row["reason"], row["detail"])
                continue
            own = self._own_paragraphs(row)
            paragraphs = [text for text, keep in zip(row["paragraphs"], own, strict=True) if keep]
            text = "\n".join(paragraphs)
            if not text:
                self._reject(row, "empty", "all its paragraphs are repeated on the site")
            elif len(text) < self.min_characters:
                self._reject(row, "short", f"{len(text)} characters of main text, less than {self.min_characters}")
            else:
                code = row["code"] or [False] * len(own)
                prose = [text for text, keep, no in zip(row["paragraphs"], own, code, strict=True) if keep and not no]
                yield _Candidate(row, text, prose, len(own) - len(paragraphs))

    def _own_paragraphs(self, row: Row) -> list[bool]:
        """Mask of the paragraphs that the site does not repeat."""
        repeated = self.repeated.get(row["site"])
        if repeated is None or not row["hashes"]:
            return [True] * len(row["paragraphs"])
        kept: list[bool] = (~np.isin(np.array(row["hashes"], np.uint64), repeated)).tolist()
        return kept

    def _with_language(self, candidates: Sequence[_Candidate]) -> Iterator[_Candidate]:
        """The pages whose language is as declared and whose text is new."""
        pages = [PageProse(candidate.prose, candidate.row["lang"]) for candidate in candidates]
        languages = identify_pages(pages, self.identifier, keep_declared=self.keep_languages)
        for candidate, identified in zip(candidates, languages, strict=True):
            row = candidate.row
            declared = row["lang"]
            if declared and identified and identified != declared:
                self._reject(row, "language", f"declared {declared}, identified {identified}")
                continue
            lang = declared or identified or UNKNOWN_LANGUAGE
            key = hashlib.blake2b(json.dumps([row["site"], lang, candidate.text]).encode(), digest_size=16).digest()
            first = self._first_with_text.setdefault(key, row["doc_id"])
            if first != row["doc_id"]:
                self._reject(row, "duplicate", f"same main text as {first}")
                continue
            self.counts.unchecked_languages += identified is None
            yield candidate._replace(row={**row, "lang": lang})

    def _document(self, candidate: _Candidate) -> Row:
        row, text = candidate.row, candidate.text
        repeated = set(self.repeated_images.get(row["site"], _NO_HASHES).tolist())
        images = [self._image(image) for image in row["images"] if image["hash"] not in repeated]
        counts = self.counts
        counts.documents += 1
        counts.paragraphs += text.count("\n") + 1
        counts.repeated_paragraphs += candidate.dropped
        counts.images += len(images)
        counts.missing_images += sum(image["sha256"] is None for image in images)
        counts.repeated_images += len(row["images"]) - len(images)
        counts.invalid_bytes += row["replaced"] > 0
        kept = {name: row[name] for name in ("doc_id", "lang", "url", "title", "links")}
        return kept | {"text": text, "images": images}

    def _image(self, image: Row) -> Row:
        result = {name: image[name] for name in ("src", "alt", "sha256", "phash")}
        if image["sha256"] is None and (hashes := self.images.get(image["key"])) is not None:
            result |= hashes._asdict()
        return result

    def _reject(self, row: Row, reason: str, detail: str) -> None:
        self.counts.rejected[reason] += 1
        line = {"doc_id": row["doc_id"], "url": row["url"], "reason": reason, "detail": detail}
        self.rejections.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
