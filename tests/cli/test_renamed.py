"""Options and commands of earlier versions: a usage error that says what they are called now."""

from __future__ import annotations

import pytest
from cli_commands import commands, options
from commands import Command

from paraloom.cli.renamed import COMMANDS, MOVED, OPTIONS, REMOVED_OPTIONS, now_in_a_name

PATHS = {path.removeprefix("research "): path for path in commands()} | {path: path for path in commands()}
NOW = {name: commands()[path] for name, path in PATHS.items()}
CASES = [(command, old, new) for command, renamed in OPTIONS.items() for old, new in renamed.items()]
REMOVED = [(command, old, text) for command, removed in REMOVED_OPTIONS.items() for old, text in removed.items()]
TRANSLATOR = {"name": "translator", "flags": ["--translator"], "role": "translator"}
REVERSE = {"name": "reverse_translator", "flags": ["--reverse-translator"], "role": "translator"}
ARGUMENT = {"name": "translator", "role": "translator"}
PARAPHRASER = {"name": "paraphraser", "flags": ["--paraphraser"], "role": "paraphraser"}
REST = [
    {"name": "source"},
    {"name": "output", "flags": ["-o"]},
    {"name": "force", "flags": ["--force"], "kind": "flag"},
]
TRANSLATOR_NOW = "settings are part of the translator's name now: "
IN_NAMES = [
    ([ARGUMENT], "nllb a.cs --from cs --to en", f"--from: {TRANSLATOR_NOW}'nllb?from=cs&to=en'"),
    ([ARGUMENT], "--force -o b nllb a.cs --precision=int8", f"--precision: {TRANSLATOR_NOW}'nllb?precision=int8'"),
    ([ARGUMENT], "--to en", f"--to: {TRANSLATOR_NOW}'NAME?to=en'"),
    (
        [TRANSLATOR],
        "a.tsv --translator http://h/v1 --model qwen3 --max-requests 9 --endpoint timeout=60 --endpoint a=b&c",
        f"--model: {TRANSLATOR_NOW}--translator 'http://h/v1?model=qwen3&max-requests=9&timeout=60&a=b%26c'",
    ),
    ([REVERSE], "--reverse-translator m --from de", f"--from: {TRANSLATOR_NOW}--reverse-translator 'm?from=de'"),
    (
        [TRANSLATOR, REVERSE],
        "--translator m --reverse-translator n?long=split --from de --to en",
        f"--from: {TRANSLATOR_NOW}--translator 'm?from=de&to=en' --reverse-translator 'n?long=split&from=en&to=de'",
    ),
    (
        [PARAPHRASER],
        "a.txt --forward en-de --backward de-en --pivots 3",
        "--forward: a round trip is one name now: --paraphraser 'round-trip:en-de,de-en,pivots=3'",
    ),
    (
        [PARAPHRASER],
        "--paraphraser http://h/v1 --endpoint-model m --language fr",
        "--endpoint-model: settings are part of the paraphraser's name now: "
        "--paraphraser 'http://h/v1?model=m&language=fr'",
    ),
]


@pytest.mark.parametrize(("command", "old", "new"), CASES)
def test_a_renamed_option_names_the_new_one(paraloom: Command, command: str, old: str, new: str) -> None:
    assert new in options(NOW[command]) and old not in options(NOW[command])
    for argument in (old, f"{old}=1"):
        status, _, err = paraloom(*PATHS[command].split(), argument)
        assert status == 2
        assert f"{old}: this option is now called {new}" in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(("command", "old", "text"), REMOVED)
def test_a_removed_option_says_what_to_write_now(paraloom: Command, command: str, old: str, text: str) -> None:
    assert old not in options(NOW[command])
    status, _, err = paraloom(*PATHS[command].split(), old)
    assert status == 2 and f"{old}: {text}" in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(("named", "typed", "message"), IN_NAMES)
def test_an_option_that_is_part_of_a_name_now(named: list[dict[str, object]], typed: str, message: str) -> None:
    assert now_in_a_name([*named, *REST], typed.split()) == message
    assert now_in_a_name(REST, typed.split()) is None


def test_the_call_to_write_now_is_in_the_error(paraloom: Command) -> None:
    status, _, err = paraloom("translate", "facebook/nllb-200", "news.cs", "--from", "cs", "--to", "en")
    said = " ".join(err.replace("│", " ").split())
    assert status == 2 and f"--from: {TRANSLATOR_NOW}'facebook/nllb-200?from=cs&to=en'" in said


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
