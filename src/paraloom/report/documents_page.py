"""Writes the page about aligned documents: figures, an index of sampled pairs, and each pair side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from paraloom.io.atomic import atomic_write
from paraloom.report.charts import histogram
from paraloom.report.corpus_stats import BINS
from paraloom.report.documents_data import THIRDS, DocumentsReport, ShownPair, read_aligned_documents
from paraloom.report.documents_pair import article, title
from paraloom.report.formatting import count, number, share
from paraloom.report.images import Embedder
from paraloom.report.markup import Html, Part, element, isolated, join, table
from paraloom.report.page import POLICY, style

_MAX_TYPES = 12
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
) -> DocumentsReport:
    """Write a page that shows a sample of aligned documents side by side.

    The same input and seed give the same bytes.  Memory holds the names of all pairs and the documents shown.

    Args:
        source: Corpus of source documents.
        target: Corpus of target documents.
        output: The HTML file to write.
        pairs: TSV file of document pairs, as `align documents` writes it.
        links: Shard of sentence links between these pairs.
        media: Folders of the documents' image files.
        show: Number of pairs to show, at least 1.
        seed: Seed of the sample.

    Returns:
        What the page shows.

    Raises:
        DataError: A pair has a document that its corpus does not contain, links do not fit the texts, or the list of
            pairs is empty.
        ConfigError: `show` is less than 1.
    """
    aligned = read_aligned_documents(source, target, Path(pairs), Path(links), show=show, seed=seed)
    page = _page(aligned, Embedder([Path(folder) for folder in media]))
    with atomic_write(Path(output)) as temporary:
        temporary.write_text("<!doctype html>\n" + page + "\n", encoding="utf-8")
    return aligned


def _page(aligned: DocumentsReport, embedder: Embedder) -> str:
    source, target = aligned.names
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{source} and {target} · Paraloom"),
        style("style.css", "documents.css"),
    )
    contents = [("figures", "Figures"), ("list", "Sample of pairs"), ("documents", "Side by side")]
    header = element(
        "header",
        element("p", "Paraloom aligned documents", class_="eyebrow"),
        element("h1", isolated(source), element("span", " and ", class_="quiet"), isolated(target)),
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
        element("section", element("h2", "Sample of pairs"), _index(aligned), id="list"),
        element("section", element("h2", "Side by side"), _legend(), articles, id="documents"),
    )
    footer = element("footer", element("p", "Written by Paraloom."))
    return element("html", head, element("body", header, main, footer, class_="aligned"), lang="en")


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


def _index(aligned: DocumentsReport) -> Part:
    if aligned.shown[0].third is None:
        intro = "A random sample of all pairs; their margins are all equal."
    else:
        intro = (
            "A random sample with equally many pairs from each third of the margins, "
            "so that uncertain pairs are shown next to good ones."
        )
    heads = [element("th", isolated(name), scope="col") for name in aligned.names]
    heads += [element("th", name, scope="col", class_="n") for name in _COLUMNS]
    i, groups = 0, []
    for third, members in groupby(aligned.shown, key=lambda shown: shown.third):
        lines = []
        for shown in members:
            i += 1
            lines.append(_line(shown, i))
        if third is not None:
            name = element("th", THIRDS[third].capitalize(), colspan=5, scope="rowgroup")
            lines.insert(0, element("tr", name, class_="subhead"))
        groups.append(element("tbody", lines))
    index = element(
        "table", element("caption", "Sample of pairs", class_="unseen"), element("thead", element("tr", heads)), groups
    )
    return [element("p", intro, class_="intro"), element("div", index, class_="wide index")]


def _line(shown: ShownPair, i: int) -> Html:
    aligned = sum(len(bead.source) + len(bead.target) for bead in shown.beads if bead.source and bead.target)
    total = len(shown.source.paragraphs) + len(shown.target.paragraphs)
    values = (number(shown.pair.margin), number(shown.pair.score), share(aligned, total) if shown.beads else "–")
    return element(
        "tr",
        element("td", element("a", title(shown.source), href=f"#pair-{i}")),
        element("td", title(shown.target)),
        [element("td", value, class_="n", data_name=name) for name, value in zip(_COLUMNS, values, strict=True)],
    )


def _legend() -> Html:
    return element(
        "p",
        "Aligned sentences are next to each other, connected by lines. Unaligned sentences have a dashed border, and "
        "sentences that are identical on both sides are gray. "
        "Hover over a row, or move through the rows with the Tab key, to see the bead type and score.",
        class_="intro",
    )
