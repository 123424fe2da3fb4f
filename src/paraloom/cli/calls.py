"""The call of a command: its inputs fetched, its output protected, its end reported, its errors one message."""

from __future__ import annotations

import errno
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraloom import api
from paraloom.cli import registry, watching
from paraloom.cli.declaration import Command, Parameter, converted, parameters_of
from paraloom.cli.output import print_usage, show, start_clock
from paraloom.cli.values import pairs
from paraloom.core.arrow import start_without_pandas
from paraloom.core.digests import digest
from paraloom.core.errors import ConfigError, ParaloomError, is_interruption, printable
from paraloom.core.lazy import late
from paraloom.core.optional import installable, missing_extra
from paraloom.core.remote_files import as_url, is_url
from paraloom.core.secrets import redacted
from paraloom.core.version import __version__

if TYPE_CHECKING:
    from paraloom.core.devices import Device

_split_reference = late("paraloom.core.references:split_reference")

PIPE = "-"
"""Standard input and output."""

_WITHOUT_EFFECT = frozenset(["output", "workers", "threads", "engine", "as_json", "language_check", "check_languages"])
"""Parameters that do not change the output."""

_ADDRESSES = frozenset(["address"])
"""Parameters that name a server, not a file."""

_TO_URLS = frozenset(["run", "publish"])
"""Commands whose output may be a URL."""

_READS_URLS = frozenset(["status"])
"""Commands that read what is at a URL themselves."""

_SERVERS = frozenset(["translator", "paraphraser"])
"""Roles of values that may name a server."""


def call(entry: Mapping[str, Any], name: str, values: dict[str, Any]) -> None:
    """Call a command of the index, with errors as one message and no traceback, and how to resume when interrupted."""
    start_without_pandas()
    start_clock()
    try:
        with watching.signals_as_interrupts():
            _call(registry.find(entry["module"], name), map(Parameter.from_dict, entry["parameters"]), values)
    except ParaloomError as error:
        _fail(installable(str(error)))
    except ImportError as error:
        if (missing := missing_extra(error)) is None:
            raise
        _fail(installable(str(missing)))
    except RecursionError:
        _fail("the input is nested too deeply.")
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise  # The reader of the output is gone; click ends quietly.
        where = f"{printable(str(error.filename))}: " if error.filename is not None else ""
        _fail(f"{where}{error.strerror or error}.")
    except (KeyboardInterrupt, RuntimeError) as error:
        if not is_interruption(error):
            raise
        message = str(error) if isinstance(error, KeyboardInterrupt) else ""
        typer.echo(f"\nparaloom: {message or _interrupted(entry, name, values)}", err=True)
        raise typer.Exit(watching.interrupted_status()) from None


def _interrupted(entry: Mapping[str, Any], name: str, values: Mapping[str, Any]) -> str:
    """What the same command does after an interruption outside of a run, which would say so itself."""
    output = str(values.get("output") or PIPE)
    asked = api.with_answers(str(values.get("translator") or ""), output)
    answers = _split_reference(asked)[1].get("answers")
    if (
        registry.find(entry["module"], name).resumes
        or is_url(output)
        or Path(f"{output.rstrip('/')}{api.WORK}").exists()
    ):
        return "interrupted; the same command again resumes"
    if answers and Path(answers).exists():
        return f"interrupted; the same command starts from the beginning, with the answers that {answers} keeps"
    return f"interrupted{'; the same command starts from the beginning' if 'output' in values else ''}"


def _fail(message: str) -> None:
    typer.echo(f"paraloom: {message}", err=True)
    raise typer.Exit(1) from None


def _call(command: Command, parameters: Iterable[Parameter], values: dict[str, Any]) -> None:
    declared = {one.name: one for one in parameters}
    for name, one in declared.items():
        _check_name(one, values.get(name))
    watched = {name: values.pop(name, None) for name in ("log_file", "on_end")}
    for name, value in values.items():
        if name in _ADDRESSES or (name in declared and declared[name].role in _SERVERS):
            continue
        if name != "output":
            values[name] = value if command.name in _READS_URLS else _local(value)
        elif str(value) == "/dev/stdout" and not command.resumes:
            values[name] = type(value)(PIPE)
        elif is_url(value) and _plain(command) not in _TO_URLS:
            raise ConfigError(
                "cannot write to a URL: only the folder of a run, and what `publish` writes, may be one",
                file=redacted(as_url(value)),
                remedy="Name a file or folder on this machine, and copy it then.",
            )
    plain = _plain(command)
    with ExitStack() as stack:
        if command.watched:
            stack.enter_context(watching.watched(plain, values, **watched))
        _protected(command, plain, declared, values)


def _check_name(declared: Parameter, value: object) -> None:
    """An empty argument, such as an unset variable of a script, would be the current folder."""
    given = value if isinstance(value, (list, tuple)) else [value]
    if (declared.role or not declared.flags) and value != declared.default and "" in given:
        name = declared.flags[0] if declared.flags else (declared.metavar or "").strip("[]")
        raise typer.BadParameter("an empty string; is a variable of the shell not set?", param_hint=name)


