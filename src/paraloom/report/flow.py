"""The chain as a flow: rows are threads of a warp, which run on where they are kept and leave where they are not."""

from __future__ import annotations

from collections.abc import Sequence

from paraloom.report.facts import Sample
from paraloom.report.figures import count, duration, number, share, spoken
from paraloom.report.markup import Html, Part, element, foreign
from paraloom.report.run_folder import RunView, StageView
from paraloom.report.samples import pair

THREADS = 28
"""Threads that the widest stage has."""
_MOST_FIGURES = 6


def chain(run: RunView, rejected: dict[str, list[Sample]], failed: dict[str, list[Sample]]) -> Html:
    """Every stage in order: its warp, its counts, and why rows were set aside (by the stage's folder name)."""
    widest = max([max(stage.read, stage.out) for stage in run.stages] or [1])
    running, items = 0, []
    for stage in run.stages:
        running = running if stage.kind == "fit" else stage.out
        text = element(
            "div",
            _heading(stage),
            _books(stage),
            _aside("Rejected", rejected.get(stage.folder, []), stage.read),
            _aside("Failed", failed.get(stage.folder, []), stage.read),
            class_="stage-text",
        )
        items.append(element("li", _warp(stage, running, widest), text, class_=f"stage {stage.kind}"))
    for name in run.pending:
        items.append(element("li", element("div"), _pending(name), class_="stage pending"))
    return element("ol", items, class_="chain")


def _heading(stage: StageView) -> Part:
    return [
        element("h3", stage.name, element("span", f" {stage.what}", class_="quiet")),
        element("p", stage.settings, class_="settings") if stage.settings else None,
    ]


def _pending(name: str) -> Html:
    return element("div", element("h3", name, element("span", " still to do", class_="quiet")), class_="stage-text")


def _books(stage: StageView) -> Part:
    facts: list[Part] = []
    if stage.kind == "fit":
        plain = [(name, value) for name, value in stage.figures.items() if type(value) in (int, float)]
        facts += [
            element("li", element("strong", number(float(value), 4)), f" {spoken(name)}")
            for name, value in plain[:_MOST_FIGURES]
        ]
    else:
        if stage.kind == "map":
            facts.append(_fact(stage.read, "in", ""))
        facts.append(_fact(stage.kept, "kept" if stage.kind == "map" else "read", "kept"))
        if stage.rejected:
            facts.append(_fact(stage.rejected, f"rejected ({share(stage.rejected, stage.read)})", "rejected"))
        if stage.failed:
            facts.append(_fact(stage.failed, f"failed ({share(stage.failed, stage.read)})", "failed"))
        if stage.out != stage.kept:
            facts.append(_fact(stage.out, "out", "kept"))
    return element("ul", facts, element("li", duration(stage.seconds), class_="quiet"), class_="counts")


def _fact(n: int, what: str, lane: str) -> Html:
    return element("li", element("strong", count(n)), f" {what}", class_=lane or None)


def _aside(title: str, samples: list[Sample], of: int) -> Part:
    if not samples:
        return None
    total = sum(sample.of for sample in samples)
    most = max(sample.of for sample in samples)
    rows = [
        element(
            "tr",
            element("th", foreign(sample.group), scope="row"),
            element("td", count(sample.of), class_="n"),
            element("td", share(sample.of, of), class_="n quiet"),
            element(
                "td", element("span", style=f"width:{100 * sample.of / most:.1f}%", class_="bar"), aria_hidden="true"
            ),
        )
        for sample in samples
    ]
    examples = [pair(row, sample.group) for sample in samples for row in sample.rows if "src" in row]
    return element(
        "details",
        element("summary", f"{title}: {count(total)}, why and which"),
        element(
            "table",
            element("caption", f"{title} rows by reason", class_="unseen"),
            element(
                "thead",
                element(
                    "tr",
                    element("th", "reason", scope="col"),
                    [element("th", name, scope="col", class_="n") for name in ("rows", "of all in")],
                    element("th", element("span", "share", class_="unseen"), scope="col"),
                ),
            ),
            element("tbody", rows),
            class_="reasons",
        ),
        element("div", examples, class_="examples") if examples else None,
        class_=f"aside {title.lower()}",
    )


def _warp(stage: StageView, running: int, widest: int) -> Html:
    """The threads of one stage: what happens to them above, then straight on, so that neighbours join.

    running: rows of the corpus that runs past a stage which makes none.
    """
    if stage.kind == "fit":
        passing = [_path(f"M{_place(place)} 0V100", "passing") for place in range(_threads(running, widest))]
        middle = _place(max(0, _threads(running, widest) - 1)) / 2 + _place(0) / 2
        knot = _path(f"M{middle:.1f} 50v0.01", "model")
        return _slices(f"A model is made; {count(running)} rows run on", [*passing, knot], passing)
    incoming, leaving = _threads(stage.read, widest), _threads(stage.out, widest)
    failed = min(incoming, _threads(stage.failed, widest))
    turns: list[Part] = []
    for place in range(max(incoming, leaving)):
        x = _place(place)
        if stage.kind == "source":
            turns.append(_path(f"M{x} 25V100", "kept") if place < leaving else None)
        elif place < min(incoming, leaving):
            turns.append(_path(f"M{x} 0V100", "kept"))
        elif place < incoming:
            lane = "failed" if place >= incoming - failed else "rejected"
            turns.append(_path(f"M{x} 0V20C{x} 55 {(x + 100) / 2:.1f} 72 100 78", lane))
        else:
            parent = _place(place % max(1, incoming))
            turns.append(_path(f"M{parent} 20C{parent} 60 {x} 40 {x} 80V100", "kept"))
    straight = [_path(f"M{_place(place)} 0V100", "kept") for place in range(leaving)]
    return _slices(f"{count(stage.read)} rows in, {count(stage.out)} out", turns, straight)


def _slices(said: str, turns: list[Part], straight: Sequence[Part]) -> Html:
    frame = {"viewBox": "0 0 100 100", "preserveAspectRatio": "none"}
    return element(
        "div",
        element("svg", element("title", said), turns, role="img", aria_label=said, class_="turn", **frame),
        element("svg", straight, aria_hidden="true", class_="straight", **frame),
        class_="warp",
    )


def _path(d: str, lane: str) -> Html:
    return element("path", d=d, class_=f"thread {lane}", vector_effect="non-scaling-stroke")


def _threads(rows: int, widest: int) -> int:
    """Threads that stand for `rows`: none for none, else at least one."""
    return max(1, round(THREADS * rows / widest)) if rows else 0


def _place(thread: int) -> float:
    return round(3 + thread * 88 / (THREADS - 1), 1)
