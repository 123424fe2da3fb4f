"""The paraloom command: all commands, out of their index; what a command needs is imported when it is called."""

from __future__ import annotations

import gc
import inspect
import io
import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from paraloom.cli import completion, front_page
from paraloom.cli.moved import MovedCommands
from paraloom.cli.shared import GENERAL
from paraloom.cli.terminal import protect_terminals
from paraloom.core.events import emit
from paraloom.core.version import __version__

_KINDS: dict[str, type] = {"text": str, "integer": int, "number": float, "flag": bool}


class LazyCommands(dict[str, Any]):
    """The commands of a group, each built when it is looked up."""

    def __init__(self, group: str, names: list[str]) -> None:
        super().__init__(dict.fromkeys(names))
        self._group = group

    def __getitem__(self, name: str) -> Any:
        if super().__getitem__(name) is None:
            self[name] = built(f"{self._group} {name}".strip())
        return super().__getitem__(name)

    def get(self, name: str, default: object = None) -> Any:
        """The command, or the default if there is none."""
        return self[name] if name in self else default  # noqa: SIM401  (the value is built by __getitem__)

    def values(self) -> Any:
        return [self[name] for name in self]

    def items(self) -> Any:
        return [(name, self[name]) for name in self]


@cache
def entries() -> dict[str, dict[str, Any]]:
    """Name of each command → its module, help and parameters."""
    collected: dict[str, dict[str, object]] = json.loads(front_page.INDEX.read_text(encoding="utf-8"))
    return collected


def members(group: str) -> list[str]:
    start = f"{group} " if group else ""
    return list(dict.fromkeys(name[len(start) :].split()[0] for name in entries() if name.startswith(start)))


class FrontPage(MovedCommands):
    """All commands, by their index."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = LazyCommands("", front_page.ordered(members("")))


def built(name: str) -> Any:
    """The object that parses a command, or a group of commands."""
    if name in entries():
        return _command(name)
    panel, text = front_page.GROUPS[name]
    names = members(name)
    first = next(member for member in names if f"{name} {member}" in entries())
    group = typer.Typer(
        cls=MovedCommands,
        help=f"{text}\n\nExample: `paraloom {name} {first} --help`",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    group.callback()(lambda: None)
    parser: Any = typer.main.get_command(group)
    parser.name, parser.rich_help_panel = name.split()[-1], panel
    parser.commands = LazyCommands(name, names)
    return parser


_UsageError: Any = typer.BadParameter.__base__  # Typer does not export it.

_MESSAGES = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "expected a whole number",
    "Input should be a valid number, unable to parse string as a number": "expected a number",
    "Input should be greater than or equal to": "must be at least",
}
"""What pydantic says of a value, and how we do."""


class CheckedCommand(TyperCommand):
    """A command whose messages about its arguments say what to write."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            for theirs, ours in _MESSAGES.items():
                error.message = error.message.replace(theirs, ours)
            raise
        except _UsageError as error:
            flags = {flag for one in self.params for flag in one.opts} & {"--bitext", "--pairs"}
            if error.message.startswith("Got unexpected extra argument") and flags:
                error.message += f": {' and '.join(sorted(flags))} take one name, of two files 'PREFIX.{{de,en}}'"
            raise


def _command(name: str) -> Any:
    entry, first = entries()[name], name.split()[0]
    path = name.split()

    def run(**values: object) -> None:
        # Typer returns members of the classes that stand for choices.
        values.pop("help_all", None)
        plain = {key: value.value if isinstance(value, Enum) else value for key, value in values.items()}
        import_module("paraloom.cli.calls").call(entry, name, plain)

    parameters = [_parameter(one) for one in entry["parameters"]]
    if not all(map(_is_shown, entry["parameters"])):
        parameters.append(_HELP_ALL)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    app = typer.Typer(rich_markup_mode="markdown", add_completion=False, pretty_exceptions_enable=False)
    panel = front_page.MODULES[entry["module"]] if len(path) == 1 else None
    hidden = first in front_page.HIDDEN
    settings = {"help": entry["help"], "epilog": _general(name), "rich_help_panel": panel, "hidden": hidden}
    app.command(path[-1], cls=CheckedCommand, **settings)(run)
    parser: Any = typer.main.get_command(app)
    parser.context_settings = {"help_option_names": ["-h", "--help"]}
    return parser


