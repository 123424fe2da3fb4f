"""One pair of documents side by side: images, then sentences with lines between those that are aligned."""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Callable, Sequence

from markupsafe import Markup

from paraloom.alignment.images import ImageKey, group_images
from paraloom.core.beads import Bead
from paraloom.web.charts import short
from paraloom.web.documents_data import THIRDS, Document, Image, ShownPair
from paraloom.web.formatting import number
from paraloom.web.images import Embedder
from paraloom.web.templates import draw

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
    """The writing direction of a language by its tag: `ltr`, `rtl`, or `auto` without a tag."""
    parts = lang.strip().lower().replace("_", "-").split("-")
    if not parts[0]:
        return "auto"
    script = next((part for part in parts[1:] if len(part) == 4 and part.isalpha()), None)
    if script:
        return "rtl" if script in _RIGHT_TO_LEFT_SCRIPTS else "ltr"
    return "rtl" if parts[0] in _RIGHT_TO_LEFT else "ltr"


def title(name: str, text: str, lang: str) -> tuple[str, str]:
    """The title of a document, or its name if it has no title, and its language."""
    return text.strip() or name, lang


def article(
    shown: ShownPair,
    i: int,
    total: int,
    embedder: Embedder,
    *,
    pages: Callable[[int], str] = lambda pair: "",
    index: str = "",
) -> Markup:
    """The section of pair `i` of `total`; `pages` names the page of a pair, `index` that of the list."""
    ordered = reading_order(shown.beads, len(shown.source.paragraphs), len(shown.target.paragraphs))
    about = [f"{i} of {total}"]
    about += [] if shown.third is None else [THIRDS[shown.third]]
    about += [f"margin {number(shown.pair.margin)}", f"score {number(shown.pair.score)}"]
    jumps = [("previous", i - 1)] * (i > 1) + [("next", i + 1)] * (i < total)
    known = set(shown.beads)
    rows = [
        bead_row(bead, shown.source, shown.target, linked=bead in known, tab_stop=not order)
        for order, bead in enumerate(ordered[:_MAX_ROWS])
    ]
    return draw(
        "document_pair",
        i,
        " · ".join(about),
        [(name, f"{pages(to)}#pair-{to}") for name, to in jumps],
        index,
        [(*_language(d), title(d.name, d.title, d.lang)[0], d.name) for d in (shown.source, shown.target)],
        images(shown.source, shown.target, embedder),
        bool(shown.beads),
        rows[:_VISIBLE_ROWS],
        rows[_VISIBLE_ROWS:],
        max(0, len(ordered) - _VISIBLE_ROWS),
        max(0, len(ordered) - _MAX_ROWS),
    )


def bead_row(bead: Bead, source: Document, target: Document, *, linked: bool = True, tab_stop: bool = True) -> Markup:
    """The row of a bead: its sentences on both sides, lines between them, its type and its score."""
    sides = [
        [_truncated(source.paragraphs[i]) for i in bead.source],
        [_truncated(target.paragraphs[i]) for i in bead.target],
    ]
    shares = [heights(texts) for texts in sides]
    kind = f"{len(bead.source)}:{len(bead.target)}"
    cells = [
        (*_language(document), texts, " ".join(f"{share}fr" for share in of_texts) if len(texts) > 1 else "")
        for document, texts, of_texts in zip((source, target), sides, shares, strict=True)
    ]
    tooltip = f"{kind}, score {number(bead.score)}" if linked else "in no link"
    score = number(bead.score) if linked else ""
    return draw(
        "bead",
        _bead_class(bead, sides[0] == sides[1]),
        tooltip,
        0 if tab_stop else -1,
        cells,
        connections(*shares),
        kind if linked else "in no link",
        score,
    )


def _bead_class(bead: Bead, is_equal: bool) -> str:
    if not (bead.source and bead.target):
        return "bead unaligned"
    return f"bead{' several' * (len(bead.source) + len(bead.target) > 2)}{' equal' * is_equal}"


