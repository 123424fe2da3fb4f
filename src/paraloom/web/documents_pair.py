"""One pair of documents side by side: images, then sentences with lines between those that are aligned."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from paraloom.alignment.images import ImageKey, group_images
from paraloom.core.beads import Bead
from paraloom.web.documents_data import THIRDS, Document, Image, ShownPair
from paraloom.web.formatting import count, number
from paraloom.web.images import Embedder
from paraloom.web.markup import Html, Part, element, isolated

# Rows that are visible at first, rows in all, characters of a sentence, shared images, and other images of a side.
_VISIBLE_ROWS, _MAX_ROWS, _MAX_CHARACTERS = 40, 240, 1500
_MAX_SHARED, _MAX_OTHERS = 6, 8

# Characters per line of a column, and the height of a block's padding in lines.
_LINE_LENGTH, _PADDING = 68, 0.95

# fmt: off
_RIGHT_TO_LEFT = frozenset({
    "ar", "arc", "arz", "azb", "bal", "ckb", "dv", "fa", "glk", "he", "iw", "ji", "khw", "ks", "lrc", "mzn", "nqo",
    "pnb", "prs", "ps", "sd", "syr", "ug", "ur", "yi",
})
# fmt: on
_RIGHT_TO_LEFT_SCRIPTS = frozenset({"adlm", "arab", "aran", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"})


def direction(lang: str) -> str:
    """The writing direction of a language by its tag: `ltr`, `rtl`, or `auto` without a tag.

    Example:
        >>> direction("ar"), direction("ku-Arab"), direction("az-Cyrl-AZ"), direction("fa_IR"), direction("")
        ('rtl', 'rtl', 'ltr', 'rtl', 'auto')
    """
    parts = lang.strip().lower().replace("_", "-").split("-")
    if not parts[0]:
        return "auto"
    script = next((part for part in parts[1:] if len(part) == 4 and part.isalpha()), None)
    if script:
        return "rtl" if script in _RIGHT_TO_LEFT_SCRIPTS else "ltr"
    return "rtl" if parts[0] in _RIGHT_TO_LEFT else "ltr"


def _this_page(pair: int) -> str:
    return ""


def title(name: str, text: str, lang: str) -> Html:
    """The title of a document, or its name if it has no title."""
    return element("bdi", text.strip() or name, lang=lang or None)


def article(
    shown: ShownPair,
    i: int,
    total: int,
    embedder: Embedder,
    *,
    pages: Callable[[int], str] = _this_page,
    index: str = "",
) -> Html:
    """The section of one pair.

    Args:
        shown: The pair.
        i: Its number on the page, from 1.
        total: Number of pairs on the page, or on all pages.
        embedder: Embeds its images.
        pages: Number of a pair → the page that has it, as links name it; by default they are all on this page.
        index: The page with the list of pairs; '' for this page.
    """
    ordered = reading_order(shown.beads, len(shown.source.paragraphs), len(shown.target.paragraphs))
    known = set(shown.beads)
    about = [f"{i} of {total}"]
    about += [] if shown.third is None else [THIRDS[shown.third]]
    about += [f"margin {number(shown.pair.margin)}", f"score {number(shown.pair.score)}"]
    jumps = [("previous", i - 1)] * (i > 1) + [("next", i + 1)] * (i < total)
    head = element(
        "header",
        element("p", " · ".join(about), class_="quiet"),
        element(
            "nav",
            [element("a", f"{name} pair", href=f"{pages(to)}#pair-{to}") for name, to in jumps],
            element("a", "all pairs", href=f"{index}#list"),
            aria_label=f"Pair {i}",
        ),
        class_="about",
    )
    return element(
        "article",
        head,
        element("h3", _heading(shown.source), element("span", " and ", class_="unseen"), _heading(shown.target)),
        images(shown.source, shown.target, embedder),
        None if shown.beads else element("p", "This pair has no sentence links.", class_="quiet nothing"),
        _beads(ordered[:_VISIBLE_ROWS], shown, known, tab_stop=True),
        _more_rows(ordered, shown, known),
        id=f"pair-{i}",
        class_="documents",
    )


def bead_row(bead: Bead, source: Document, target: Document, *, linked: bool = True, tab_stop: bool = True) -> Html:
    """The row of a bead: its sentences on both sides, lines between them, its type and its score.

    Args:
        bead: The bead.
        source: The source document.
        target: The target document.
        linked: False for a sentence that no link contains.
        tab_stop: Whether the Tab key leads here; arrow keys lead to the other rows.
    """
    sides = [
        [_truncated(document.paragraphs[i]) for i in indices]
        for document, indices in ((source, bead.source), (target, bead.target))
    ]
    shares = [heights(texts) for texts in sides]
    kind = f"{len(bead.source)}:{len(bead.target)}"
    tooltip = f"{kind}, score {number(bead.score)}" if linked else "in no link"
    unaligned = not (bead.source and bead.target)
    class_ = "bead unaligned" if unaligned else "bead" if kind == "1:1" else "bead several"
    if not unaligned and sides[0] == sides[1]:
        class_ += " equal"
    middle = element(
        "div",
        connections(*shares),
        element("span", kind if linked else "in no link", class_="kind"),
        element("span", number(bead.score), class_="score") if linked else None,
        class_="between",
    )
    return element(
        "li",
        _cell(source, sides[0], shares[0]),
        middle,
        _cell(target, sides[1], shares[1]),
        class_=class_,
        title=tooltip,
        tabindex=0 if tab_stop else -1,
    )


def images(source: Document, target: Document, embedder: Embedder) -> Part:
    """The images of both documents: shared ones next to each other, then the others of each side.

    Args:
        source: The source document.
        target: The target document.
        embedder: Embeds the images.
    """
    sides = [list(dict.fromkeys(document.images)) for document in (source, target)]
    numbers = group_images(_hashes(image) for side in sides for image in side)
    by_number: list[dict[int, Image]] = [{}, {}]
    others: list[list[Image]] = [[], []]
    for side, members in enumerate(sides):
        for image in members:
            number = numbers.get(_hashes(image))
            if number is None:
                others[side].append(image)
            else:
                by_number[side].setdefault(number, image)
    for side in (0, 1):
        others[side] += [image for number, image in by_number[side].items() if number not in by_number[1 - side]]
    shared = [(image, by_number[1][number]) for number, image in by_number[0].items() if number in by_number[1]]
    if not shared and not any(others):
        return None
    rows = [
        _shared_image(ours, theirs, source, target, embedder, tab_stop=not i)
        for i, (ours, theirs) in enumerate(shared[:_MAX_SHARED])
    ]
    left = len(shared) - _MAX_SHARED
    more = element("p", f"and {count(left)} more shared images", class_="quiet more") if left > 0 else None
    rest = _other_images(others, source, target, embedder) if any(others) else None
    return [element("ul", rows, rest, class_="beads images", aria_label="Images"), more]


def reading_order(beads: Sequence[Bead], sources: int, targets: int) -> list[Bead]:
    """The beads in reading order, with a bead of its own for each sentence that is in none.

    Beads with both sides come in the order of the source.  A bead with one side comes before the bead that has the next
    sentence of that side.

    Args:
        beads: The beads.
        sources: Number of source sentences.
        targets: Number of target sentences.

    Example:
        >>> [(bead.source, bead.target) for bead in reading_order([Bead((0,), (1,)), Bead((), (0,))], 2, 2)]
        [((), (0,)), ((0,), (1,)), ((1,), ())]
    """
    known = [{i for bead in beads for i in bead.source}, {i for bead in beads for i in bead.target}]
    aligned = sorted((bead for bead in beads if bead.source and bead.target), key=lambda bead: bead.source)
    ours = [bead for bead in beads if bead.source and not bead.target]
    theirs = [bead for bead in beads if bead.target and not bead.source]
    ours += [Bead((i,), ()) for i in range(sources) if i not in known[0]]
    theirs += [Bead((), (i,)) for i in range(targets) if i not in known[1]]
    ours.sort(key=lambda bead: bead.source, reverse=True)
    theirs.sort(key=lambda bead: bead.target, reverse=True)
    ordered: list[Bead] = []
    for bead in aligned:
        while ours and ours[-1].source < bead.source:
            ordered.append(ours.pop())
        while theirs and theirs[-1].target < bead.target:
            ordered.append(theirs.pop())
        ordered.append(bead)
    return [*ordered, *reversed(ours), *reversed(theirs)]


def heights(texts: Sequence[str]) -> list[float]:
    """Estimated heights, in lines, of the blocks of one side of a bead.

    The style sheet gives the blocks these shares of the row's height, so that the lines between the columns meet the
    middle of each block at any width.

    Example:
        >>> heights(["short", "word " * 40])
        [1.95, 3.95]
    """
    return [round(-(-_width(text) // _LINE_LENGTH) + _PADDING, 2) for text in texts]


def connections(ours: Sequence[float], theirs: Sequence[float]) -> Html:
    """The lines between the columns of a bead: straight for 1:1, through a dot for more, a loose end for unaligned.

    Args:
        ours: Heights of the blocks on the left.
        theirs: Heights of the blocks on the right.
    """
    left, right = _middles(ours), _middles(theirs)
    paths: list[Part]
    if not left or not right:
        end, start = (24, 0) if left else (76, 100)
        middles = left or right
        paths = [[_path(f"M{start} {_short(y)}H{end}", "connection loose") for y in middles]]
        paths.append([_path(f"M{end} {_short(y)}v0.01", "dot loose") for y in middles])
    elif len(left) == len(right) == 1:
        paths = [_path("M0 50H100", "connection")]
    else:
        sides = ((0, left), (100, right))
        paths = [[_path(_curve(x, y), "connection") for y in middles] for x, middles in sides]
        paths.append(_path("M50 50v0.01", "dot"))
    return element(
        "svg", paths, viewBox="0 0 100 100", preserveAspectRatio="none", aria_hidden="true", focusable="false"
    )


def _shared_image(
    ours: Image, theirs: Image, source: Document, target: Document, embedder: Embedder, *, tab_stop: bool
) -> Html:
    same = bool(ours.sha256) and ours.sha256 == theirs.sha256
    kind = element("span", "identical" if same else "similar", class_="kind")
    return element(
        "li",
        element("div", embedder.figure(ours), **_language(source), class_="cell"),
        element("div", connections([1], [1]), kind, class_="between"),
        element("div", embedder.figure(theirs), **_language(target), class_="cell"),
        class_="bead shared" if same else "bead shared similar",
        title="identical images" if same else "similar images",
        tabindex=0 if tab_stop else -1,
    )


def _other_images(others: Sequence[Sequence[Image]], source: Document, target: Document, embedder: Embedder) -> Html:
    cells = []
    for members, document in zip(others, (source, target), strict=True):
        left = len(members) - _MAX_OTHERS
        cells.append(
            element(
                "div",
                [embedder.figure(image) for image in members[:_MAX_OTHERS]],
                element("p", f"and {count(left)} more", class_="quiet", lang="en", dir="ltr") if left > 0 else None,
                **_language(document),
                class_="cell",
            )
        )
    return element("li", cells[0], element("div", class_="between"), cells[1], class_="bead others")


def _hashes(image: Image) -> ImageKey:
    return ImageKey(image.sha256 or None, image.phash or None)


def _heading(document: Document) -> Html:
    lang = isolated(document.lang or "unknown language")
    return element(
        "span",
        element("span", title(document.name, document.title, document.lang), class_="title"),
        element("span", lang, " · ", isolated(document.name), class_="quiet"),
        **_language(document),
    )


def _beads(
    ordered: Sequence[Bead], shown: ShownPair, known: set[Bead], start: int = 1, *, tab_stop: bool = False
) -> Part:
    if not ordered:
        return None
    items = [
        bead_row(bead, shown.source, shown.target, linked=bead in known, tab_stop=tab_stop and not i)
        for i, bead in enumerate(ordered)
    ]
    return element("ol", items, class_="beads", start=start if start > 1 else None, aria_label="Sentences")


def _more_rows(ordered: Sequence[Bead], shown: ShownPair, known: set[Bead]) -> Part:
    left = len(ordered) - _VISIBLE_ROWS
    if left <= 0:
        return None
    omitted = len(ordered) - _MAX_ROWS
    return element(
        "details",
        element("summary", f"{count(left)} more rows"),
        _beads(ordered[_VISIBLE_ROWS:_MAX_ROWS], shown, known, _VISIBLE_ROWS + 1),
        element("p", f"{count(omitted)} more rows are not shown", class_="quiet") if omitted > 0 else None,
    )


def _cell(document: Document, texts: Sequence[str], shares: Sequence[float]) -> Html:
    if not texts:
        return element("div", element("span", "no counterpart", class_="unseen"), class_="cell none")
    rows = " ".join(f"{share}fr" for share in shares) if len(texts) > 1 else None
    return element(
        "div",
        [element("p", text) for text in texts],
        **_language(document),
        class_="cell",
        style=f"grid-template-rows:{rows}" if rows else None,
    )


def _language(document: Document) -> dict[str, str | None]:
    return {"lang": document.lang or None, "dir": direction(document.lang)}


def _truncated(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 1].rstrip() + "…"


def _middles(shares: Sequence[float]) -> list[float]:
    """The middle of each block, from 0 at the top to 100 at the bottom."""
    total, above, middles = sum(shares), 0.0, []
    for share in shares:
        middles.append(100 * (above + share / 2) / total)
        above += share
    return middles


def _curve(x: int, y: float) -> str:
    if abs(y - 50) < 0.1:
        return f"M{x} 50H50"
    # Horizontal at the block and at the dot.
    return f"M{x} {_short(y)}C{(x + 50) // 2} {_short(y)} {(x + 50) // 2} 50 50 50"


def _path(d: str, class_: str) -> Html:
    return element("path", d=d, class_=class_, vector_effect="non-scaling-stroke")


def _width(text: str) -> int:
    """Width in columns: East Asian wide characters count twice."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _short(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
