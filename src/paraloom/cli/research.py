"""Commands of the papers' methods, which no measurement recommends: paraloom research."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import paraloom.web as reports
from paraloom import papers
from paraloom.cli.declaration import Command
from paraloom.cli.output import print_figures, print_result, written
from paraloom.cli.values import named_models

if TYPE_CHECKING:
    from paraloom.pipeline.result import RunResult


def _augment(
    path: str | Path,
    *,
    output: str | Path | None = None,
    small: bool = False,
    dry_run: bool = False,
    as_json: bool = False,
    **options: object,
) -> None:
    """Compare methods of back-translation: a translator is trained on each method's bitext, and all are evaluated.

    BLEU, chrF, diversity, training perplexity and translationese, by Burchell et al. (2022).

    Args:
        path: The experiment's settings.
        output: Run folder; default: runs/NAME.
        small: Run the experiment on little text, with few steps and one seed.
        dry_run: Print how much an experiment trains and translates, and stop.
    """
    name, seed, experiment = papers.read_experiment(path, small=small)
    papers.experiment_pipeline(path, name, seed, experiment)  # reports what is wrong before anything runs
    typer.echo(papers.cost_statement(experiment), err=True)
    if dry_run:
        return
    folder = Path(output or Path("runs") / name)
    result = papers.run_experiment(path, folder, small=small, report=partial(typer.echo, err=as_json), **options)
    page = reports.write_report(folder, folder / "report.html")
    figures = {"report": page, "methods": [row.to_dict() for row in result.methods]}
    written(folder, figures, f"Report: {page}", "explore {output}", as_json=as_json, err=False, rows=False)


def _selftrain(
    path: str | Path, *, output: str | Path | None = None, as_json: bool = False, workers: int | None = None
) -> None:
    """Let a translator and an aligner improve each other: align, train on the result, align again.

    Args:
        path: The loop's settings: see examples/selftrain.toml.
        output: Run folder; default: runs/NAME.
    """
    folder = Path(output or Path("runs") / papers.read_loop(path)[0])
    rounds = papers.selftrain(path, folder, workers=workers, report=partial(typer.echo, err=as_json))
    page = reports.write_report(folder, folder / "report.html")
    figures = {"report": page, "rounds": rounds}
    then = f"papers run all --loop {{output}} -o {shlex.quote(f'{folder}-tables')}"
    written(folder, figures, f"Report: {page}", then, as_json=as_json, err=False, rows=False)


def _show_phrases(result: RunResult, values: Mapping[str, Any]) -> None:
    print_figures(result, "evaluate phrases {output} data/phrase", values["as_json"])


def _show_exemplars(count: int, values: Mapping[str, Any]) -> None:
    output = values["output"]
    then = "research evaluate-exemplars PARAPHRASER {output}" if Path(output).suffix == ".parquet" else ""
    written(output, {"rows": count}, then=then, as_json=values["as_json"])


def _evaluate_control(*, beside: list[str] | None = None, as_json: bool = False, **options: Any) -> None:
    """Ask for the templates of references, and count how many paraphrases have them, by their own parse.

    Rows: the source, the reference, the model without a template, with the template of another pair, with the template,
    and the nearest of five candidates.

    Args:
        beside: A further paraphraser to compare.
    """
    print_result(papers.measure_control(others=named_models(beside), **options), as_json)


def _evaluate_exemplars(*, beside: list[str] | None = None, as_json: bool = False, **options: object) -> None:
    """Paraphrase with the syntax of exemplars: tree edit distances to reference and exemplar, BLEU, chrF, ROUGE.

    Rows: source, exemplar and reference as they are, the model without an exemplar, with it, and the nearest of five.

    Args:
        beside: A further paraphraser to compare.
    """
    print_result(papers.measure_exemplars(others=named_models(beside), **options), as_json)


_PAIRS: dict[str, Any] = {"repeated": False, "role": "input"}
_PARAPHRASER: dict[str, dict[str, Any]] = {
    "beside": {"metavar": "NAME=FOLDER"},
    "paraphraser": {"role": "input", "complete": ""},
    "pairs": _PAIRS,
}


DECLARED = [
    Command(
        name="research decontaminate",
        of="decontaminate",
        flags={"against": "--against"},
        settings={"against": {"metavar": "TEST"}},
        help="Find the test text in training text: equal texts, 13 and 8 words in a row, near-duplicates; with -o, "
        "leave it out.",
        examples=("train.tsv --against test.tsv -o clean.tsv",),
        watched=True,
    ),
    Command(
        name="research augment",
        run=_augment,
        of="paraloom.papers.bbh22.experiment:run_experiment",
        leave_out="folder report",
        settings={"path": {"metavar": "EXPERIMENT.toml"}},
        examples=("examples/english-turkish.toml --dry-run",),
        resumes=True,
        watched=True,
    ),
    Command(
        name="research selftrain",
        run=_selftrain,
        settings={"path": {"metavar": "LOOP.toml"}},
        examples=("examples/selftrain.toml -o runs/korean",),
        resumes=True,
        watched=True,
    ),
    Command(
        name="research train-classifier",
        of="paraloom.papers.w17.train_classifier:train_classifier",
        stage="train-classifier",
        keys="kind max_pairs epochs device",
        flags={"pairs": "--pairs"},
        then="score pairs.parquet --classifier {output} -o scored.parquet",
        help="Train a classifier of references and translations, for reference_probability.",
        examples=("--pairs pairs.parquet -o classifier",),
        watched=True,
    ),
    Command(
        name="research train-phrases",
        of="paraloom.papers.pgru.train_phrases:train_phrase_encoder",
        stage="train-phrases",
        keys="network epochs",
        settings={"pairs": {"role": "input", "metavar": "[PAIRS]..."}},
        show=_show_phrases,
        examples=("ppdb-1.0-s-phrasal.gz --vectors glove.200d.txt -o phrases",),
        watched=True,
    ),
    Command(
        name="research exemplars",
        of="paraloom.papers.scpn.measure_exemplars:write_exemplars",
        settings={"pairs": _PAIRS},
        show=_show_exemplars,
        help="Find an exemplar for each pair: another sentence with nearly the syntax of the paraphrase, and other "
        "content.",
        examples=("held-out.parquet -o exemplars.parquet",),
        watched=True,
    ),
    Command(
        name="research evaluate-exemplars",
        run=_evaluate_exemplars,
        of="paraloom.papers.scpn.measure_exemplars:measure_exemplars",
        leave_out="others height language",
        settings=_PARAPHRASER,
        examples=("english held-out.parquet",),
        watched=True,
    ),
    Command(
        name="research evaluate-control",
        run=_evaluate_control,
        of="paraloom.papers.scpn.measure_control:measure_control",
        leave_out="others encoder",
        settings=_PARAPHRASER,
        examples=("english held-out.parquet",),
    ),
]
