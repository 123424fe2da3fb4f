"""The paraloom command: verbs, and errors as one message with exit status 1."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from paraloom import __version__
from paraloom.cli import encoders, evaluation, pairs, pipelines, translators
from paraloom.core.errors import ParaloomError

app = typer.Typer(
    name="paraloom",
    help="Weave parallel text into paraphrases, sentence embeddings and training data for translators.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
training = typer.Typer(help="Train a translator or an encoder on your own data.", no_args_is_help=True)
evaluating = typer.Typer(help="Measure an encoder or translations.", no_args_is_help=True)
app.add_typer(training, name="train")
app.add_typer(evaluating, name="evaluate")

for verbs, group in (
    (pipelines.VERBS, app),
    (translators.VERBS, app),
    (translators.TRAINING, training),
    (pairs.VERBS, app),
    (encoders.VERBS, app),
    (encoders.TRAINING, training),
    (evaluation.VERBS, evaluating),
):
    for verb_name, verb in verbs.items():
        group.command(verb_name)(verb)


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
    try:
        app()
    except ParaloomError as error:
        print(f"paraloom: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt as interrupt:
        print(f"\nparaloom: {interrupt or 'stopped; run the same command again to go on'}", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
