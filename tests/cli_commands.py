"""The commands of the command line, for tests that go over all of them."""

from __future__ import annotations

from typing import Any

from typer.main import get_command

from paraloom.cli.main import app


def commands() -> dict[str, Any]:
    """Command, such as `train encoder` → the object that parses its arguments."""

    def walk(command: Any, path: tuple[str, ...]) -> dict[str, Any]:
        members = getattr(command, "commands", None)
        if members is None:
            return {" ".join(path): command}
        return {key: leaf for name, member in members.items() for key, leaf in walk(member, (*path, name)).items()}

    return walk(get_command(app), ())


def options(command: Any) -> set[str]:
    """The options of a command, such as `--output`."""
    return {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
