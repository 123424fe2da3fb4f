"""The counts of an extraction: what became of each page, paragraph and picture."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

from paraloom.core.errors import RunError


@dataclass
class ExtractionCounts:
    """Counts that grow while pages are read and written.

    read: pages found.  documents: pages that became one.  aside: the others, by reason.  by: pages by the way their
    main text is found.  paragraphs, repeated: of the documents, kept, and dropped because their site repeats them.
    pictures, missing, repeated_pictures: the same of pictures; missing ones are kept without hashes.
    replaced: documents with bytes that no charset explains.  unchecked: documents whose language was believed.
    """

    read: int = 0
    documents: int = 0
    aside: Counter[str] = field(default_factory=Counter)
    by: Counter[str] = field(default_factory=Counter)
    paragraphs: int = 0
    repeated: int = 0
    pictures: int = 0
    missing: int = 0
    repeated_pictures: int = 0
    replaced: int = 0
    unchecked: int = 0

    def check(self) -> ExtractionCounts:
        """These counts when they close; RunError when a page was lost on the way."""
        if self.read != self.documents + self.aside.total():
            raise RunError(
                f"the counts do not close: read {self.read}, documents {self.documents}, aside {self.aside.total()}",
                stage="extract",
                remedy="Every page must be one or the other: this is a fault of the program, not of the data.",
            )
        return self

    def render(self) -> str:
        """A few lines.

        >>> counts = ExtractionCounts(read=3, documents=1, aside=Counter(short=2), by=Counter(site=3), paragraphs=9, pictures=1)
        >>> print(counts.render())
        pages: 3 read = 1 document + 2 set aside (short 2); main text by site 3
        paragraphs: 9 kept, 0 dropped that their site repeats
        pictures: 1 kept, 0 of them missing, 0 dropped that their site repeats
        """
        word = "document" if self.documents == 1 else "documents"
        aside = f" ({_listed(self.aside)})" if self.aside else ""
        lines = [
            f"pages: {self.read:,} read = {self.documents:,} {word} + {self.aside.total():,} set aside{aside}; "
            f"main text by {_listed(self.by)}",
            f"paragraphs: {self.paragraphs:,} kept, {self.repeated:,} dropped that their site repeats",
            f"pictures: {self.pictures:,} kept, {self.missing:,} of them missing, "
            f"{self.repeated_pictures:,} dropped that their site repeats",
        ]
        if self.replaced:
            lines.append(f"documents with bytes that no charset explains, now U+FFFD: {self.replaced:,}")
        if self.unchecked:
            lines.append(f"documents whose language was believed, not checked: {self.unchecked:,}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The counts by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
