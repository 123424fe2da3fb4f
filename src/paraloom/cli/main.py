"""The paraloom command: all commands in panels by task, errors as one message with exit status 1."""

from __future__ import annotations

import errno
import io
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from paraloom.cli import (
    alignment,
    augment,
    canonicalization,
    distillation,
    encoders,
    evaluate,
    explore,
    label_augmentation,
    look,
    options,
    pages,
    pairs,
    papers,
    paraphraser_evaluation,
    paraphrasers,
    research,
    runs,
    scores,
    stages,
    syntax,
    translators,
    variants,
    watching,
)
from paraloom.cli.output import start_clock
from paraloom.cli.protection import protected
from paraloom.cli.renamed import RenamedCommands, RenamedOptions
from paraloom.cli.terminal import protect_terminals
from paraloom.cli.urls import with_urls
from paraloom.core.arrow import start_without_pandas
from paraloom.core.errors import ParaloomError, is_interruption, printable
from paraloom.core.events import emit
from paraloom.core.optional import installable, missing_extra
from paraloom.core.version import __version__

app = typer.Typer(
    name="paraloom",
    cls=RenamedCommands,
    help="Turn parallel text into paraphrases, sentence embeddings and training data for translation.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

PANELS: dict[str, options.Commands] = {
    "Start and run": {**runs.COMMANDS, **look.COMMANDS, **pages.COMMANDS, **explore.COMMANDS, **stages.COMMANDS},
    "Paraphrase pairs": {
        **{**pairs.COMMANDS, **scores.COMMANDS, **paraphrasers.COMMANDS},
        **{**label_augmentation.COMMANDS, **canonicalization.COMMANDS},
    },
    "Encoders": encoders.COMMANDS,
    "Translation": {**translators.COMMANDS, **augment.COMMANDS, **variants.COMMANDS},
    "Documents and bitext": alignment.COMMANDS,
    "Syntax": syntax.COMMANDS,
}
"""Panel of `paraloom --help` → its commands."""

GROUPS: dict[str, tuple[str, str, options.Commands]] = {
    "judge": ("Paraphrase pairs", "Annotate pairs by hand: sample a sheet, count its labels.", pairs.JUDGE),
    "train": (
        "Translation",
        "Train a translator, an encoder, a parser or a model for scores on your own data.",
        {**translators.TRAIN, **encoders.TRAIN, **scores.TRAIN, **syntax.TRAIN, **paraphrasers.TRAIN},
    ),
    "distill": ("Encoders", "Distill a large encoder into a small one, or into word vectors.", distillation.DISTILL),
    "align": ("Documents and bitext", "Align documents and sentences.", alignment.ALIGN),
    "show": ("Start and run", "Write an HTML page that shows data.", pages.SHOW),
    "evaluate": (
        "Encoders",
        "Evaluate encoders, translations, alignments and paraphrasers.",
        {**evaluate.EVALUATE, **paraphraser_evaluation.EVALUATE},
    ),
    "papers": ("Papers", "Make the papers' tables from your own data, next to the published figures.", papers.PAPERS),
    "research": ("Papers", "Use the papers' methods that only their tables need.", research.RESEARCH),
}
"""Name of a group of commands → its panel, its help and its commands."""


def _guarded(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with errors as one message instead of a traceback, and how to resume after an interruption."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        start_without_pandas()
        start_clock()
        try:
            with watching.signals_as_interrupts():
                command(*arguments, **options)
        except ParaloomError as error:
            typer.echo(f"paraloom: {installable(str(error))}", err=True)
            raise typer.Exit(1) from None
        except ImportError as error:
            if (missing := missing_extra(error)) is None:
                raise
            typer.echo(f"paraloom: {installable(str(missing))}", err=True)
            raise typer.Exit(1) from None
        except RecursionError:
            typer.echo("paraloom: the input is nested too deeply.", err=True)
            raise typer.Exit(1) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # The reader of the output is gone; click ends quietly.
            where = f"{printable(str(error.filename))}: " if error.filename is not None else ""
            typer.echo(f"paraloom: {where}{error.strerror or error}.", err=True)
            raise typer.Exit(1) from None
        except (KeyboardInterrupt, RuntimeError) as error:
            if not is_interruption(error):
                raise
            message = str(error) if isinstance(error, KeyboardInterrupt) else ""
            typer.echo(f"\nparaloom: {message or 'interrupted; the same command again resumes'}", err=True)
            raise typer.Exit(watching.interrupted_status()) from None

    return run


for panel, commands in PANELS.items():
    for name, function in commands.items():
        watchable = with_urls(watching.watchable(name, protected(function, name)), name)
        app.command(name, cls=RenamedOptions, rich_help_panel=panel)(_guarded(watchable))
for name, (panel, description, commands) in GROUPS.items():
    description += f"\n\nExample: `paraloom {name} {next(iter(commands))} --help`"
    group = typer.Typer(cls=RenamedCommands, help=description, no_args_is_help=True)
    for member, function in commands.items():
        path = f"{name} {member}"
        watchable = with_urls(watching.watchable(path, protected(function, path)), path)
        group.command(member, cls=RenamedOptions)(_guarded(watchable))
    app.add_typer(group, name=name, rich_help_panel=panel)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"paraloom {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command; exit status 0 done, 1 the data or the run is at fault, 2 the call is, from 129 interrupted."""
    warnings.showwarning = _warn  # type: ignore[assignment]
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files may be no UTF-8; data are written as bytes.
        sys.stdout.reconfigure(errors="backslashreplace")
    protect_terminals()
    app(prog_name="paraloom")


def _warn(message: Warning | str, *location: object) -> None:
    """A warning as one line, without its location in our code."""
    emit("warning", message=str(message))
    typer.echo(f"paraloom: {message}", err=True)


if __name__ == "__main__":
    main()
