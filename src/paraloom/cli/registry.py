"""Which commands there are: the module that declares each, its place on the front page, and its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

from paraloom.cli.declaration import Command, Parameter
from paraloom.cli.front_page import FRONT, HIDDEN
from paraloom.cli.shared import SHARED


def commands_in(module: str) -> Iterator[Command]:
    yield from map(_placed, import_module(f"paraloom.cli.{module}").DECLARED)


def _placed(command: Command) -> Command:
    """A command by its full name: one without a place on the front page is research."""
    first = command.name.partition(" ")[0]
    if first in FRONT | HIDDEN or first in ("research", "papers"):
        return command
    return replace(command, name=f"research {command.name}")


def find(module: str, name: str) -> Command:
    return next(command for command in commands_in(module) if command.name == name)


def parameters(command: Command) -> list[Parameter]:
    collected = command.parameters()
    names = {one.name for one in collected}
    added = []
    if "output" in names and not command.resumes:
        added.append(_added("force", "flag", False))
    if command.watched:
        added += [_added(name, "text", None) for name in ("log_file", "on_end")]
    if command.device and "device" not in names:
        added.append(_added("device", "text", None))
    if command.run is None and not any("--json" in one.flags for one in collected):
        added.append(_added("as_json", "flag", False))
    return [*collected, *added]


def _added(name: str, kind: str, default: object) -> Parameter:
    said = SHARED[name]
    flags = tuple(said.get("flags", (f"--{name.replace('_', '-')}",)))
    texts = {key: said[key] for key in ("help", "metavar", "panel") if key in said}
    everyday = name in ("as_json", "device")
    return Parameter(name=name, kind=kind, default=default, flags=flags, everyday=everyday, **texts)
