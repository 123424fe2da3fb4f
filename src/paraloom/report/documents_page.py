"""Writes the page about aligned documents: figures, an index of the pairs drawn, and each pair side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from paraloom.io.atomic import replacing
from paraloom.report.aligned_facts import THIRDS, Aligned, Shown, gather
from paraloom.report.aligned_pair import article, title
from paraloom.report.charts import histogram
from paraloom.report.facts import BINS
from paraloom.report.figures import count, number, share
from paraloom.report.markup import Html, Part, element, foreign, join
from paraloom.report.pictures import Embedder

# The page runs nothing and fetches nothing, whatever the documents hold.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_KINDS = 12
_COLUMNS = ("margin", "score", "sentences joined")


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
) -> Aligned:
    """Write a page that shows `show` pairs of two corpora of documents; returns what it tells.

    pairs: TSV as `align documents` writes it.  links: LINKS of these pairs.  media: folders with the pictures' files.
    The same input and seed give the same bytes.  Memory holds names of pairs and the documents shown, no more.
    Raises DataError where a pair names a document that is not there, and where links do not fit the texts.
    """
    found = gather(source, target, Path(pairs), Path(links), show=show, seed=seed)
    page = _page(found, Embedder([Path(folder) for folder in media]))
    with replacing(Path(output)) as temporary:
        temporary.write_text("<!doctype html>\n" + page + "\n", encoding="utf-8")
    return found


def _page(found: Aligned, embedder: Embedder) -> str:
    room = files("paraloom.report")
    style = "".join(room.joinpath(name).read_text(encoding="utf-8") for name in ("style.css", "aligned.css"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{found.names[0]} and {found.names[1]} · Paraloom"),
        element("style", Html(style)),
    )
    contents = [("figures", "Figures"), ("list", "Pairs shown"), ("documents", "Side by side")]
    header = element(
        "header",
        element("p", "Paraloom documents", class_="eyebrow"),
        element("h1", foreign(found.names[0]), element("span", " and ", class_="quiet"), foreign(found.names[1])),
        element("p", _lead(found), class_="lead"),
        element(
            "nav",
            element("ul", [element("li", element("a", said, href=f"#{name}")) for name, said in contents]),
            aria_label="Contents",
        ),
    )
    of = len(found.shown)
    articles = [article(shown, place, of, embedder) for place, shown in enumerate(found.shown, 1)]
    main = element(
        "main",
        element("section", element("h2", "Figures"), _figures(found), id="figures"),
        element("section", element("h2", "Pairs shown"), _index(found), id="list"),
        element("section", element("h2", "Side by side"), _reading(), articles, id="documents"),
    )
    footer = element("footer", element("p", "Written by Paraloom."))
    return element("html", head, element("body", header, main, footer, class_="aligned"), lang="en")


def _lead(found: Aligned) -> str:
    ours, theirs = found.documents
    pairs, beads = len(found.pairs), found.counts.kinds.total()
    said = f"{count(pairs)} pair{'s' * (pairs != 1)} of {count(ours)} and {count(theirs)} documents"
    return f"{said}, {count(beads)} bead{'s' * (beads != 1)} between their sentences."


def _figures(found: Aligned) -> Part:
    counts = found.counts
    told: list[tuple[Part, str]] = [("pairs", count(len(found.pairs)))]
    for side, name in enumerate(found.names):
        part = f"{share(found.paired[side], found.documents[side])} of {count(found.documents[side])}"
        told.append((join("in a pair, ", foreign(name)), part))
    for side, name in enumerate(found.names):
        alone, of = counts.alone(side), counts.sentences(side)
        told.append((join("sentences alone, ", foreign(name)), f"{share(alone, of)} of {count(of)}"))
    notes = []
    if without := len(found.pairs) - len(counts.linked):
        notes.append(f"{count(without)} of the pairs {'has' if without == 1 else 'have'} no link.")
    if counts.passed_over:
        n = counts.passed_over
        notes.append(f"{count(n)} link{'s' if n != 1 else ''} of other pairs {'are' if n != 1 else 'is'} not counted.")
    return [
        element(
            "dl", [element("div", element("dt", name), element("dd", said)) for name, said in told], class_="figures"
        ),
        element("p", " ".join(notes), class_="quiet") if notes else None,
        element("div", _margins(found), _kinds(found), class_="charts"),
    ]


def _margins(found: Aligned) -> Part:
    margins = sorted(pair.margin for pair in found.pairs if math.isfinite(pair.margin))
    if len(set(margins)) < 2:
        return None
    low, high = margins[0], margins[-1]
    if 0 < low < high / 4:
        low = 0.0
    width = (high - low) / BINS
    counts = [0] * BINS
    for margin in margins:
        counts[min(BINS - 1, int((margin - low) / width))] += 1
    edges = [low + width * place for place in range(BINS + 1)]
    return element(
        "figure",
        element("h3", "Margins"),
        element("p", "How far each pair is ahead of its rivals; further right is surer.", class_="quiet"),
        histogram("Margins of the pairs", edges, counts, None),
    )


def _kinds(found: Aligned) -> Part:
    kinds = sorted(found.counts.kinds.items(), key=lambda each: (-each[1], each[0]))
    total = found.counts.kinds.total()
    if not total:
        return None
    shown: list[tuple[str, int, bool]] = [(f"{a}:{b}", n, not (a and b)) for (a, b), n in kinds[:_KINDS]]
    if rest := sum(n for _, n in kinds[_KINDS:]):
        shown.append(("others", rest, False))
    body = [
        element(
            "tr",
            element("th", name, scope="row"),
            element("td", count(n), class_="n"),
            element("td", share(n, total), class_="n quiet"),
            element(
                "td", element("span", class_="bar", style=f"width:{100 * n / kinds[0][1]:.1f}%"), aria_hidden="true"
            ),
            class_="loose" if loose else None,
        )
        for name, n, loose in shown
    ]
    heads = [element("th", name, scope="col", class_="n") for name in ("beads", "of all")]
    return element(
        "div",
        element("h3", "Beads by kind"),
        element("p", "Sentences of the source to sentences of the target; 1:0 and 0:1 stand alone.", class_="quiet"),
        element(
            "table",
            element("caption", "Beads by kind", class_="unseen"),
            element(
                "thead",
                element(
                    "tr",
                    element("th", "kind", scope="col"),
                    heads,
                    element("th", element("span", "share", class_="unseen"), scope="col"),
                ),
            ),
            element("tbody", body),
            class_="reasons kinds",
        ),
    )


def _index(found: Aligned) -> Part:
    if found.shown[0].third is None:
        drawn = "Drawn by lot from all pairs: their margins do not tell them apart."
    else:
        drawn = (
            "Drawn by lot, as many from each third of the margins, "
            "so that the doubtful pairs are seen beside the good ones."
        )
    heads = [element("th", foreign(name), scope="col") for name in found.names]
    heads += [element("th", name, scope="col", class_="n") for name in _COLUMNS]
    place, groups = 0, []
    for third, members in groupby(found.shown, key=lambda shown: shown.third):
        lines = []
        for shown in members:
            place += 1
            lines.append(_line(shown, place))
        if third is not None:
            named = element("th", THIRDS[third].capitalize(), colspan=5, scope="rowgroup")
            lines.insert(0, element("tr", named, class_="subhead"))
        groups.append(element("tbody", lines))
    table = element(
        "table", element("caption", "Pairs shown", class_="unseen"), element("thead", element("tr", heads)), groups
    )
    return [element("p", drawn, class_="intro"), element("div", table, class_="wide index")]


def _line(shown: Shown, place: int) -> Html:
    joined = sum(len(bead.source) + len(bead.target) for bead in shown.beads if bead.source and bead.target)
    of = len(shown.source.paragraphs) + len(shown.target.paragraphs)
    return element(
        "tr",
        element("td", element("a", title(shown.source), href=f"#pair-{place}")),
        element("td", title(shown.target)),
        [
            element("td", said, class_="n", data_name=name)
            for name, said in zip(
                _COLUMNS,
                (number(shown.pair.margin), number(shown.pair.score), share(joined, of) if shown.beads else "–"),
                strict=True,
            )
        ],
    )


def _reading() -> Html:
    return element(
        "p",
        "Counterparts stand at the same height, a thread between them; what has none stands alone, "
        "and what is the same to the letter on both sides is grey. "
        "Point at a row, or step through the rows with the tabulator, for its kind and score.",
        class_="intro",
    )
