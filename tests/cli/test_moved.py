"""Commands that moved from the front page: the former call works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commands import Command

from paraloom.cli.moved import MOVED


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_a_moved_command_works_and_says_where_it_is_now(paraloom: Command, old: str, new: str) -> None:
    status, out, err = paraloom(old, "--help")
    assert (status, f"'{old}' is now '{new}'" in err) == (0, True)
    assert f"paraloom {new}" in out


@pytest.mark.parametrize(("group", "known"), [("", "--help lists them"), ("align", "sentences, documents, pivot")])
def test_a_file_in_the_place_of_a_command_is_told(paraloom: Command, tmp_path: Path, group: str, known: str) -> None:
    (tmp_path / "text.de").write_text("Guten Morgen.\n", encoding="utf-8")
    status, _, err = paraloom(*group.split(), str(tmp_path / "text.de"))
    assert status == 2
    assert "is a file: a command comes before it" in " ".join(err.replace("│", " ").split())
    assert known in " ".join(err.replace("│", " ").split())


def test_no_page_and_no_message_calls_a_command_by_its_former_name() -> None:
    root = Path(__file__).parents[2]
    folders = (("docs", ".md"), ("src", ".py"), ("examples", ".toml"))
    files = [root / "README.md", *(file for name, end in folders for file in (root / name).rglob(f"*{end}"))]
    former = re.compile(rf"\bparaloom ({'|'.join(MOVED)})(?![\w-])")
    called = {file.name: former.findall(file.read_text(encoding="utf-8")) for file in files}
    assert {name: names for name, names in called.items() if names} == {}