def _plain(command: Command) -> str:
    """The name of a command without the group that it is in for want of a place on the front page."""
    return command.name.removeprefix("research ")


def _protected(command: Command, name: str, declared: Mapping[str, Parameter], values: dict[str, Any]) -> None:
    """Call the command; before any work its output is checked, and nothing is replaced without --force.

    It has nothing to do if the output was made by the same command with the same settings from inputs of the same
    content.
    """
    force, output = values.pop("force", False), values.get("output")
    if "output" not in declared or command.resumes or _is_unprotected(output, values):
        _run(command, declared, values)
        return
    assert output is not None
    inputs = list(_inputs(declared, values))
    api.check_output(output, inputs)
    recipe = _recipe(name, values, inputs)
    if not force and api.is_up_to_date(output, name, recipe):
        typer.echo(f"paraloom: {output} is up to date, nothing to do (--force makes it again)", err=True)
        if values.get("as_json"):
            typer.echo(json.dumps({"output": str(output), "up_to_date": True}))
        return
    with api.set_aside(output):
        _run(command, declared, values)
    api.record_output(output, name, recipe)


def _run(command: Command, declared: Mapping[str, Parameter], values: dict[str, Any]) -> None:
    functions, given = command.functions(), dict(values)
    used = _use_device(declared, given) if command.device else None
    own = {name for name, _ in parameters_of(command.run)} if command.run is not None else set()
    # A value that was not given has the default of the function or the stage.
    given = {name: value for name, value in given.items() if name in own or _is_given(declared[name], value)}
    converted(declared, functions, given)
    opened = _opened(declared, given, api.precision_on(used, None))
    if command.run is not None:
        command.run(**given)
    else:
        given.pop("as_json", None)
        result = functions[0](**given)
        if command.show is not None:
            command.show(result, values)
        else:
            show(result, values, command.then)
    for model in opened:
        print_usage(model)


def _use_device(declared: Mapping[str, Parameter], values: dict[str, Any]) -> Device | None:
    """Run models on the device that is named, which is taken out of the values; as many workers as it takes."""
    used = api.use_device(values.pop("device"))
    translators = [name for name, one in declared.items() if one.role == "translator"]
    if used is not None and translators and not any(values.get(name) for name in translators):
        raise ConfigError("--device is for a translator", remedy="Name one, or leave the option out.")
    if "workers" in values:
        values["workers"] = api.workers_on(used, values["workers"])
    return used


def _is_given(declared: Parameter, value: object) -> bool:
    return value is not None and (value is not False or declared.default is True)


def _opened(declared: Mapping[str, Parameter], values: dict[str, Any], precision: str | None) -> list[Any]:
    """Replace names by what they stand for, in place: pairs, encoders, and the translators that are returned."""
    opened = []
    for name, value in values.items():
        role = declared[name].role
        if role == "pairs" and value:
            values[name] = pairs(value)
        elif role == "encoder" and value == "none":
            values[name] = None
        elif role == "translator" and value is not None:
            output = str(values.get("output") or PIPE)
            named = [
                api.named_translator(one, output=output, precision=precision)
                for one in (value if isinstance(value, list) else [value])
            ]
            values[name] = named if isinstance(value, list) else named[0]
            opened += named
    return opened


def _is_unprotected(output: Any, values: Mapping[str, Any]) -> bool:
    """Whether the output is not a file or folder that could be replaced."""
    if output is None or str(output) == "" or api.is_output_stream(output) or is_url(output):
        return True
    return bool(values.get("preview") or values.get("plan"))


def _inputs(declared: Mapping[str, Parameter], values: Mapping[str, Any]) -> Iterator[Path]:
    """The files and folders that the values of a command's parameters name."""
    for name, value in values.items():
        if name in _WITHOUT_EFFECT or declared[name].role in ("", "output"):
            continue
        for text in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(text, (str, Path)):
                yield from _files(str(text))


def _files(text: str) -> Iterator[Path]:
    # COLUMN=FILE, FILE,FILE, @FILE and FOLDER?from=de name files, too.
    parts = [text, text.partition("=")[2], text.removeprefix("@"), text.partition("?")[0], *text.split(",")]
    for part in dict.fromkeys(parts):
        for path in api.files_named(part) if part else ():
            try:
                exists = path.exists()
            except (OSError, ValueError):  # a condition or a title is not a path
                continue
            if exists:
                yield path


def _recipe(name: str, values: Mapping[str, object], inputs: Sequence[Path]) -> str:
    """A digest of everything that the output depends on; never the same where standard input is read."""
    settings = {key: value for key, value in values.items() if key not in _WITHOUT_EFFECT}
    unknown = secrets.token_hex() if PIPE in settings.values() else ""
    described = {key: repr(str(value) if isinstance(value, Path) else value) for key, value in settings.items()}
    return digest([__version__, name, described, api.content_digest(list(inputs)), unknown])


def _local(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_local(item) for item in value)
    if not is_url(value):
        return value
    path = api.fetch_input(value)
    return str(path) if isinstance(value, str) else path
