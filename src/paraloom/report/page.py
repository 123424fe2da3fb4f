"""Writes a run's report: one HTML page that needs nothing beside itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from paraloom.io.atomic import replacing
from paraloom.pairs.scoring.table import COLUMNS
from paraloom.report.augmented import augmented
from paraloom.report.chain import chain
from paraloom.report.facts import edges_of, ranges, reasons, spread_of
from paraloom.report.figures import count, duration, spoken
from paraloom.report.markup import Html, Part, element, join
from paraloom.report.results import result
from paraloom.report.run_folder import RunView, StageView, open_run, score_columns
from paraloom.report.samples import by_range
from paraloom.report.scores import ScoreColumn, score_card
from paraloom.report.training import training

_BY_TENTHS = ("trigram_overlap",)
_BY_QUANTILES = ("translation_cost",)
_MOST_SCORES = 40


def write_report(run_folder: str | Path, output: str | Path) -> Path:
    """Write the report of a run, finished or not, to `output`; returns its path.

    The same run gives the same bytes, at any size of its corpora less than 2 MB: rows are sampled by a hash of what
    they say.  Memory does not grow with the corpora.  Raises DataError when `run_folder` is no run.
    """
    run = open_run(run_folder)
    output = Path(output)
    page = _page(run)
    with replacing(output) as temporary:
        temporary.write_text("<!doctype html>\n" + page + "\n", encoding="utf-8")
    return output


def _page(run: RunView) -> str:
    columns = _columns(run)
    sections = [
        ("chain", "The chain", _chain(run)),
        ("scores", "Scores", _scores(columns)),
        ("pairs", "Pairs", _pairs(columns)),
        ("training", "Training", _training(run)),
        ("augmented", "Back-translation", augmented(run)),
        ("results", "Results", _results(run)),
        ("made", "How it was made", _made(run, columns)),
    ]
    there = [(name, title, body) for name, title, body in sections if body]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{run.name} · Paraloom"),
        element("style", Html(files("paraloom.report").joinpath("style.css").read_text(encoding="utf-8"))),
    )
    contents = [element("li", element("a", title, href=f"#{name}")) for name, title, _ in there]
    header = element(
        "header",
        element("p", "Paraloom run", class_="eyebrow"),
        element("h1", run.name),
        element("p", _lead(run), class_="lead"),
        element("nav", element("ul", contents), aria_label="Contents"),
    )
    body = [element("section", element("h2", title), body, id=name) for name, title, body in there]
    footer = element("footer", element("p", "Written by Paraloom. Each figure's signature says how it was made."))
    return element("html", head, element("body", header, element("main", body), footer), lang="en")


def _lead(run: RunView) -> str:
    corpora = [stage for stage in run.stages if stage.kind != "fit"]
    seconds = sum(stage.seconds or 0 for stage in run.stages)
    stages = f"{len(run.stages)} stage{'s' * (len(run.stages) != 1)}, {duration(seconds)} of work"
    if not corpora:
        return f"{stages}."
    first, last = corpora[0], corpora[-1]
    if first is last:
        return f"{count(first.out)} rows. {stages}."
    return f"{count(first.out)} rows went in, {count(last.out)} came out. {stages}."


def _chain(run: RunView) -> Part:
    rejected = {stage.folder: reasons(run.aside(stage, "rejected")) for stage in run.stages if stage.rejected}
    failed = {stage.folder: reasons(run.aside(stage, "failed"), "error") for stage in run.stages if stage.failed}
    return join(
        element(
            "p",
            "Every row is accounted for: in = kept + rejected + failed. Each thread stands for equally many rows.",
            class_="intro",
        ),
        chain(run, rejected, failed),
    )


def _columns(run: RunView) -> list[ScoreColumn]:
    """Every score: the first corpus that has it, and the last one, where rows were set aside in between."""
    corpora = [corpus for stage in run.stages if (corpus := run.corpus(stage)) is not None]
    first: dict[str, tuple[str, Sequence[Path], int]] = {}
    last: dict[str, tuple[Sequence[Path], int]] = {}
    for corpus in corpora:
        for name, signature in score_columns(corpus.schema).items():
            first.setdefault(name, (signature, corpus.shards, corpus.rows))
            last[name] = (corpus.shards, corpus.rows)
    columns = [
        ScoreColumn(name, signature, shards, last[name][0] if last[name][1] < rows else None)
        for name, (signature, shards, rows) in first.items()
        if rows
    ]
    known = list(COLUMNS)
    columns.sort(key=lambda column: known.index(column.name) if column.name in known else len(known))
    return columns[:_MOST_SCORES]


def _scores(columns: Sequence[ScoreColumn]) -> Part:
    if not columns:
        return None
    legend = None
    if any(column.after for column in columns):
        legend = element(
            "p",
            element("span", element("i", class_="swatch-before"), "all pairs"),
            element("span", element("i", class_="swatch-after"), "kept"),
            class_="legend",
        )
    return join(
        element("p", "The extreme half per cent at either end is counted in the outermost bars.", class_="intro"),
        legend,
        element("div", [score_card(column) for column in columns], class_="scores"),
    )


def _pairs(columns: Sequence[ScoreColumn]) -> Part:
    parts: list[Part] = []
    for column in columns:
        if column.name in _BY_TENTHS:
            bounds = [place / 10 for place in range(11)]
        elif column.name in _BY_QUANTILES and (edges := edges_of(column.before, column.name)):
            # From the cheapest to the dearest: the quantiles are where one range ends and the next begins.
            inner = spread_of(column.before, column.name, edges).quantiles
            bounds = sorted({edges[0], *inner, edges[-1]})
        else:
            continue
        samples = ranges(column.before, column.name, bounds)
        if any(sample.rows for sample in samples):
            total = sum(sample.of for sample in samples)
            parts.append(element("h3", f"By {spoken(column.name)}"))
            parts.append(by_range(column.name, bounds, samples, total))
    if not parts:
        return None
    intro = "Drawn by lot from every range, before any filter; words that only one side has are marked."
    return join(element("p", intro, class_="intro"), parts)


def _training(run: RunView) -> Part:
    found = [training(stage.name, run.artifact(stage)) for stage in run.stages if stage.kind == "fit"]
    return join([each for each in found if each is not None]) or None


def _results(run: RunView) -> Part:
    found: list[Part] = []
    for stage in run.stages:
        path = run.artifact(stage) / "result.json"
        if stage.kind == "fit" and path.is_file():
            try:
                told = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                continue
            if isinstance(told, dict):
                found.append(result(stage.name, told))
    return join(found) or None


def _made(run: RunView, columns: Sequence[ScoreColumn]) -> Part:
    facts = [_fact(name, value) for name, value in run.facts.items()]
    signatures = [_fact(column.name, element("code", column.signature)) for column in columns]
    return join(
        element("table", element("tbody", facts), class_="made"),
        element("h3", "Stages"),
        element("div", _timings(run.stages), class_="wide"),
        element("h3", "Signatures") if signatures else None,
        element("table", element("tbody", signatures), class_="made") if signatures else None,
        element("details", element("summary", "The pipeline"), element("pre", run.pipeline)) if run.pipeline else None,
    )


def _timings(stages: Sequence[StageView]) -> Html:
    head = [element("th", name, scope="col") for name in ("stage", "time", "rows a second", "digest")]
    body = [
        element(
            "tr",
            element("th", stage.folder, scope="row"),
            element("td", duration(stage.seconds), class_="n"),
            element("td", _rate(stage), class_="n"),
            element("td", element("code", stage.digest[:16])),
        )
        for stage in stages
    ]
    return element("table", element("thead", element("tr", head)), element("tbody", body))


def _rate(stage: StageView) -> str:
    return count(round(stage.read / stage.seconds)) if stage.read and stage.seconds else "–"


def _fact(name: str, value: Part) -> Html:
    return element("tr", element("th", name, scope="row"), element("td", value))
