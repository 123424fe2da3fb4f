"""Writes the page about aligned documents: figures, a list of all pairs, and a sample side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from paraloom.alignment.document_pairs import DocumentPair
from paraloom.io.atomic import atomic_folder, atomic_write
from paraloom.web.charts import histogram
from paraloom.web.corpus_stats import BINS
from paraloom.web.documents_data import DocumentsReport, read_aligned_documents
from paraloom.web.documents_pair import article, title
from paraloom.web.formatting import count, number, share
from paraloom.web.images import Embedder, recorded_files
from paraloom.web.markup import Html, Part, element, isolated, join, table

_MAX_TYPES = 12
_MAX_LISTED, _PAIRS_PER_PAGE = 10_000, 25
_COLUMNS = ("margin", "score", "aligned sentences")


def write_aligned_documents(
    source: str | Path,
    target: str | Path,
    output: str | Path,
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
        source: Corpus of source documents.
        target: Corpus of target documents.
        output: The HTML file to write.
        pairs: TSV file of document pairs, as `align documents` writes it.
        links: Shard of sentence links between these pairs.
        media: Further folders of the documents' image files, besides those where `extract` read them.
        show: Number of pairs to show, at least 1.
        seed: Seed of the sample.
        everything: Write all pairs side by side too, on pages in the folder `OUTPUT-pairs` that the list links to.

    Returns:
        What the page shows.

    Raises:
        DataError: A pair has a document that its corpus does not contain, links do not fit the texts, or the list of
            pairs is empty.
        ConfigError: `show` is less than 1, or the folder of the pages holds something else.
    """
    aligned = read_aligned_documents(
        source, target, Path(pairs), Path(links), show=show, seed=seed, everything=everything
    )
    output, folders = Path(output), [Path(folder) for folder in media]
    image_files = recorded_files([Path(source), Path(target)])
    folder = f"{output.stem}-pairs" if everything else ""
    if everything:
        with atomic_folder(output.with_name(folder), _page_name(1)) as temporary:
            _write_pages(aligned, temporary, output.name, lambda: Embedder(folders, image_files))
    _write(output, _page(aligned, Embedder(folders, image_files), folder))
    return aligned


def _page(aligned: DocumentsReport, embedder: Embedder, folder: str) -> Html:
    contents = [("figures", "Figures"), ("list", "All pairs"), ("documents", "Side by side")]
    header = element(
        "header",
        *_heading(aligned),
        element("p", _summary(aligned), class_="lead"),
        element(
            "nav",
            element("ul", [element("li", element("a", text, href=f"#{name}")) for name, text in contents]),
            aria_label="Contents",
        ),
    )
    total = len(aligned.shown)
    articles = [article(shown, i, total, embedder) for i, shown in enumerate(aligned.shown, 1)]
    main = element(
        "main",
        element("section", element("h2", "Figures"), _figures(aligned), id="figures"),
        element("section", element("h2", "All pairs"), _index(aligned, folder), id="list"),
        element("section", element("h2", "Side by side"), _legend(), articles, id="documents"),
    )
    return _document(aligned, header, main)


def _write_pages(aligned: DocumentsReport, folder: Path, index: str, make_embedder: Callable[[], Embedder]) -> None:
    """Write all pairs, the highest margins first, some to a page."""
    total, index = len(aligned.everything), f"../{quote(index)}"
    for start in range(0, total, _PAIRS_PER_PAGE):
        embedder = make_embedder()
        members = enumerate(aligned.everything[start : start + _PAIRS_PER_PAGE], start + 1)
        articles = [article(shown, i, total, embedder, pages=_page_name, index=index) for i, shown in members]
        last = start + len(articles)
        header = element(
            "header",
            *_heading(aligned),
            element("p", f"Pairs {count(start + 1)} to {count(last)} of {count(total)}.", class_="lead"),
            element("nav", element("a", "All pairs", href=f"{index}#list"), aria_label="Contents"),
        )
        main = element("main", element("section", element("h2", "Side by side"), _legend(), articles, id="documents"))
        _write(folder / _page_name(last), _document(aligned, header, main))


def _heading(aligned: DocumentsReport) -> list[Html]:
    source, target = aligned.names
    names = element("h1", isolated(source), element("span", " and ", class_="quiet"), isolated(target))
    return [element("p", "Paraloom aligned documents", class_="eyebrow"), names]


def _document(aligned: DocumentsReport, header: Html, main: Html) -> Html:
    """A whole page. It loads nothing and runs its own script only, whatever the documents contain."""
    script = files("paraloom.web").joinpath("static/documents.js").read_text(encoding="utf-8")
    source, target = aligned.names
    head = element(
        "head",
        element("meta", charset="utf-8"),
        _policy(script),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{source} and {target} · Paraloom"),
        element("style", Html(static("style.css") + static("documents.css"))),
    )
    footer = element("footer", element("p", "Written by Paraloom."))
    body = element("body", header, main, footer, element("script", Html(script)), class_="aligned")
    return element("html", head, body, lang="en")


def _write(path: Path, page: Html) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(f"<!doctype html>\n{page}\n", encoding="utf-8")


def _summary(aligned: DocumentsReport) -> str:
    ours, theirs = aligned.documents
    pairs, beads = len(aligned.pairs), aligned.counts.types.total()
    text = f"{count(pairs)} pair{'s' * (pairs != 1)} of {count(ours)} and {count(theirs)} documents"
    return f"{text}, {count(beads)} sentence bead{'s' * (beads != 1)}."