def images(source: Document, target: Document, embedder: Embedder) -> Markup | None:
    """The images of both documents: shared ones next to each other, then the others of each side."""
    shared, others = _shared_images(source, target)
    if not shared and not any(others):
        return None
    languages = [_language(source), _language(target)]
    rows = [
        (
            bool(ours.sha256) and ours.sha256 == theirs.sha256,
            [(*lang, embedder.figure(image)) for lang, image in zip(languages, (ours, theirs), strict=True)],
        )
        for ours, theirs in shared[:_MAX_SHARED]
    ]
    rest = [
        (*lang, [embedder.figure(image) for image in members[:_MAX_OTHERS]], max(0, len(members) - _MAX_OTHERS))
        for lang, members in zip(languages, others, strict=True)
    ]
    return draw("images", rows, connections([1], [1]), rest if any(others) else [], max(0, len(shared) - _MAX_SHARED))


def _shared_images(source: Document, target: Document) -> tuple[list[tuple[Image, Image]], list[list[Image]]]:
    sides = [dict.fromkeys(document.images) for document in (source, target)]
    numbers = group_images(_hashes(image) for side in sides for image in side)
    by_number: list[dict[int, Image]] = [{}, {}]
    others: list[list[Image]] = [[], []]
    for known, unnumbered, side in zip(by_number, others, sides, strict=True):
        for image in side:
            number = numbers.get(_hashes(image))
            if number is None:
                unnumbered.append(image)
            else:
                known.setdefault(number, image)
    ours, theirs = by_number
    others[0] += [image for number, image in ours.items() if number not in theirs]
    others[1] += [image for number, image in theirs.items() if number not in ours]
    return [(image, theirs[number]) for number, image in ours.items() if number in theirs], others


def _one_sided(beads: Sequence[Bead], sources: int, targets: int) -> tuple[deque[Bead], deque[Bead]]:
    """The beads with one side, and one for each sentence in none: those of the source, and those of the target."""
    ours = [bead for bead in beads if not bead.target]
    theirs = [bead for bead in beads if not bead.source]
    known = [{i for bead in beads for i in bead.source}, {i for bead in beads for i in bead.target}]
    ours += [Bead((i,), ()) for i in range(sources) if i not in known[0]]
    theirs += [Bead((), (i,)) for i in range(targets) if i not in known[1]]
    return deque(sorted(ours, key=lambda bead: bead.source)), deque(sorted(theirs, key=lambda bead: bead.target))


def reading_order(beads: Sequence[Bead], sources: int, targets: int) -> list[Bead]:
    """The beads in the order of the source, sentences in none too; one-sided ones before their next sentence."""
    ours, theirs = _one_sided(beads, sources, targets)
    ordered: list[Bead] = []
    for bead in sorted((bead for bead in beads if bead.source and bead.target), key=lambda bead: bead.source):
        while ours and ours[0].source < bead.source:
            ordered.append(ours.popleft())
        while theirs and theirs[0].target < bead.target:
            ordered.append(theirs.popleft())
        ordered.append(bead)
    return [*ordered, *ours, *theirs]


def heights(texts: Sequence[str]) -> list[float]:
    """Estimated heights, in lines, of the blocks of one side, whose shares of the row the style sheet gives them."""
    return [round(-(-_width(text) // _LINE_LENGTH) + _PADDING, 2) for text in texts]


def connections(ours: Sequence[float], theirs: Sequence[float]) -> Markup:
    """The lines between the blocks of a bead: straight for 1:1, through a dot for more, a loose end for unaligned."""
    left, right = _middles(ours), _middles(theirs)
    if not left or not right:
        end, start = (24, 0) if left else (76, 100)
        paths = [(f"M{start} {short(y)}H{end}", "connection loose") for y in left or right]
        paths += [(f"M{end} {short(y)}v0.01", "dot loose") for y in left or right]
    elif len(left) == len(right) == 1:
        paths = [("M0 50H100", "connection")]
    else:
        paths = [(_curve(x, y), "connection") for x, middles in ((0, left), (100, right)) for y in middles]
        paths.append(("M50 50v0.01", "dot"))
    return draw("connections", paths)


def _hashes(image: Image) -> ImageKey:
    return ImageKey(image.sha256 or None, image.phash or None)


def _language(document: Document) -> tuple[str, str]:
    return document.lang, direction(document.lang)


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
    return f"M{x} {short(y)}C{(x + 50) // 2} {short(y)} {(x + 50) // 2} 50 50 50"


def _width(text: str) -> int:
    """Width in columns: East Asian wide characters count twice."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
