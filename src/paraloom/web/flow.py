"""The pipeline as a flow diagram: lines stand for rows, which continue where they are kept and leave where not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from paraloom.core.reasons import NOT_SAMPLED, is_not_sampled
from paraloom.web.charts import passing_lines, stage_lines
from paraloom.web.corpus_stats import Sample, reasons
from paraloom.web.formatting import count, label, number, share
from paraloom.web.run_folder import RunView, StageView
from paraloom.web.samples import pair
from paraloom.web.templates import draw

_MAX_FIGURES = 6


def flow(run: RunView) -> Markup:
    """Every stage in order: its diagram, its row counts, and why rows were rejected or failed."""
    largest = max([max(stage.read, stage.out) for stage in run.stages] or [1])
    rows, stages = 0, []
    for stage in run.stages:
        rows = rows if stage.kind == "fit" else stage.out
        stages.append(_stage(run, stage, rows, largest))
    return draw("flow", stages, run.pending)


def _stage(run: RunView, stage: StageView, rows: int, largest: int) -> Mapping[str, Any]:
    """The drawing of a stage; `rows` is the size of the corpus that passes by one that writes no corpus."""
    if stage.kind == "fit":
        description = f"Writes an artifact; {count(rows)} rows pass unchanged"
        turn, straight = passing_lines(rows, largest)
    else:
        description = f"{count(stage.read)} rows in, {count(stage.out)} out"
        not_rejected = "held-back" if holds_back(stage) else "not-sampled"
        rejects = not holds_back(stage) and stage.rejected > stage.not_sampled
        turn, straight = stage_lines(
            stage.read,
            stage.out,
            stage.failed,
            stage.not_sampled,
            largest,
            is_source=stage.kind == "source",
            splits=("rejected" if rejects else not_rejected, not_rejected),
        )
    return {
        **{name: getattr(stage, name) for name in ("kind", "name", "use", "settings", "seconds", "read")},
        "description": description,
        "turn": turn,
        "straight": straight,
        "counts": list(_counts(stage)),
        "splits": list(_splits(run, stage)),
    }


def holds_back(stage: StageView) -> bool:
    """True if the rows that a stage does not keep are set apart for another use, not rejected: the parts of a split."""
    return (stage.use or stage.name) == "split"


def _counts(stage: StageView) -> Iterator[tuple[str, str, str]]:
    if stage.kind == "fit":
        plain = [(name, value) for name, value in stage.figures.items() if type(value) in (int, float)]
        yield from ((number(float(value), 4), label(name), "") for name, value in plain[:_MAX_FIGURES])
        return
    if stage.kind == "map":
        yield count(stage.read), "in", ""
    yield count(stage.kept), "kept" if stage.kind == "map" else "read", "kept"
    what, split = ("held back", "held-back") if holds_back(stage) else ("rejected", "rejected")
    for rows, name, class_ in (
        (stage.rejected - stage.not_sampled, what, split),
        (stage.not_sampled, NOT_SAMPLED, "not-sampled"),
        (stage.failed, "failed", "failed"),
    ):
        if rows:
            yield count(rows), f"{name} ({share(rows, stage.read)})", class_
    if stage.out != stage.kept:
        yield count(stage.out), "out", "kept"


def _splits(run: RunView, stage: StageView) -> Iterator[tuple[str, Sequence[Sample], Sequence[Markup]]]:
    """Rejected, held-back, not sampled or failed rows by reason, the most frequent first, with examples."""
    rejected = reasons(run.split(stage, "rejected")) if stage.rejected else []
    for title, samples in (
        ("Held back" if holds_back(stage) else "Rejected", [s for s in rejected if not is_not_sampled(s.group)]),
        ("Not sampled", [sample for sample in rejected if is_not_sampled(sample.group)]),
        ("Failed", reasons(run.split(stage, "failed"), "error") if stage.failed else []),
    ):
        if samples:
            yield title, samples, [pair(row, sample.group) for sample in samples for row in sample.rows if "src" in row]
