"""Writes the report of a run: one self-contained HTML page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from markupsafe import Markup

from paraloom.web.charts import compared_histogram
from paraloom.web.flow import flow
from paraloom.web.formatting import count, duration, number
from paraloom.web.opening import opening
from paraloom.web.results import diversity, result
from paraloom.web.run_folder import RunView, open_run
from paraloom.web.scores import ScoreColumn, scores_of, scores_table
from paraloom.web.templates import draw, in_sequence, table, write_page
from paraloom.web.training import training

MORE_SECTIONS = {"paraloom.papers.bbh22.report_section:sections": ("evaluate-translator",)}
"""Function of a run that draws more on its translators, or draws nothing → the stages that it is about."""


def write_report(run_folder: str | Path, output: str | Path) -> Path:
    """Write the report of a run, finished or not.

    The page needs no other file and no network, is smaller than 2 MB for corpora of any size, and is the same bytes
    for the same run: example rows are sampled by a hash of their content.  Memory does not grow with the corpora.

    Args:
        run_folder: The folder that `paraloom run` wrote.
        output: The HTML file to write.

    Returns:
        The path of the file.

    Raises:
        DataError: `run_folder` is not a run folder, or its run.json cannot be read.

    Example:
        >>> import paraloom, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = Path(folder, "pairs.tsv").write_text("Guten Morgen.\\tGood morning.\\n")
        >>> pipeline = paraloom.Pipeline([paraloom.stages.ReadPairs(source=f"{folder}/pairs.tsv")])
        >>> _ = pipeline.run(f"{folder}/run", engine="inline")
        >>> write_report(f"{folder}/run", f"{folder}/report.html").name
        'report.html'
    """
    run = open_run(run_folder)
    columns = scores_of(run)
    fits = [stage for stage in run.stages if stage.kind == "fit"]
    trained = [training(stage.name, run.artifact(stage), stage.figures.get("best_step")) for stage in fits]
    sections = [
        ("results", "Results", in_sequence(*_results(run))),
        ("augmented", "Back-translation", in_sequence(diversity(run.stages), *_more(run))),
        ("pipeline", "Pipeline", flow(run)),
        ("costs", "Costs of translations", translation_costs(run)),
        ("scores", "Scores", scores_table(columns)),
        ("training", "Training", in_sequence(*trained)),
        ("details", "Run details", _details(run, columns)),
    ]
    return write_page(
        Path(output),
        "report.html",
        title=run.name,
        eyebrow="Paraloom run",
        opening=opening(run),
        sections=[section for section in sections if section[2]],
    )


def _more(run: RunView) -> list[Markup]:
    used = {stage.use or stage.name for stage in run.stages}
    parts: list[Markup] = []
    for entry, stages in MORE_SECTIONS.items():
        if used & {*stages}:
            module, _, name = entry.partition(":")
            parts += getattr(import_module(module), name)(run)
    return parts


def _results(run: RunView) -> list[Markup | None]:
    sections: list[Markup | None] = []
    for stage in run.stages:
        path = run.artifact(stage) / "result.json"
        if stage.kind == "fit" and path.is_file():
            try:
                record = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                continue
            if isinstance(record, dict):
                sections.append(result(stage.name, record))
    return sections


def _details(run: RunView, columns: Sequence[ScoreColumn]) -> Markup:
    signatures = [(column.name, draw("code", column.signature)) for column in columns]
    return draw("run_details", run.details.items(), run.predicted, _timings(run), signatures, run.pipeline)


def _timings(run: RunView) -> Markup:
    rows = []
    for stage in run.stages:
        expected = run.predicted.get(stage.name)
        ratio = f"{stage.seconds / expected:.2f}" if expected and stage.seconds is not None else "–"
        rate = count(round(stage.read / stage.seconds)) if stage.read and stage.seconds else "–"
        predicted = (duration(expected), ratio) if run.predicted else ()
        rows.append([stage.folder, duration(stage.seconds), *predicted, rate, draw("code", stage.digest[:16])])
    predicted = ("predicted", "work ÷ predicted") if run.predicted else ()
    return table(("stage", "work", *predicted, "rows per second", "digest"), rows, wide=True)


_MAX_BARS = 40


def translation_costs(run: RunView) -> Markup | None:
    """A chart for each stage that compared costs; None if none did."""
    charts = [_chart(stage.name, stage.figures) for stage in run.stages if _has_costs(stage.figures)]
    return draw("costs", charts) if charts else None


def _has_costs(figures: Mapping[str, object]) -> bool:
    sides = (figures.get("costs"), figures.get("development_costs"))
    return all(isinstance(side, Mapping) and side.get("counts") for side in sides)


def _chart(name: str, figures: Mapping[str, Any]) -> tuple[str, object, Markup, str]:
    development, text = figures["development_costs"], figures["costs"]
    bins = max(len(development["counts"]), len(text["counts"]))
    together = -(-bins // _MAX_BARS)
    edges = [development["bin_width"] * together * i for i in range(-(-bins // together) + 1)]
    counts = [_merged(side["counts"], together, len(edges) - 1) for side in (development, text)]
    chart = compared_histogram(f"Costs of {name}", edges, counts[0], counts[1], ("development text", "this run"))
    note = f"{_median(text)} in this run; {_median(development)} in the development text"
    return name, figures.get("warning"), chart, note


def _merged(counts: Sequence[int], together: int, bins: int) -> list[int]:
    return [sum(counts[i * together : (i + 1) * together]) for i in range(bins)]


def _median(side: Mapping[str, Any]) -> str:
    return f"median {number(side['percentiles']['50'])} nats per subword over {count(side['sentences'])} sentences"
