"""Writes the report of a run: one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from paraloom.io.atomic import atomic_write
from paraloom.web.augmentation import augmentation
from paraloom.web.best_pairs import best_pairs
from paraloom.web.corpus_stats import reasons
from paraloom.web.flow import flow
from paraloom.web.formatting import count, duration
from paraloom.web.markup import Html, Part, element, join, table
from paraloom.web.results import result
from paraloom.web.run_folder import RunView, StageView, open_run
from paraloom.web.scores import ScoreColumn, pairs_by_score, score_cards, scores_of
from paraloom.web.training import training
from paraloom.web.translation_costs import translation_costs

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Content-Security-Policy of a page: it runs no scripts and loads nothing, whatever the texts in it contain."""


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
    output = Path(output)
    page = _page(run)
    with atomic_write(output) as temporary:
        temporary.write_text("<!doctype html>\n" + page + "\n", encoding="utf-8")
    return output


def policy(script: str = "") -> Html:
    """A `<meta>` element with POLICY, and with one script that may run.

    Args:
        script: Text of the one script, which is allowed by its hash; '' for none.

    Example:
        >>> "script-src" in policy(), "script-src" in policy("alert(1)")
        (False, True)
    """
    content = POLICY
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        content += f"; script-src 'sha256-{digest}'"
    return element("meta", http_equiv="Content-Security-Policy", content=content)


def style(*names: str) -> Html:
    """A `<style>` element with style sheets of this package."""
    package = files("paraloom.web")
    return element(
        "style", Html("".join(package.joinpath(f"static/{name}").read_text(encoding="utf-8") for name in names))
    )


def _page(run: RunView) -> str:
    columns = scores_of(run)
    sections = [
        ("results", "Results", _results(run)),
        ("augmented", "Back-translation", augmentation(run)),
        ("best", "Pairs, best first", best_pairs(run)),
        ("pipeline", "Pipeline", _pipeline(run)),
        ("costs", "Costs of translations", translation_costs(run)),
        ("scores", "Scores", score_cards(columns)),
        ("pairs", "Example pairs", pairs_by_score(columns)),
        ("training", "Training", _training(run)),
        ("details", "Run details", _details(run, columns)),
    ]
    present = [(name, title, body) for name, title, body in sections if body]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        policy(),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{run.name} · Paraloom"),
        style("style.css"),
    )
    contents = [element("li", element("a", title, href=f"#{name}")) for name, title, _ in present]
    header = element(
        "header",
        element("p", "Paraloom run", class_="eyebrow"),
        element("h1", run.name),
        element("p", _summary(run), class_="lead"),
        element("nav", element("ul", contents), aria_label="Contents"),
    )
    body = [element("section", element("h2", title), body, id=name) for name, title, body in present]
    footer = element("footer", element("p", "Written by Paraloom."))
    return element("html", head, element("body", header, element("main", body), footer), lang="en")


def _summary(run: RunView) -> str:
    corpora = [stage for stage in run.stages if stage.kind != "fit"]
    seconds = sum(stage.seconds or 0 for stage in run.stages)
    stages = f"{len(run.stages)} stage{'s' * (len(run.stages) != 1)}, {duration(seconds)} in total"
    if not corpora:
        return f"{stages}."
    first, last = corpora[0], corpora[-1]
    if first is last:
        return f"{count(first.out)} rows. {stages}."
    return f"{count(first.out)} rows in the first corpus, {count(last.out)} in the last. {stages}."


def _pipeline(run: RunView) -> Part:
    rejected = {stage.folder: reasons(run.split(stage, "rejected")) for stage in run.stages if stage.rejected}
    failed = {stage.folder: reasons(run.split(stage, "failed"), "error") for stage in run.stages if stage.failed}
    return join(
        element(
            "p",
            "Every row is accounted for: in = kept + rejected, held back or not sampled + failed. Each line stands "
            "for the same number of rows; dots are stages that write a model or figures instead of rows.",
            class_="intro",
        ),
        flow(run, rejected, failed),
    )


def _training(run: RunView) -> Part:
    charts = [training(stage.name, run.artifact(stage)) for stage in run.stages if stage.kind == "fit"]
    return join([chart for chart in charts if chart is not None]) or None


def _results(run: RunView) -> Part:
    sections: list[Part] = []
    for stage in run.stages:
        path = run.artifact(stage) / "result.json"
        if stage.kind == "fit" and path.is_file():
            try:
                record = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                continue
            if isinstance(record, dict):
                sections.append(result(stage.name, record))
    return join(sections) or None


def _details(run: RunView, columns: Sequence[ScoreColumn]) -> Part:
    details = [_detail(name, value) for name, value in run.details.items()]
    signatures = [_detail(column.name, element("code", column.signature)) for column in columns]
    toml = element("details", element("summary", "Pipeline file (TOML)"), element("pre", run.pipeline))
    return join(
        element("table", element("tbody", details), class_="details"),
        element("h3", "Stages"),
        element("p", _PREDICTED, class_="intro") if run.predicted else None,
        element("div", _timings(run), class_="wide"),
        element("h3", "Score signatures") if signatures else None,
        element("table", element("tbody", signatures), class_="details") if signatures else None,
        toml if run.pipeline else None,
    )


_PREDICTED = (
    "Predicted: what `paraloom run --plan` expected of this run. Times are seconds of work, summed over workers; "
    "those of a stage that was resumed include its earlier runs."
)


def _timings(run: RunView) -> Html:
    rows = [
        element(
            "tr",
            element("th", stage.folder, scope="row"),
            element("td", duration(stage.seconds), class_="n"),
            _prediction(stage, run.predicted) if run.predicted else None,
            element("td", _rate(stage), class_="n"),
            element("td", element("code", stage.digest[:16])),
        )
        for stage in run.stages
    ]
    predicted = ("predicted", "time ÷ predicted") if run.predicted else ()
    return table(("stage", "time", *predicted, "rows per second", "digest"), rows)


def _prediction(stage: StageView, predicted: Mapping[str, float]) -> Part:
    """The cells of the predicted time, and of the ratio to it."""
    expected = predicted.get(stage.name)
    ratio = f"{stage.seconds / expected:.2f}" if expected and stage.seconds is not None else "–"
    return join([element("td", duration(expected), class_="n"), element("td", ratio, class_="n")])


def _rate(stage: StageView) -> str:
    return count(round(stage.read / stage.seconds)) if stage.read and stage.seconds else "–"


def _detail(name: str, value: Part) -> Html:
    return element("tr", element("th", name, scope="row"), element("td", value))
