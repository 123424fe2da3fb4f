"""Commands of the papers' methods, which no measurement recommends: paraloom research."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import Any, Literal

import typer

import paraloom.web as reports
from paraloom import papers
from paraloom.cli.declaration import Command
from paraloom.cli.output import print_result, written
from paraloom.cli.values import named_models
from paraloom.core.errors import ConfigError


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


def _evaluate_control(
    *,
    by: Literal["template", "exemplar"] = "template",
    beside: list[str] | None = None,
    pool: str | Path | None = None,
    save_exemplars: str | Path | None = None,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Ask for the syntax of references, by template or exemplar, and measure whether paraphrases have it when parsed.

    By template: how many have it, beside the source, the reference, and the model without a template, with that of
    another pair, and its nearest of five. By exemplar: distances of trees to reference and exemplar, BLEU, chrF, ROUGE.

    Args:
        by: The template of the reference; or an exemplar, another sentence with its syntax and other content.
        beside: A further paraphraser to compare.
        pool: With `--by exemplar`: other pairs from `parse`, whose sentences are the exemplars; default: PAIRS.
        save_exemplars: Write the exemplars to this file as well, to measure other systems on.
    """
    others = named_models(beside)
    if by == "exemplar":
        if options.pop("only_different", False):
            raise typer.BadParameter("--only-different is for templates, not for --by exemplar")
        if save_exemplars is not None:
            if Path(save_exemplars).exists():
                raise ConfigError("the file exists", file=save_exemplars, remedy="Name a new one, or delete it.")
            drawn = {name: options[name] for name in ("rows", "seed")}
            papers.write_exemplars(options["pairs"], save_exemplars, pool=pool, **drawn)
        print_result(papers.measure_exemplars(others=others, pool=pool, **options), as_json)
        return
    if pool is not None or save_exemplars is not None:
        raise typer.BadParameter("--pool and --save-exemplars are for --by exemplar")
    print_result(papers.measure_control(others=others, **options), as_json)


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
        name="research evaluate-control",
        run=_evaluate_control,
        of="paraloom.papers.scpn.measure_control:measure_control",
        leave_out="others encoder",
        settings={
            "beside": {"metavar": "NAME=FOLDER"},
            "save_exemplars": {"role": ""},
            "paraphraser": {"role": "input", "complete": ""},
            "pairs": {
                "repeated": False,
                "role": "input",
                "help": "Held-out pairs from `parse`; by exemplars also a table with src, exemplar and tgt.",
            },
            "heights": {
                "default": None,
                "help": "Levels of the trees, separated by commas. Default: 2,3, by exemplars 2,4; of them 0 is all.",
            },
        },
        examples=("english held-out.parquet", "english held-out.parquet --by exemplar"),
        watched=True,
    ),
]
