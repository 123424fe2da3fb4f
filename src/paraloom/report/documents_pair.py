"""One pair of documents side by side: its pictures, then its sentences, counterparts at the same height."""

from __future__ import annotations

from collections.abc import Sequence

from paraloom.align.same_images import Picture, same_pictures
from paraloom.core.beads import Bead
from paraloom.report.aligned_facts import THIRDS, Document, Image, Shown
from paraloom.report.figures import count, number
from paraloom.report.markup import Html, Part, element, foreign
from paraloom.report.pictures import Embedder
from paraloom.report.threads import heights, rows, threads

# What one pair shows: beads at once and on demand, characters of a sentence, pictures in both and in one.
_AT_ONCE, _MOST, _CHARACTERS = 40, 240, 1500
_JOINED, _OTHERS = 6, 8

# fmt: off
_RIGHT_TO_LEFT = frozenset({
    "ar", "arc", "arz", "azb", "bal", "ckb", "dv", "fa", "glk", "he", "iw", "ji", "khw", "ks", "lrc", "mzn", "nqo",
    "pnb", "prs", "ps", "sd", "syr", "ug", "ur", "yi",
})
# fmt: on
_RIGHT_TO_LEFT_SCRIPTS = frozenset({"adlm", "arab", "aran", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"})


def direction(lang: str) -> str:
    """Which way a language is written, by its tag: ltr, rtl, or auto where there is no tag.

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


def title(document: Document) -> Html:
    """The title of a document in its own language, its name where it has none."""
    return element("bdi", document.title.strip() or document.name, lang=document.lang or None)


def article(shown: Shown, place: int, of: int, embedder: Embedder) -> Html:
    """A pair with all that is known of it; place: from 1, of: how many pairs are shown."""
    ordered = rows(shown.beads, len(shown.source.paragraphs), len(shown.target.paragraphs))
    known = set(shown.beads)
    told = [f"{place} of {of}"]
    told += [] if shown.third is None else [THIRDS[shown.third]]
    told += [f"margin {number(shown.pair.margin)}", f"score {number(shown.pair.score)}"]
    jumps = [("previous", place - 1)] * (place > 1) + [("next", place + 1)] * (place < of)
    head = element(
        "header",
        element("p", " · ".join(told), class_="quiet"),
        element(
            "nav",
            [element("a", f"{name} pair", href=f"#pair-{to}") for name, to in jumps],
            element("a", "all pairs", href="#list"),
            aria_label=f"Pair {place}",
        ),
        class_="about",
    )
    return element(
        "article",
        head,
        element("h3", _name(shown.source), element("span", " and ", class_="unseen"), _name(shown.target)),
        pictures(shown.source, shown.target, embedder),
        None if shown.beads else element("p", "There are no links between their sentences.", class_="quiet nothing"),
        _beads(ordered[:_AT_ONCE], shown, known),
        _further(ordered, shown, known),
        id=f"pair-{place}",
        class_="documents",
    )


def bead(one: Bead, source: Document, target: Document, *, linked: bool = True) -> Html:
    """A row: the sentences of a bead, what joins them, and its kind and score.

    linked: whether it is one of the links; else it is a sentence that they do not name.
    """
    sides = [
        [_shortened(document.paragraphs[place]) for place in places]
        for document, places in ((source, one.source), (target, one.target))
    ]
    shares = [heights(texts) for texts in sides]
    kind = f"{len(one.source)}:{len(one.target)}"
    said = f"{kind}, score {number(one.score)}" if linked else "in no link"
    loose = not (one.source and one.target)
    shape = "bead alone" if loose else "bead" if kind == "1:1" else "bead several"
    if not loose and sides[0] == sides[1]:
        shape += " equal"
    middle = element(
        "div",
        threads(*shares),
        element("span", kind if linked else "in no link", class_="kind"),
        element("span", number(one.score), class_="score") if linked else None,
        class_="between",
    )
    return element(
        "li",
        _cell(source, sides[0], shares[0]),
        middle,
        _cell(target, sides[1], shares[1]),
        class_=shape,
        title=said,
        tabindex=0,
    )


def pictures(source: Document, target: Document, embedder: Embedder) -> Part:
    """The pictures of both: those that are the same joined, row by row, then the others of either."""
    sides = [list(dict.fromkeys(document.images)) for document in (source, target)]
    numbers = same_pictures(_hashes(image) for side in sides for image in side)
    by_number: list[dict[int, Image]] = [{}, {}]
    others: list[list[Image]] = [[], []]
    for side, images in enumerate(sides):
        for image in images:
            number = numbers.get(_hashes(image))
            if number is None:
                others[side].append(image)
            else:
                by_number[side].setdefault(number, image)
    for side in (0, 1):
        others[side] += [image for number, image in by_number[side].items() if number not in by_number[1 - side]]
    both = [(image, by_number[1][number]) for number, image in by_number[0].items() if number in by_number[1]]
    if not both and not any(others):
        return None
    shown = [_joined(ours, theirs, source, target, embedder) for ours, theirs in both[:_JOINED]]
    left = len(both) - _JOINED
    more = element("p", f"and {count(left)} more that both have", class_="quiet more") if left > 0 else None
    apart = _apart(others, source, target, embedder) if any(others) else None
    return [element("ul", shown, apart, class_="beads pictures", aria_label="Pictures"), more]


def _joined(ours: Image, theirs: Image, source: Document, target: Document, embedder: Embedder) -> Html:
    same = bool(ours.sha256) and ours.sha256 == theirs.sha256
    said = "the same picture" if same else "pictures that look alike"
    middle = element(
        "div", threads([1], [1]), element("span", "same" if same else "alike", class_="kind"), class_="between"
    )
    return element(
        "li",
        element("div", embedder.figure(ours), **_language(source), class_="cell"),
        middle,
        element("div", embedder.figure(theirs), **_language(target), class_="cell"),
        class_="bead both" if same else "bead both near",
        title=said,
        tabindex=0,
    )


def _apart(others: Sequence[Sequence[Image]], source: Document, target: Document, embedder: Embedder) -> Html:
    cells = []
    for images, document in zip(others, (source, target), strict=True):
        left = len(images) - _OTHERS
        cells.append(
            element(
                "div",
                [embedder.figure(image) for image in images[:_OTHERS]],
                element("p", f"and {count(left)} more", class_="quiet", lang="en", dir="ltr") if left > 0 else None,
                **_language(document),
                class_="cell",
            )
        )
    return element("li", cells[0], element("div", class_="between"), cells[1], class_="bead apart")


def _hashes(image: Image) -> Picture:
    return Picture(image.sha256 or None, image.phash or None)


def _name(document: Document) -> Html:
    return element(
        "span",
        element("span", title(document), class_="title"),
        element("span", foreign(document.lang or "language unknown"), " · ", foreign(document.name), class_="quiet"),
        **_language(document),
    )


def _beads(ordered: Sequence[Bead], shown: Shown, known: set[Bead], start: int = 1) -> Part:
    if not ordered:
        return None
    items = [bead(each, shown.source, shown.target, linked=each in known) for each in ordered]
    return element("ol", items, class_="beads", start=start if start > 1 else None, aria_label="Sentences")


def _further(ordered: Sequence[Bead], shown: Shown, known: set[Bead]) -> Part:
    left = len(ordered) - _AT_ONCE
    if left <= 0:
        return None
    beyond = len(ordered) - _MOST
    return element(
        "details",
        element("summary", f"{count(left)} further rows"),
        _beads(ordered[_AT_ONCE:_MOST], shown, known, _AT_ONCE + 1),
        element("p", f"and {count(beyond)} more that this page leaves out", class_="quiet") if beyond > 0 else None,
    )


def _cell(document: Document, texts: Sequence[str], shares: Sequence[float]) -> Html:
    if not texts:
        return element("div", element("span", "no counterpart", class_="unseen"), class_="cell none")
    rows_of = " ".join(f"{share}fr" for share in shares) if len(texts) > 1 else None
    return element(
        "div",
        [element("p", text) for text in texts],
        **_language(document),
        class_="cell",
        style=f"grid-template-rows:{rows_of}" if rows_of else None,
    )


def _language(document: Document) -> dict[str, str | None]:
    return {"lang": document.lang or None, "dir": direction(document.lang)}


def _shortened(text: str) -> str:
    return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1].rstrip() + "…"
