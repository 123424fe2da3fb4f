"""Recognizes files that are not text, such as pictures and Parquet, by their first bytes."""

from __future__ import annotations

from pathlib import Path

from paraloom.core.errors import DataError

_RENAME = "Rename it so that its name ends in {}."
_KINDS = (
    (b"\x89PNG\r\n", "a PNG image", "Name a file of text."),
    (b"\xff\xd8\xff", "a JPEG image", "Name a file of text."),
    (b"%PDF-1", "a PDF document", "Extract its text first."),
    (
        b"PK\x03\x04",
        "a ZIP archive, as .xlsx and .docx are",
        "Unpack it, or save the table as .tsv or .csv, in UTF-8.",
    ),
    (b"PAR1\x15", "Parquet", _RENAME.format(".parquet")),
    (b"\x1f\x8b", "a gzip file", _RENAME.format(".gz")),
    (b"\x28\xb5\x2f\xfd", "a zstd file", _RENAME.format(".zst")),
    (b"\xfd7zXZ\x00", "an xz file", _RENAME.format(".xz")),
    (b"\xff\xfe", "UTF-16", "Convert it: iconv -f utf-16 -t utf-8."),
    (b"\xfe\xff", "UTF-16", "Convert it: iconv -f utf-16 -t utf-8."),
)
"""First bytes, what they are of, and what to do. Text may begin with the four letters PAR1, but not with all five."""


def check_text(begin: bytes, path: str | Path) -> None:
    """Check that a file may be text, because an error about its first line would be cryptic."""
    for magic, kind, remedy in _KINDS:
        if begin.startswith(magic):
            raise DataError(f"expected text, got {kind}", file=path, remedy=remedy)
