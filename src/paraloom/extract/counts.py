"""Counts of an extraction: pages, paragraphs and images, kept and dropped."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from paraloom.core.errors import RunError
from paraloom.core.results import ResultRecord


@dataclass
class ExtractionCounts(ResultRecord):
    """Counts that grow while pages are read and documents are written.

    Args:
        read: Pages read.
        documents: Pages that became documents.
        rejected: The other pages, by reason.
        methods: Pages by the method of extracting their main text.
        paragraphs: Paragraphs of the documents.
        repeated_paragraphs: Paragraphs dropped because their site repeats them.
        images: Images of the documents.
        missing_images: Those of them without a file, which have no hashes.
        repeated_images: Images dropped because their site repeats them.
        invalid_bytes: Documents with bytes that no charset explains.
        unchecked_languages: Documents whose declared language was not checked.
    """

    read: int = 0
    documents: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    methods: Counter[str] = field(default_factory=Counter)
    paragraphs: int = 0
    repeated_paragraphs: int = 0
    images: int = 0
    missing_images: int = 0
    repeated_images: int = 0
    invalid_bytes: int = 0
    unchecked_languages: int = 0

    def check(self) -> ExtractionCounts:
        """Check that the counts add up, and return them."""
        if self.read != self.documents + self.rejected.total():
            raise RunError(
                f"page counts do not add up: read {self.read}, documents {self.documents}, "
                f"rejected {self.rejected.total()}",
                stage="extract",
                remedy="This is a bug of Paraloom, not of the data: please report it.",
            )
        return self

    def format(self) -> str:
        """The counts in a few lines."""
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