def _is_shown(one: dict[str, Any]) -> bool:
    """Whether plain --help lists a parameter: not the general ones, which it names in its last line."""
    return not one.get("flags") or (one.get("everyday", True) and one["name"] not in GENERAL)


def _general(name: str) -> str | None:
    """The last line of the help of a command: its general options."""
    flags = [one["flags"][0] for one in entries()[name]["parameters"] if one["name"] in GENERAL and one.get("flags")]
    return f"General options ({', '.join(flags)}): `paraloom {name} --help-all`" if flags else None


def _choice(values: list[str]) -> Any:
    return Enum("Choice", {value: value for value in values})  # type: ignore[misc]


def _parameter(one: dict[str, Any]) -> inspect.Parameter:
    kind: Any = _KINDS.get(one.get("kind", "text"))
    if kind is None:
        kind = _choice(one["choices"])
    required, default = one.get("default") == "required", one.get("default")
    settings = {
        "help": one.get("help"),
        "metavar": one.get("metavar"),
        "min": one.get("low"),
        "rich_help_panel": one.get("panel"),
        "autocompletion": getattr(completion, one["complete"]) if one.get("complete") else None,
    }
    if isinstance(kind, type) and issubclass(kind, Enum) and default is not None and not required:
        default = kind(default)
    if one.get("repeated"):
        kind = list[kind]
    if not required and default is None:
        kind = kind | None
    flags = one.get("flags", ())
    if flags:
        settings["hidden"] = not _is_shown(one)
    annotation = Annotated[kind, typer.Option(*flags, **settings) if flags else typer.Argument(**settings)]
    return inspect.Parameter(
        one["name"],
        inspect.Parameter.KEYWORD_ONLY,
        annotation=annotation,
        default=inspect.Parameter.empty if required else default,
    )


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        for one in context.command.params:
            one.hidden = False  # type: ignore[attr-defined]
        context.command.epilog = None
        typer.echo(context.get_help())
        raise typer.Exit


_HELP_ALL = inspect.Parameter(
    "help_all",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool, typer.Option("--help-all", is_eager=True, callback=_show_all, help="Show all options and exit.")
    ],
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"paraloom {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass


app = typer.Typer(
    name="paraloom",
    cls=FrontPage,
    help="Turn parallel text into paraphrases, sentence embeddings and training data for translation.\n\n"
    "Begin with `paraloom quickstart`. With a bitext of your own: `backtranslate`, `filter`, `explore`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback()(_options)


@cache
def command() -> Any:
    parser: Any = typer.main.get_command(app)
    for one in parser.params:
        one.hidden = one.name in ("install_completion", "show_completion")
    return parser


def main() -> None:
    """Run the command; exit status 0 done, 1 the data or the run is at fault, 2 the call is, from 129 interrupted."""
    warnings.showwarning = _warn  # type: ignore[assignment]
    _shown.clear()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files may be no UTF-8; data are written as bytes.
        sys.stdout.reconfigure(errors="backslashreplace")
    protect_terminals()
    # Before pyarrow is imported. Mimalloc takes three times the system time for a stream of batches, and more memory.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    with rare_collections():
        command()(prog_name="paraloom")


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage seldom: a tenth of the start of a command was spent on it, among what it imports."""
    before = gc.get_threshold()
    gc.set_threshold(50_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


_shown: set[str] = set()
"""The warnings that the current command has printed: Python forgets its own whenever a filter is added."""


def _warn(message: Warning | str, category: type[Warning] = UserWarning, *location: object) -> None:
    """A warning as one line, without its location in our code; not those for developers of a library."""
    if issubclass(category, DeprecationWarning):
        return
    emit("warning", message=str(message))
    if str(message) not in _shown:
        _shown.add(str(message))
        typer.echo(f"paraloom: {message}", err=True)


if __name__ == "__main__":
    main()
