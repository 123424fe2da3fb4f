"""Commands that moved from the front page: the former call works."""

from __future__ import annotations

import pytest
from commands import Command

from paraloom.cli.moved import MOVED


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_a_moved_command_works_and_says_where_it_is_now(paraloom: Command, old: str, new: str) -> None:
    status, out, err = paraloom(old, "--help")
    assert (status, f"'{old}' is now '{new}'" in err) == (0, True)
    assert f"paraloom {new}" in out
