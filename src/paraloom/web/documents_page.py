"""Writes the page about aligned documents: figures, a list of all pairs, and a sample side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from paraloom.alignment.document_pairs import DocumentPair
from paraloom.core.errors import ConfigError
from paraloom.io.atomic import atomic_folder
from paraloom.web.charts import histogram
from paraloom.web.corpus_stats import BINS, Sample
from paraloom.web.documents_data import DocumentsReport, read_aligned_documents
from paraloom.web.documents_pair import article, title
from paraloom.web.formatting import count, number, share
from paraloom.web.images import Embedder, recorded_files
from paraloom.web.templates import draw, write_page

_MAX_TYPES = 12
_MAX_LISTED, _PAIRS_PER_PAGE = 10_000, 25
_COLUMNS = ("margin", "score", "aligned sentences")


def write_aligned_documents(
    source: str | Path,
    target: str | Path,
    output: str | Path = "documents.html",
    *,
    pairs: str | Path,
    links: str | Path,
    media: Sequence[str | Path] = (),
    show: int = 20,
    seed: int = 1,
    everything: bool = False,
) -> DocumentsReport:
    """Write a page that lists aligned documents and shows a sample of them side by side.

    The same input and seed give the same bytes.  Memory holds the names of all pairs and the documents shown.

    Args:
        source: A corpus of documents, from `extract`.
        target: The same in another language.
        output: The page to write.
        pairs: Their pairs, from `align documents`.
        links: Links within the pairs, from `align sentences --documents`.
        media: Another folder with pictures, if they moved since `extract`.
        show: Number of pairs on the page: a sample of confident, medium and doubtful ones.
        everything: Write every pair, on further pages in a folder beside the page.
    """
    for folder in media:
        if not Path(folder).is_dir():
            raise ConfigError(f"folder '{folder}' not found", remedy="Name the folder that holds the pictures.")
    aligned = read_aligned_documents(
        source, target, Path(pairs), Path(links), show=show, seed=seed, everything=everything
    )
    output, folders = Path(output), [Path(folder) for folder in media]
    image_files = recorded_files([Path(source), Path(target)])
    folder = f"{output.stem}-pairs" if everything else ""
    if everything:
        with atomic_folder(output.with_name(folder), _page_name(1)) as temporary:
            _write_pages(aligned, temporary, output.name, lambda: Embedder(folders, image_files))
    _write(output, aligned, _page(aligned, Embedder(folders, image_files), folder))
    return aligned


def _page(aligned: DocumentsReport, embedder: Embedder, folder: str) -> dict[str, object]:
    total = len(aligned.shown)
    return {
        "lead": _summary(aligned),
        "figures": _figures(aligned),
        "index": _index(aligned, folder),
        "articles": [article(shown, i, total, embedder) for i, shown in enumerate(aligned.shown, 1)],
    }


def _write_pages(aligned: DocumentsReport, folder: Path, index: str, make_embedder: Callable[[], Embedder]) -> None:
    """Write all pairs, the highest margins first, some to a page."""
    total, index = len(aligned.everything), f"../{quote(index)}"
    for start in range(0, total, _PAIRS_PER_PAGE):
        embedder = make_embedder()
        members = enumerate(aligned.everything[start : start + _PAIRS_PER_PAGE], start + 1)
        articles = [article(shown, i, total, embedder, pages=_page_name, index=index) for i, shown in members]
        last = start + len(articles)
        lead = f"Pairs {count(start + 1)} to {count(last)} of {count(total)}."
        page = {"lead": lead, "figures": None, "index": index, "articles": articles}
        _write(folder / _page_name(last), aligned, page)


def _write(path: Path, aligned: DocumentsReport, page: Mapping[str, object]) -> None:
    """Write a page. It loads nothing and runs its own script only, whatever the documents contain."""
    write_page(
        path,
        "documents.html",
        styles=["documents.css"],
        script="documents.js",
        title=" and ".join(aligned.names),
        eyebrow="Paraloom aligned documents",
        names=aligned.names,
        **page,
    )


def _summary(aligned: DocumentsReport) -> str:
    ours, theirs = aligned.documents
    pairs, beads = len(aligned.pairs), aligned.counts.types.total()
    text = f"{count(pairs)} pair{'s' * (pairs != 1)} of {count(ours)} and {count(theirs)} documents"
    return f"{text}, {count(beads)} sentence bead{'s' * (beads != 1)}."


def _figures(aligned: DocumentsReport) -> dict[str, Any]:
    counts = aligned.counts
    figures = [("pairs", "", count(len(aligned.pairs)))]
    for side, name in enumerate(aligned.names):
        part = f"{share(aligned.paired[side], aligned.documents[side])} of {count(aligned.documents[side])}"
        figures.append(("documents paired, ", name, part))
    for side, name in enumerate(aligned.names):
        unaligned, total = counts.unaligned(side), counts.sentences(side)
        figures.append(("sentences unaligned, ", name, f"{share(unaligned, total)} of {count(total)}"))
    notes = []
    if without := len(aligned.pairs) - len(counts.linked):
        notes.append(f"{count(without)} of the pairs {'has' if without == 1 else 'have'} no sentence links.")
    if n := counts.ignored:
        notes.append(f"{count(n)} link{'s' if n != 1 else ''} of other pairs {'are' if n != 1 else 'is'} not counted.")
    return {"items": figures, "notes": " ".join(notes), "margins": _margins(aligned), "types": _bead_types(aligned)}


def _margins(aligned: DocumentsReport) -> Markup | None:
    margins = sorted(pair.margin for pair in aligned.pairs if math.isfinite(pair.margin))
    if len(set(margins)) < 2:
        return None
    low, high = margins[0], margins[-1]
    if 0 < low < high / 4:
        low = 0.0
    width = (high - low) / BINS
    counts = [0] * BINS
    for margin in margins:
        counts[min(BINS - 1, int((margin - low) / width))] += 1
    return histogram("Margins of the pairs", [low + width * i for i in range(BINS + 1)], counts)


def _bead_types(aligned: DocumentsReport) -> Markup | None:
    types = sorted(aligned.counts.types.items(), key=lambda item: (-item[1], item[0]))
    total = aligned.counts.types.total()
    if not total:
        return None
    lines = [Sample(f"{a}:{b}", n, ()) for (a, b), n in types[:_MAX_TYPES]]
    if rest := sum(n for _, n in types[_MAX_TYPES:]):
        lines.append(Sample("other", rest, ()))
    faded = [f"{a}:{b}" for a, b in aligned.counts.types if not (a and b)]
    heads = ("type", "beads", "share", "Bead types")
    return draw("bars", *heads, lines, total, class_="reasons bead-types", faded=faded)


def _index(aligned: DocumentsReport, folder: str) -> Markup:
    """The list of all pairs, which a script of the page sorts; those on a page, here or in `folder`, are links."""
    on_page = {(shown.pair.source, shown.pair.target): i for i, shown in enumerate(aligned.shown, 1)}
    pairs = aligned.by_margin()
    if len(on_page) == len(pairs):
        intro = "All pairs, the highest margins first."
    else:
        even = "" if aligned.shown[0].third is None else ", equally many from each third of the margins"
        intro = f"All pairs, the highest margins first. A random sample of {count(len(on_page))} is on this page{even}."
        intro += " The others are on pages of their own." if folder else " With --all, the others have pages too."
    if len(pairs) > _MAX_LISTED:
        intro += f" The first {count(_MAX_LISTED)} of {count(len(pairs))} are listed."
    rows = [
        _line(aligned, pair, i, on_page.get((pair.source, pair.target)), folder)
        for i, pair in enumerate(pairs[:_MAX_LISTED], 1)
    ]
    return draw("document_list", intro, aligned.names, _COLUMNS, rows)


def _line(
    aligned: DocumentsReport, pair: DocumentPair, i: int, on_page: int | None, folder: str
) -> tuple[str | None, Sequence[tuple[str, str]], Sequence[tuple[str, object, str]]]:
    """The row of a pair: number `i` by margin, number `on_page` of the sample if it is in that."""
    href = None if not (on_page or folder) else f"#pair-{on_page}" if on_page else f"{folder}/{_page_name(i)}#pair-{i}"
    titles = [title(pair.source, *aligned.titles[0][pair.source]), title(pair.target, *aligned.titles[1][pair.target])]
    part, total = aligned.counts.aligned.get((pair.source, pair.target), (0, 0))
    values: list[tuple[object, str]] = [
        (value if math.isfinite(value) else "", number(value)) for value in (pair.margin, pair.score)
    ]
    values.append((part / total, share(part, total)) if total else ("", "–"))
    return href, titles, [(column, *value) for column, value in zip(_COLUMNS, values, strict=True)]


def _page_name(pair: int) -> str:
    return f"page-{(pair - 1) // _PAIRS_PER_PAGE + 1}.html"