def _figures(aligned: DocumentsReport) -> Part:
    counts = aligned.counts
    figures: list[tuple[Part, str]] = [("pairs", count(len(aligned.pairs)))]
    for side, name in enumerate(aligned.names):
        part = f"{share(aligned.paired[side], aligned.documents[side])} of {count(aligned.documents[side])}"
        figures.append((join("documents paired, ", isolated(name)), part))
    for side, name in enumerate(aligned.names):
        unaligned, total = counts.unaligned(side), counts.sentences(side)
        figures.append((join("sentences unaligned, ", isolated(name)), f"{share(unaligned, total)} of {count(total)}"))
    notes = []
    if without := len(aligned.pairs) - len(counts.linked):
        notes.append(f"{count(without)} of the pairs {'has' if without == 1 else 'have'} no sentence links.")
    if counts.ignored:
        n = counts.ignored
        notes.append(f"{count(n)} link{'s' if n != 1 else ''} of other pairs {'are' if n != 1 else 'is'} not counted.")
    items = [element("div", element("dt", name), element("dd", value)) for name, value in figures]
    return [
        element("dl", items, class_="figures"),
        element("p", " ".join(notes), class_="quiet") if notes else None,
        element("div", _margins(aligned), _bead_types(aligned), class_="charts"),
    ]


def _margins(aligned: DocumentsReport) -> Part:
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
    edges = [low + width * i for i in range(BINS + 1)]
    return element(
        "figure",
        element("h3", "Margins"),
        element("p", "How far each pair's score is above its competitors'; higher is more certain.", class_="quiet"),
        histogram("Margins of the pairs", edges, counts, None),
    )


def _bead_types(aligned: DocumentsReport) -> Part:
    types = sorted(aligned.counts.types.items(), key=lambda item: (-item[1], item[0]))
    total = aligned.counts.types.total()
    if not total:
        return None
    lines: list[tuple[str, int, bool]] = [(f"{a}:{b}", n, not (a and b)) for (a, b), n in types[:_MAX_TYPES]]
    if rest := sum(n for _, n in types[_MAX_TYPES:]):
        lines.append(("other", rest, False))
    rows = [
        element(
            "tr",
            element("th", name, scope="row"),
            element("td", count(n), class_="n"),
            element("td", share(n, total), class_="n quiet"),
            element(
                "td", element("span", class_="bar", style=f"width:{100 * n / types[0][1]:.1f}%"), aria_hidden="true"
            ),
            class_="unaligned" if unaligned else None,
        )
        for name, n, unaligned in lines
    ]
    heads = [
        "type",
        *(element("th", name, scope="col", class_="n") for name in ("beads", "share")),
        element("th", element("span", "share as a bar", class_="unseen"), scope="col"),
    ]
    return element(
        "div",
        element("h3", "Bead types"),
        element("p", "Source sentences : target sentences; 1:0 and 0:1 are unaligned sentences.", class_="quiet"),
        table(heads, rows, caption="Bead types", hidden_caption=True, class_="reasons bead-types"),
    )


def _index(aligned: DocumentsReport, folder: str) -> Part:
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
    heads = [element("th", isolated(name), scope="col") for name in aligned.names]
    heads += [element("th", name, scope="col", class_="n") for name in _COLUMNS]
    rows = [
        _line(aligned, pair, i, on_page.get((pair.source, pair.target)), folder)
        for i, pair in enumerate(pairs[:_MAX_LISTED], 1)
    ]
    index = table(heads, rows, caption="All pairs", hidden_caption=True, class_="sortable")
    return [element("p", intro, class_="intro"), element("div", index, class_="wide index")]


def _line(aligned: DocumentsReport, pair: DocumentPair, i: int, on_page: int | None, folder: str) -> Html:
    """The row of a pair: number `i` by margin, number `on_page` of the sample if it is in that."""
    href = None if not (on_page or folder) else f"#pair-{on_page}" if on_page else f"{folder}/{_page_name(i)}#pair-{i}"
    ours, theirs = aligned.titles[0][pair.source], aligned.titles[1][pair.target]
    name = title(pair.source, *ours)
    part, total = aligned.counts.aligned.get((pair.source, pair.target), (0, 0))
    values = [(value if math.isfinite(value) else "", number(value)) for value in (pair.margin, pair.score)]
    values.append((part / total, share(part, total)) if total else ("", "–"))
    return element(
        "tr",
        element("td", element("a", name, href=href) if href else name),
        element("td", title(pair.target, *theirs)),
        [
            element("td", text, class_="n", data_name=column, data_value=value)
            for column, (value, text) in zip(_COLUMNS, values, strict=True)
        ],
    )


def _page_name(pair: int) -> str:
    """The page that has a pair, by its number."""
    return f"page-{(pair - 1) // _PAIRS_PER_PAGE + 1}.html"


def _legend() -> Html:
    return element(
        "p",
        "Aligned sentences are next to each other, connected by lines. Unaligned sentences have a dashed border, and "
        "sentences that are identical on both sides are gray. "
        "Hover over a row, or move through the rows with the arrow keys, to see the bead type and score.",
        class_="intro",
    )
