"""Options and commands of earlier versions: a usage error that says what they are called now."""

from __future__ import annotations

import pytest
from cli_commands import commands, options
from commands import Command

from paraloom.cli.renamed import COMMANDS, MOVED, OPTIONS

PATHS = {path.removeprefix("research "): path for path in commands()} | {path: path for path in commands()}
NOW = {name: commands()[path] for name, path in PATHS.items()}
CASES = [(command, old, new) for command, renamed in OPTIONS.items() for old, new in renamed.items()]


@pytest.mark.parametrize(("command", "old", "new"), CASES)
def test_a_renamed_option_names_the_new_one(paraloom: Command, command: str, old: str, new: str) -> None:
    assert new in options(NOW[command]) and old not in options(NOW[command])
    for argument in (old, f"{old}=1"):
        status, _, err = paraloom(*PATHS[command].split(), argument)
        assert status == 2
        assert f"{old}: this option is now called {new}" in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(("old", "new"), COMMANDS.items())
def test_a_renamed_command_names_the_new_one(paraloom: Command, old: str, new: str) -> None:
    groups = [path.split()[: path.split().index(new)] for path in NOW if new in path.split()]
    assert groups
    for group in groups:
        status, _, err = paraloom(*group, old)
        assert status == 2
        assert f"{old}: this command is now called '{new}'" in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_a_moved_command_works_and_says_where_it_is_now(paraloom: Command, old: str, new: str) -> None:
    status, out, err = paraloom(old, "--help")
    assert (status, f"'{old}' is now '{new}'" in err) == (0, True)
    assert f"paraloom {new}" in out
