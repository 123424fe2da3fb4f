"""Writes the page on which one person labels the pairs of a sheet, in a browser and without a network."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from paraloom.core.digests import file_digest
from paraloom.core.errors import DataError
from paraloom.io.atomic import atomic_write
from paraloom.io.sheets import quote_formula, read_sheet
from paraloom.pairs.annotation import LABELS, SHEET_COLUMNS
from paraloom.web.markup import Html, Part, element
from paraloom.web.page import policy, style

_QUESTIONS = {
    "strength": ("Do both say the same?", {3: "the same", 2: "roughly the same", 1: "not the same"}),
    "fluency": ("Does the second have errors?", {3: "none", 2: "one or two", 1: "more, or it is not a sentence"}),
}
"""Of each kind of label: the question, and what the labels mean (PNMT §3.1)."""


def write_rating_page(sheet: str | Path, page: str | Path) -> Path:
    """Write a page that shows the pairs of a sheet one at a time, and saves the sheet with the labels of one rater.

    The page is one file, loads nothing, runs its own script only, and keeps the labels in the browser until another
    rater starts over.  Texts are shown as text, whatever they contain.

    Args:
        sheet: What `annotation.write_sheet` wrote.
        page: The HTML file to write.

    Returns:
        `page`.

    Raises:
        DataError: The file is not a sheet, or has no pairs.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> rows = ["number reference translation strength fluency".split(), ["1", "Hi.", "Hello.", "", ""]]
        >>> _ = (folder / "sheet.tsv").write_text("".join("\\t".join(row) + "\\n" for row in rows))
        >>> write_rating_page(folder / "sheet.tsv", folder / "sheet.html").name
        'sheet.html'
    """
    sheet, page = Path(sheet), Path(page)
    rows = read_sheet(sheet, SHEET_COLUMNS, kind="sheet of pairs to label", remedy="Give what `judge sample` wrote.")
    if not rows:
        raise DataError("the sheet has no pairs", file=str(sheet), remedy="Sample from a corpus that has scored pairs.")
    script = files("paraloom.web").joinpath("static/rating.js").read_text(encoding="utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        policy(script),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{sheet.stem} · Paraloom"),
        style("style.css", "rating.css"),
    )
    header = element(
        "header",
        element("p", "Paraloom pairs to label", class_="eyebrow"),
        element("h1", f"{len(rows):,} pairs"),
        element("p", _HELP, class_="lead"),
        element("noscript", element("p", "This page needs JavaScript, which is off in this browser.")),
        element("p", class_="progress", role="status"),
    )
    buttons = [
        element("button", text, type="button", id=name)
        for name, text in (("back", "Back"), ("next", "Next"), ("save", "Save the sheet"), ("clear", "Start over"))
    ]
    main = element("main", [_card(row) for row in rows], element("p", buttons, class_="buttons"))
    identity = file_digest(sheet)[:16]
    body = element(
        "body",
        *(header, main, element("footer", element("p", "Written by Paraloom.")), element("script", Html(script))),
        class_="rating",
        data_sheet=f"paraloom-{identity}",
        data_file=f"{sheet.stem}.labeled.tsv",
        data_columns=" ".join(SHEET_COLUMNS),
    )
    with atomic_write(page) as temporary:
        temporary.write_text(f"<!doctype html>\n{element('html', head, body, lang='en')}\n", encoding="utf-8")
    return page


_HELP = (
    "Press 3, 2 or 1 for the first question, then for the second; the next pair follows. The arrow keys go back and "
    "on. Labels stay in this browser until another rater starts over."
)


def _card(row: Mapping[str, str]) -> Part:
    """One pair; it holds the cells of the sheet, too, to be saved again."""
    number, texts = row["number"], [row[name] for name in ("reference", "translation")]
    reference, translation = map(quote_formula, texts)
    return element(
        "article",
        *([element("p", text, class_="text") for text in texts], [_question(kind, number) for kind in LABELS]),
        class_="pair",
        data_number=number,
        data_reference=reference,
        data_translation=translation,
    )


def _question(kind: str, number: str) -> Part:
    question, meanings = _QUESTIONS[kind]
    choices = [
        element("label", element("input", type="radio", name=f"{kind}-{number}", value=label), f" {label} {meaning}")
        for label, meaning in meanings.items()
    ]
    return element("fieldset", element("legend", question), choices, data_kind=kind)
