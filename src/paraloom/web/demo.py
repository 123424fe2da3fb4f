"""A page with three boxes to try the models: paraphrase, back-translate, find similar sentences."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock

from markupsafe import Markup

from paraloom import bundled
from paraloom.api.paraphrase_sources import RoundTripParaphraser, as_paraphraser, open_selector
from paraloom.api.paraphrasers import Paraphraser
from paraloom.bundled import SAMPLE
from paraloom.core.array_types import Float32s
from paraloom.core.errors import DataError, ParaloomError
from paraloom.core.protocols import ParaphraseLike
from paraloom.embed.encoder import Encoder
from paraloom.embed.search import search
from paraloom.io import read_lines, read_pairs
from paraloom.paraphrasing.selection import ParaphraseSelector
from paraloom.web.app import Answer, is_static, static_file
from paraloom.web.samples import differences
from paraloom.web.server import ExploreServer, start_server
from paraloom.web.state import Query
from paraloom.web.templates import POLICY, render, static

LONGEST = 500  # Characters of a text
SENTENCES = 20_000  # Sentences that are searched at most

EXAMPLES = {
    "paraphrase": ("I have no idea where he is.", "She is good at playing the piano."),
    "translate": ("It is difficult to learn a foreign language.", "We have no idea where he is."),
    "similar": ("I am too tired to work.", "She went to school."),
}
"""Box → texts to try."""

CHIPS = {
    "(S (NP) (VP) (.))": "statement",
    "(S (VP) (.))": "request",
    "(S (SBAR) (,) (NP) (VP) (.))": "clause first",
    "(S (PP) (,) (NP) (VP) (.))": "phrase first",
    "(S (ADVP) (NP) (VP) (.))": "adverb first",
    "(SQ (VBP) (NP) (VP) (.))": "do you …?",
    "(SQ (MD) (NP) (VP) (.))": "can you …?",
    "(SBARQ (WHADVP) (SQ) (.))": "why, when, where …?",
    "(SBARQ (WHNP) (SQ) (.))": "who, what …?",
}
"""Templates to follow → what they are called."""

TITLES = {"paraphrase": "Paraphrase", "translate": "Back-translate", "similar": "Find similar"}  # Box → its heading

_SHOWN = 5
_MOST_CHIPS = 6


@dataclass(frozen=True)
class BoxResult:
    """A line of results."""

    text: str | Markup
    notes: str
    kept: bool = True


@dataclass(frozen=True)
class Box:
    """One of the three boxes."""

    name: str
    title: str
    text: str = ""
    results: Sequence[BoxResult] | None = None
    summary: str = ""
    error: str = ""
    chips: Sequence[tuple[str, str]] = ()
    template: str = ""

    @property
    def examples(self) -> Sequence[str]:
        return EXAMPLES[self.name]


class Demo:
    """The models behind the boxes; each is loaded when it is first asked for.

    Args:
        paraphraser: english, or a folder of `train paraphraser`.
        encoder: Finds similar sentences, and measures meaning: a bundled name or a folder.
        sentences: The sentences that are searched, one per line. Default: those of the bundled sample.
    """

    def __init__(
        self, *, paraphraser: str = "english", encoder: str = "english", sentences: str | Path | None = None
    ) -> None:
        self._paraphraser_name, self._encoder_name = paraphraser, encoder
        self._sentences = sentences
        # One text at a time: the models are not made for several threads.
        self._lock = Lock()

    def box(self, name: str, text: str, template: str = "") -> Box:
        """A box, with the results of a text if there is one."""
        text = text.strip()[:LONGEST]
        box = Box(name, TITLES[name], text, chips=self.chips if name == "paraphrase" else (), template=template)
        if not text:
            return box
        try:
            with self._lock:
                summary, results = getattr(self, f"_{name}")(text, template)
        except ParaloomError as error:
            return replace(box, error=str(error))
        return replace(box, results=results, summary=summary)

    @cached_property
    def chips(self) -> Sequence[tuple[str, str]]:
        """Templates of the paraphraser with a name of their own, or else its commonest ones."""
        templates = getattr(self._paraphraser, "templates", None)
        known = list(templates.counts) if templates is not None else []
        named = [(template, name) for template, name in CHIPS.items() if template in known]
        return named or [(name, " ".join(re.findall(r"[^()\s]+", name))) for name in known[:_MOST_CHIPS]]

    @cached_property
    def _paraphraser(self) -> Paraphraser:
        return Paraphraser.load(self._paraphraser_name)

    @cached_property
    def _selector(self) -> ParaphraseSelector:
        return open_selector(encoder=self._encoder_name, judge=None, language="en")

    @cached_property
    def _round_trip(self) -> RoundTripParaphraser:
        return RoundTripParaphraser.load("en-de", "de-en")

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder.load(self._encoder_name)

    @cached_property
    def _corpus(self) -> tuple[list[str], Float32s]:
        if self._sentences is None:
            sample = Path(bundled.__file__).parent / SAMPLE.name
            batches = read_pairs(str(sample), src_column="de", tgt_column="en")
            lines = [text for batch in batches for text in batch.column("tgt").to_pylist()]
        else:
            lines = [line for line, _ in zip(read_lines(str(self._sentences)), range(SENTENCES), strict=False)]
        lines = list(dict.fromkeys(line for line in lines if line.strip()))
        if not lines:
            raise DataError("sentences not found", file=self._sentences)
        return lines, self._encoder.encode(lines)

    def _paraphrase(self, text: str, template: str) -> tuple[str, list[BoxResult]]:
        if not template:
            return self._selected(text, as_paraphraser(self._paraphraser).paraphrase([text], n=2 * _SHOWN))
        with warnings.catch_warnings(record=True) as missed:
            warnings.simplefilter("always")
            groups = self._paraphraser.paraphrase([text], n=_SHOWN, template=template)
        summary, results = self._selected(text, groups)
        return f"No candidate follows the template exactly. {summary}" if missed else summary, results

    def _translate(self, text: str, template: str) -> tuple[str, list[BoxResult]]:
        return self._selected(text, self._round_trip.paraphrase([text], n=_SHOWN))

    def _selected(self, text: str, groups: Sequence[Sequence[ParaphraseLike]]) -> tuple[str, list[BoxResult]]:
        selection = self._selector.select([text], groups, _SHOWN)
        (kept,) = selection.kept
        good = [
            BoxResult(differences(text, one.text)[1], f"meaning {one.meaning:.2f} · difference {one.difference:.2f}")
            for one in kept
        ]
        chosen = {one.text for one in kept}
        rest = [BoxResult(one.text, "", kept=False) for one in groups[0] if one.text not in chosen][:_SHOWN]
        reasons = ", ".join(f"{reason} ({count})" for reason, count in selection.dropped.most_common())
        summary = f"{len(good)} good enough" if good else "None is good enough"
        return f"{summary}{f'; dropped: {reasons}' if reasons else ''}.", [*good, *rest]

    def _similar(self, text: str, template: str) -> tuple[str, list[BoxResult]]:
        lines, vectors = self._corpus
        nearest = search(self._encoder.encode([text]), vectors, min(_SHOWN, len(lines)))
        near = zip(nearest.rows[0].tolist(), nearest.cosines[0].tolist(), strict=True)
        results = [BoxResult(lines[row], f"cosine {cosine:.2f}") for row, cosine in near if row >= 0]
        return f"The nearest of {len(lines):,} sentences.", results


class DemoApp:
    """The page, for the server."""

    def __init__(self, demo: Demo) -> None:
        self._demo = demo

    def get(self, path: str, query: Query) -> Answer:
        """Answer a GET request: the page; a text in the address fills one box."""
        if is_static(path):
            return static_file(path)
        if path != "/":
            return Answer(b"No page has this address.", 404, "text/plain; charset=utf-8")
        asked = _first(query, "box")
        text, template = _first(query, "text"), _first(query, "template")
        boxes = [
            self._demo.box(name, text if name == asked else "", template if name == asked else "") for name in EXAMPLES
        ]
        return Answer(page(boxes, live=True).encode())

    def post(self, path: str, form: Query) -> Answer:
        """Nothing is changed by this page."""
        return Answer(b"No form has this address.", 404, "text/plain; charset=utf-8")


def page(boxes: Sequence[Box], *, live: bool) -> str:
    """The page with these boxes: live ones have forms, others are a gallery that needs no other file."""
    css = "" if live else "".join(map(static, ("style.css", "explore.css")))
    policy = {} if live else {"policy": POLICY}
    return render("demo.html", title="Demo", boxes=boxes, live=live, longest=LONGEST, styles=Markup(css), **policy)


def gallery(demo: Demo) -> str:
    """The page with its examples filled in, without a server behind it."""
    return page([demo.box(name, text) for name, texts in EXAMPLES.items() for text in texts], live=False)


def _first(query: Query, name: str) -> str:
    return next(iter(query.get(name, ())), "")


@contextmanager
def demo_server(demo: Demo, port: int = 0) -> Iterator[ExploreServer]:
    """A server of the page; `serve_forever` answers requests."""
    server = start_server(DemoApp(demo), port)
    try:
        yield server
    finally:
        server.server_close()
