"""Writes the page on which one person labels the pairs of a sheet, in a browser and without a network."""

from __future__ import annotations

from pathlib import Path

from paraloom.core.digests import file_digest
from paraloom.core.errors import DataError
from paraloom.io.sheets import quote_formula
from paraloom.web.judging import kinds_of, read_pairs_to_label
from paraloom.web.templates import write_page

_QUESTIONS = {
    "right": ("Does the second say what the first says?", {1: "right", 0: "wrong, or faulty language"}),
    "strength": ("Do both say the same?", {3: "the same", 2: "roughly the same", 1: "not the same"}),
    "fluency": ("Does the second have errors?", {3: "none", 2: "one or two", 1: "more, or it is not a sentence"}),
}
"""Of each kind of label: the question, and what the labels mean (PNMT §3.1)."""


def write_rating_page(sheet: str | Path, page: str | Path) -> Path:
    """Write a self-contained page that shows a sheet's pairs one at a time and saves the sheet with the labels."""
    sheet = Path(sheet)
    rows = read_pairs_to_label(sheet)
    if not rows:
        raise DataError("the sheet has no pairs", file=str(sheet), remedy="Sample from a corpus that has scored pairs.")
    kinds = kinds_of(list(rows[0]))
    return write_page(
        Path(page),
        "rating.html",
        styles=["rating.css"],
        script="rating.js",
        title=sheet.stem,
        eyebrow="Paraloom pairs to label",
        heading=f"{len(rows):,} pairs",
        identity=file_digest(sheet)[:16],
        columns=" ".join(["number", "reference", "translation", *kinds]),
        # A card holds the cells of the sheet, too, to be saved again.
        cards=[(row, quote_formula(row["reference"]), quote_formula(row["translation"])) for row in rows],
        questions=[(kind, *_QUESTIONS[kind]) for kind in kinds],
    )
