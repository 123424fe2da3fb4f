"""Former commands: the call of one that moved works, and that of one that is gone says what to do instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commands import Command

from paraloom import __version__
from paraloom.cli.moved import GONE, MOVED


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_a_moved_command_works_and_says_where_it_is_now(paraloom: Command, old: str, new: str) -> None:
    status, out, err = paraloom(*old.split(), "--help")
    assert (status, f"'{old}' is now '{new}'" in err) == (0, True)
    assert f"paraloom {new.partition(' --')[0]}" in out


@pytest.mark.parametrize(("old", "instead"), GONE.items())
def test_a_command_that_is_gone_says_what_to_do_instead(paraloom: Command, old: str, instead: str) -> None:
    for call in (f"{old} a", f"help {old}", *([] if " " in old else [f"research {old}"])):
        status, _, err = paraloom(*call.split())
        assert (status, "".join(instead.split()) in "".join(err.replace("│", " ").split())) == (2, True), err


def test_a_folder_may_have_the_name_of_a_former_command(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "encoder").mkdir()
    status, _, err = paraloom("distill", "encoder", "--help")
    assert (status, err) == (0, "")


def test_help_and_version_may_be_words(paraloom: Command) -> None:
    assert paraloom("version") == paraloom("--version")
    assert f"paraloom {__version__}" in paraloom("version")[1]
    for command in ([], ["train"], ["train", "encoder"]):
        assert paraloom("help", *command) == paraloom(*command, "--help")


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
    former = re.compile(rf"\bparaloom ({'|'.join(MOVED)}|(?:research )?(?:{'|'.join(GONE)}))(?![\w-])")
    called = {file.name: former.findall(file.read_text(encoding="utf-8")) for file in files}
    assert {name: names for name, names in called.items() if names} == {}
