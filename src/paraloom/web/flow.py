"""The pipeline as a flow diagram: lines stand for rows, which continue where they are kept and leave where not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paraloom.core.reasons import NOT_SAMPLED, is_not_sampled
from paraloom.web.corpus_stats import Sample
from paraloom.web.formatting import count, duration, label, number, share
from paraloom.web.markup import Html, Part, element, isolated, table
from paraloom.web.run_folder import RunView, StageView
from paraloom.web.samples import pair

LINES = 28
"""Lines that are drawn for the corpus with the most rows."""
_MAX_FIGURES = 6


def flow(run: RunView, rejected: Mapping[str, list[Sample]], failed: Mapping[str, list[Sample]]) -> Html:
    """Every stage in order: its diagram, its row counts, and why rows were rejected or failed.

    Args:
        run: The run.
        rejected: Folder name of a stage → samples of its rejected rows by reason.
        failed: Folder name of a stage → samples of its failed rows by error.
    """
    largest = max([max(stage.read, stage.out) for stage in run.stages] or [1])
    rows, items = 0, []
    for stage in run.stages:
        rows = rows if stage.kind == "fit" else stage.out
        samples = rejected.get(stage.folder, [])
        left_out = [sample for sample in samples if not is_not_sampled(sample.group)]
        unsampled = [sample for sample in samples if is_not_sampled(sample.group)]
        text = element(
            "div",
            _heading(stage),
            _counts(stage),
            _reasons("Held back" if _holds_back(stage) else "Rejected", left_out, stage.read),
            _reasons("Not sampled", unsampled, stage.read),
            _reasons("Failed", failed.get(stage.folder, []), stage.read),
            class_="stage-text",
        )
        items.append(element("li", _diagram(stage, rows, largest), text, class_=f"stage {stage.kind}"))
    for name in run.pending:
        items.append(element("li", element("div"), _pending(name), class_="stage pending"))
    return element("ol", items, class_="flow")


def _holds_back(stage: StageView) -> bool:
    """Whether the rows that a stage does not keep are set apart for another use, not rejected: the parts of a split."""
    return (stage.use or stage.name) == "split"


def _heading(stage: StageView) -> Part:
    return [
        element("h3", stage.name, element("span", f" {stage.use}", class_="quiet")),
        element("p", stage.settings, class_="settings") if stage.settings else None,
    ]


def _pending(name: str) -> Html:
    return element("div", element("h3", name, element("span", " not run yet", class_="quiet")), class_="stage-text")


def _counts(stage: StageView) -> Part:
    items: list[Part] = []
    if stage.kind == "fit":
        plain = [(name, value) for name, value in stage.figures.items() if type(value) in (int, float)]
        items += [
            element("li", element("strong", number(float(value), 4)), f" {label(name)}")
            for name, value in plain[:_MAX_FIGURES]
        ]
    else:
        if stage.kind == "map":
            items.append(_count(stage.read, "in", ""))
        items.append(_count(stage.kept, "kept" if stage.kind == "map" else "read", "kept"))
        if rejected := stage.rejected - stage.not_sampled:
            what, split = ("held back", "held-back") if _holds_back(stage) else ("rejected", "rejected")
            items.append(_count(rejected, f"{what} ({share(rejected, stage.read)})", split))
        if stage.not_sampled:
            what = f"{NOT_SAMPLED} ({share(stage.not_sampled, stage.read)})"
            items.append(_count(stage.not_sampled, what, "not-sampled"))
        if stage.failed:
            items.append(_count(stage.failed, f"failed ({share(stage.failed, stage.read)})", "failed"))
        if stage.out != stage.kept:
            items.append(_count(stage.out, "out", "kept"))
    return element("ul", items, element("li", duration(stage.seconds), class_="quiet"), class_="counts")


def _count(n: int, what: str, split: str) -> Html:
    return element("li", element("strong", count(n)), f" {what}", class_=split or None)


def _reasons(title: str, samples: list[Sample], read: int) -> Part:
    """Rejected, held-back, not sampled or failed rows by reason, the most frequent first, with examples."""
    if not samples:
        return None
    total = sum(sample.total for sample in samples)
    largest = max(sample.total for sample in samples)
    rows = [
        element(
            "tr",
            element("th", isolated(sample.group), scope="row"),
            element("td", count(sample.total), class_="n"),
            element("td", share(sample.total, read), class_="n quiet"),
            element(
                "td",
                element("span", style=f"width:{100 * sample.total / largest:.1f}%", class_="bar"),
                aria_hidden="true",
            ),
        )
        for sample in samples
    ]
    heads = [
        "reason",
        *(element("th", name, scope="col", class_="n") for name in ("rows", "share of input")),
        element("th", element("span", "share as a bar", class_="unseen"), scope="col"),
    ]
    examples = [pair(row, sample.group) for sample in samples for row in sample.rows if "src" in row]
    return element(
        "details",
        element("summary", f"{title}: {count(total)} rows by reason, with examples"),
        table(heads, rows, caption=f"{title} rows by reason", hidden_caption=True, class_="reasons"),
        element("div", examples, class_="examples") if examples else None,
        class_=f"split {title.lower().replace(' ', '-')}",
    )


def _diagram(stage: StageView, rows: int, largest: int) -> Html:
    """The lines of one stage: what happens to the rows above, then straight lines down to the next stage.

    `rows` is the size of the corpus that passes by a stage that writes no corpus.
    """
    if stage.kind == "fit":
        passing = [_path(f"M{_x(line)} 0V100", "passing") for line in range(_lines(rows, largest))]
        middle = _x(max(0, _lines(rows, largest) - 1)) / 2 + _x(0) / 2
        dot = _path(f"M{middle:.1f} 50v0.01", "model")
        return _pictures(f"Writes an artifact; {count(rows)} rows pass unchanged", [*passing, dot], passing)
    incoming, outgoing = _lines(stage.read, largest), _lines(stage.out, largest)
    failed = min(incoming, _lines(stage.failed, largest))
    unsampled = min(incoming - failed, _lines(stage.not_sampled, largest))
    not_rejected = "held-back" if _holds_back(stage) else "not-sampled"
    rejects = not _holds_back(stage) and stage.rejected > stage.not_sampled
    curves: list[Part] = []
    for line in range(max(incoming, outgoing)):
        x = _x(line)
        if stage.kind == "source":
            curves.append(_path(f"M{x} 25V100", "kept") if line < outgoing else None)
        elif line < min(incoming, outgoing):
            curves.append(_path(f"M{x} 0V100", "kept"))
        elif line < incoming:
            left_out = "rejected" if rejects and line < incoming - failed - unsampled else not_rejected
            split = "failed" if line >= incoming - failed else left_out
            curves.append(_path(f"M{x} 0V20C{x} 55 {(x + 100) / 2:.1f} 72 100 78", split))
        else:
            parent = _x(line % max(1, incoming))
            curves.append(_path(f"M{parent} 20C{parent} 60 {x} 40 {x} 80V100", "kept"))
    straight = [_path(f"M{_x(line)} 0V100", "kept") for line in range(outgoing)]
    return _pictures(f"{count(stage.read)} rows in, {count(stage.out)} out", curves, straight)


def _pictures(description: str, curves: list[Part], straight: Sequence[Part]) -> Html:
    frame = {"viewBox": "0 0 100 100", "preserveAspectRatio": "none"}
    title = element("title", description)
    return element(
        "div",
        element("svg", title, curves, role="img", aria_label=description, class_="turn", **frame),
        element("svg", straight, aria_hidden="true", class_="straight", **frame),
        class_="diagram",
    )


def _path(d: str, split: str) -> Html:
    return element("path", d=d, class_=f"row-line {split}", vector_effect="non-scaling-stroke")


def _lines(rows: int, largest: int) -> int:
    """Lines for so many rows: at least one unless the number is 0."""
    return max(1, round(LINES * rows / largest)) if rows else 0


def _x(line: int) -> float:
    return round(3 + line * 88 / (LINES - 1), 1)
