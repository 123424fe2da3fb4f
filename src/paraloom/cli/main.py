"""The paraloom command: verbs, and errors as one message with exit status 1."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from paraloom import __version__
from paraloom.cli import (
    alignment,
    analysis,
    augment,
    distil,
    diversity,
    encoders,
    evaluation,
    extraction,
    pairs,
    papers,
    phrases,
    pipelines,
    scoring,
    showing,
    stages,
    syntax,
    translators,
)
from paraloom.core.arrow import start_without_pandas
from paraloom.core.errors import ParaloomError


def _guarded(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb, its errors one message instead of a traceback, an interruption told how to go on."""

    @wraps(verb)
    def run(*arguments: Any, **options: Any) -> None:
        start_without_pandas()
        try:
            verb(*arguments, **options)
        except ParaloomError as error:
            typer.echo(f"paraloom: {error}", err=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt as stop:
            typer.echo(f"\nparaloom: {stop or 'stopped; the same command again goes on from here'}", err=True)
            raise typer.Exit(130) from None

    return run


app = typer.Typer(
    name="paraloom",
    help="Weave parallel text into paraphrases, sentence embeddings and training data for translators.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
training = typer.Typer(
    help="Train a translator, an encoder, or what scores need on your own data.", no_args_is_help=True
)
evaluating = typer.Typer(help="Measure encoders, translations and alignments.", no_args_is_help=True)
judging = typer.Typer(help="Judge pairs by hand: draw a sheet, count its labels.", no_args_is_help=True)
aligning = typer.Typer(help="Align comparable texts.", no_args_is_help=True)
showing_pages = typer.Typer(help="Make a page to look at.", no_args_is_help=True)
distilling = typer.Typer(help="Make something small out of a large encoder.", no_args_is_help=True)
app.add_typer(training, name="train")
app.add_typer(aligning, name="align")
app.add_typer(distilling, name="distil")
app.add_typer(judging, name="judge")
app.add_typer(evaluating, name="evaluate")
app.add_typer(showing_pages, name="show")

for verbs, group in (
    (pipelines.VERBS, app),
    (stages.VERBS, app),
    (translators.VERBS, app),
    (augment.VERBS, app),
    (translators.TRAINING, training),
    (scoring.VERBS, app),
    (scoring.TRAINING, training),
    (extraction.VERBS, app),
    (pairs.VERBS, app),
    (analysis.VERBS, app),
    (analysis.JUDGING, judging),
    (diversity.VERBS, app),
    (syntax.VERBS, app),
    (syntax.TRAINING, training),
    (papers.VERBS, app),
    (encoders.VERBS, app),
    (encoders.TRAINING, training),
    (distil.DISTILLING, distilling),
    (phrases.TRAINING, training),
    (evaluation.VERBS, evaluating),
    (alignment.ALIGNING, aligning),
    (alignment.EVALUATING, evaluating),
    (phrases.EVALUATING, evaluating),
    (showing.SHOWING, showing_pages),
):
    for verb_name, verb in verbs.items():
        group.command(verb_name)(_guarded(verb))  # type: ignore[arg-type]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"paraloom {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command; exit status 0 done, 1 the data or the run is at fault, 2 the call is, 130 interrupted."""
    warnings.showwarning = _warn  # type: ignore[assignment]
    app()


def _warn(message: Warning | str, *place: object) -> None:
    """A warning as one line, without the place in our code."""
    typer.echo(f"paraloom: {message}", err=True)


if __name__ == "__main__":
    main()
