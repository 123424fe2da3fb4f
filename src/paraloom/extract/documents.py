"""Which parsed pages become documents: repetitions dropped, languages checked, the rest set aside with a reason."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from paraloom.extract.counts import ExtractionCounts
from paraloom.extract.images import Fingerprint
from paraloom.text.languages import LanguageIdentifier

Row = dict[str, Any]
Repeated = Mapping[str, npt.NDArray[np.uint64]]
"""Hashes by site; see align/repeated.py."""

UNKNOWN = "und"
"""The language of a page that says none and reads as none (ISO 639-2: undetermined)."""
# From here on lingua looks at trigrams alone, and the beginning of a text tells its language as well as all of it.
_IDENTIFIABLE, _SAMPLE = 120, 3000
# A page is not in the language that it says when this is all the probability that is left for it: Croatian that
# reads a little more like Bosnian is Croatian still.
_DOUBT = 0.1
_NONE = np.zeros(0, np.uint64)


@dataclass
class Acceptance:
    """Decides about parsed pages in their order, and writes down what it sets aside.

    least: characters of main text.  keep_languages: believe what a page says about its language.  identifier: None
    where lingua is not there, and what pages say is believed.  pictures: the hashes of those that were found.
    aside: where the lines of set-aside.jsonl go.
    """

    least: int
    keep_languages: bool
    identifier: LanguageIdentifier | None
    repeated: Repeated
    repeated_pictures: Repeated
    pictures: Mapping[str, Fingerprint]
    counts: ExtractionCounts
    aside: BinaryIO
    _first: dict[bytes, str] = field(default_factory=dict)

    def documents(self, rows: Sequence[Row]) -> list[Row]:
        """The rows of DOCUMENTS that some pages become; the others are in the counts and in `aside`."""
        long_enough = list(self._long_enough(rows))
        return [self._document(row, text, dropped) for row, text, dropped in self._in_their_language(long_enough)]

    def _long_enough(self, rows: Iterable[Row]) -> Iterator[tuple[Row, str, int]]:
        for row in rows:
            if row["reason"]:
                self._set_aside(row, row["reason"], row["detail"])
                continue
            paragraphs = self._own(row)
            text = "\n".join(paragraphs)
            if not text:
                self._set_aside(row, "empty", "all its paragraphs are repeated over the site")
            elif len(text) < self.least:
                self._set_aside(row, "short", f"{len(text)} characters of main text, fewer than {self.least}")
            else:
                yield row, text, len(row["paragraphs"]) - len(paragraphs)

    def _own(self, row: Row) -> list[str]:
        repeated = self.repeated.get(row["site"])
        if repeated is None or not row["hashes"]:
            return list(row["paragraphs"])
        dropped = np.isin(np.array(row["hashes"], np.uint64), repeated)
        return [text for text, drop in zip(row["paragraphs"], dropped.tolist(), strict=True) if not drop]

    def _in_their_language(self, held: Sequence[tuple[Row, str, int]]) -> Iterator[tuple[Row, str, int]]:
        for (row, text, dropped), reads_as in zip(held, self._read_as(held), strict=True):
            said = row["lang"]
            if said and reads_as and reads_as != said:
                self._set_aside(row, "language", f"said {said}, reads as {reads_as}")
                continue
            lang = said or reads_as or UNKNOWN
            name = hashlib.blake2b(json.dumps([row["site"], lang, text]).encode(), digest_size=16).digest()
            first = self._first.setdefault(name, row["doc_id"])
            if first != row["doc_id"]:
                self._set_aside(row, "duplicate", f"the main text of {first}")
                continue
            self.counts.unchecked += reads_as is None
            yield {**row, "lang": lang}, text, dropped

    def _read_as(self, held: Sequence[tuple[Row, str, int]]) -> list[str | None]:
        """The language of each text; the one that it says where that may well be; None where nobody can tell."""
        found: list[str | None] = [None] * len(held)
        if self.identifier is None:
            return found
        known = set(self.identifier.languages)
        asked = [
            place
            for place, (row, text, _) in enumerate(held)
            if not row["lang"] or (row["lang"] in known and not self.keep_languages and len(text) >= _IDENTIFIABLE)
        ]
        samples = [held[place][1][:_SAMPLE] for place in asked]
        for place, lang in zip(asked, self.identifier.identify(samples), strict=True):
            found[place] = lang
        doubted = [place for place in asked if held[place][0]["lang"] not in (None, found[place])]
        if doubted:
            said = [held[place][0]["lang"] for place in doubted]
            shares = self.identifier.probabilities([held[place][1][:_SAMPLE] for place in doubted], said)
            for place, lang, share in zip(doubted, said, shares.tolist(), strict=True):
                if not share <= _DOUBT:
                    found[place] = lang
        return found

    def _document(self, row: Row, text: str, dropped: int) -> Row:
        repeated = set(self.repeated_pictures.get(row["site"], _NONE).tolist())
        images = [self._picture(each) for each in row["images"] if each["hash"] not in repeated]
        counts = self.counts
        counts.documents += 1
        counts.paragraphs += text.count("\n") + 1
        counts.repeated += dropped
        counts.pictures += len(images)
        counts.missing += sum(image["sha256"] is None for image in images)
        counts.repeated_pictures += len(row["images"]) - len(images)
        counts.replaced += row["replaced"] > 0
        return {name: row[name] for name in ("doc_id", "lang", "url", "title")} | {"text": text, "images": images}

    def _picture(self, image: Row) -> Row:
        made = {name: image[name] for name in ("src", "alt", "sha256", "phash")}
        if image["sha256"] is None and (found := self.pictures.get(image["key"])) is not None:
            made |= found._asdict()
        return made

    def _set_aside(self, row: Row, reason: str, detail: str) -> None:
        self.counts.aside[reason] += 1
        line = {"doc_id": row["doc_id"], "url": row["url"], "reason": reason, "detail": detail}
        self.aside.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
