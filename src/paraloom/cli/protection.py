"""Commands with an output: it is checked before any work, nothing is replaced without --force, or made twice."""

from __future__ import annotations

import inspect
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any, get_type_hints

import typer

from paraloom import api
from paraloom.cli import options
from paraloom.core.digests import digest
from paraloom.core.version import __version__

PIPE = "-"
"""Standard input and output."""

RUNS = frozenset(["run", "tune", "diversity", "papers run", "research selftrain", "research augment"])
"""Commands whose output is a run folder, which says itself what is done; they resume."""

PAGES = frozenset(["report", "show documents"])
"""Commands whose output is a page that is made again at will."""

_WITHOUT_EFFECT = frozenset(["output", "workers", "threads", "engine", "as_json", "language_check"])
"""Parameters that do not change the output."""


def protected(command: Callable[..., None], name: str) -> Callable[..., None]:
    """The command with the option --force; without it, an existing output is not replaced.

    Before any work, the command fails if its output cannot be written, is one of its inputs, or exists already; it has
    nothing to do if the output was made by the same command with the same settings from inputs of the same content.

    Args:
        command: The function of the command; a parameter `output` is what it writes.
        name: The command, such as `train encoder`.

    Returns:
        The command itself, if it does not have an output of this kind.
    """
    signature = inspect.signature(command)
    if "output" not in signature.parameters or name in RUNS | PAGES:
        return command

    @wraps(command)
    def run(*, force: bool = False, **values: Any) -> None:
        output = values["output"]
        if _is_unprotected(output, values):
            command(**values)
            return
        inputs = list(_inputs(values))
        api.check_output(output, inputs)
        recipe = _recipe(name, values, inputs)
        if not force and api.is_up_to_date(output, name, recipe):
            typer.echo(f"paraloom: {output} is up to date, nothing to do (--force makes it again)", err=True)
            if values.get("as_json"):
                typer.echo(json.dumps({"output": str(output), "up_to_date": True}))
            return
        with api.set_aside(output):
            command(**values)
        api.record_output(output, name, recipe)

    # Typer reads options from the signature: that of the command, and --force.
    hints = get_type_hints(command, include_extras=True)
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        for parameter in signature.parameters.values()
    ]
    force = inspect.Parameter("force", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=options.Force)
    run.__signature__ = signature.replace(parameters=[*parameters, force])  # type: ignore[attr-defined]
    return run


def _is_unprotected(output: str | Path | None, values: Mapping[str, Any]) -> bool:
    """Whether the output is not a file or folder that could be replaced."""
    if output is None or str(output) == PIPE or api.is_device(output):
        return True
    return bool(values.get("preview"))


def _inputs(values: Mapping[str, Any]) -> Iterator[Path]:
    """The files and folders that the values of a command's parameters name."""
    for name, value in values.items():
        if name in _WITHOUT_EFFECT:
            continue
        for text in value if isinstance(value, (list, tuple)) else [value]:
            # A choice, such as `--method grammar`, is not a file, whatever lies in this folder.
            if isinstance(text, (str, Path)) and not isinstance(text, Enum):
                yield from _files(str(text))


def _files(text: str) -> Iterator[Path]:
    # COLUMN=FILE, FILE,FILE and @FILE name files, too.
    for part in dict.fromkeys([text, text.partition("=")[2], text.removeprefix("@"), *text.split(",")]):
        for path in api.files_named(part) if part else ():
            try:
                exists = path.exists()
            except (OSError, ValueError):  # a condition or a title is not a path
                continue
            if exists:
                yield path


def _recipe(name: str, values: Mapping[str, Any], inputs: list[Path]) -> str:
    """A digest of everything that the output depends on; never the same where standard input is read."""
    settings = {key: value for key, value in values.items() if key not in _WITHOUT_EFFECT}
    unknown = secrets.token_hex() if PIPE in settings.values() else ""
    described = {key: repr(str(value) if isinstance(value, Path) else value) for key, value in settings.items()}
    return digest([__version__, name, described, api.content_digest(inputs), unknown])
