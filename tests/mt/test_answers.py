"""Checks of answers, prompts, and the store of answers."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest
from processes import environment

from paraloom import ConfigError
from paraloom.mt.answer_store import AnswerStore
from paraloom.mt.answers import check_answer
from paraloom.mt.endpoint_config import EndpointConfig
from paraloom.mt.prompts import find_prompt, prompt_for, prompt_for_lines, read_lines


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("  Good morning \n", "Good morning"),
        ("<think>\nA greeting.\n</think>\nGood morning", "Good morning"),
        ("A greeting.</think>Good morning", "Good morning"),
        ("Translation: Good morning", "Good morning"),
        ("**English translation:** Good morning", "Good morning"),
        ('"Good morning"', "Good morning"),
        ('"Good" and "morning"', '"Good" and "morning"'),
        ("Notes are kept.", "Notes are kept."),
        ("Here is the bus.", "Here is the bus."),
    ],
)
def test_a_translation_passes_without_what_is_around_it(answer: str, text: str) -> None:
    assert check_answer("Guten Morgen", answer) == (text, "")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "empty answer"),
        ("<think>Hm.</think>", "empty answer"),
        ("<think>Hm.", "thinking without an end"),
        ("Good morning\nGood day", "more than one line"),
        ("Sure, here is the translation of it.", "explanation instead of, or beside, the translation"),
        ("Good morning (literally: a good dawn)", "explanation instead of, or beside, the translation"),
        ("I'm sorry, but I cannot translate that.", "refusal"),
        ("As an AI, I have no mornings.", "refusal"),
        ("good " * 20, "a side more than 4 times as long as the other"),
    ],
)
def test_anything_else_is_rejected_with_its_reason(answer: str, reason: str) -> None:
    assert check_answer("Guten Morgen", answer).reason == reason


def test_what_the_source_has_too_is_not_held_against_an_answer() -> None:
    assert check_answer('"Ja"', '"Yes"') == ('"Yes"', "")
    assert check_answer("Antwort: ja", "Answer: yes").text == "Answer: yes"
    assert check_answer("Note: fermé", "Note: closed").reason == ""
    assert check_answer("a" * 100, "b" * 500, max_ratio=0).reason == ""
    assert check_answer("a", "b", cut=True).reason.startswith("the answer was cut off")


def test_prompts_name_languages_in_english() -> None:
    assert "from German into English" in find_prompt("", "deu", "en")
    assert "in other words" in find_prompt("", "en", "English")
    assert find_prompt("", "de", "en", plain=True).endswith("\nEnglish:")
    assert find_prompt("{source_code}>{target_code}: {text}", "German", "en") == "de>en: {text}"
    assert prompt_for("A {text}", "{text} {x}") == "A {text} {x}"


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("chta", "did you mean 'chat'"),
        ("Translate!{source}", "has no {text}"),
        ("{txt}", "unknown field"),
        ("{text", "cannot be read"),
    ],
)
def test_a_wrong_prompt_is_an_error(prompt: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        find_prompt(prompt, "de", "en")


def test_a_language_that_the_prompt_names_must_be_given() -> None:
    with pytest.raises(ConfigError, match="source language"):
        find_prompt("", "", "en")
    assert find_prompt("Simplify: {text}", "", "") == "Simplify: {text}"


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("ga", "Irish/ga"),
        ("Irish", "Irish/ga"),
        ("la", "Latin/la"),
        ("latin", "Latin/la"),
        ("pt-BR", "Portuguese/pt"),
        ("Brazilian Portuguese", "Brazilian Portuguese/brazilian portuguese"),
    ],
)
def test_languages_by_code_and_name(language: str, expected: str) -> None:
    assert find_prompt("{source}/{source_code}{text}", language, "en") == f"{expected}{{text}}"


@pytest.mark.parametrize("language", ["xx", "xx-YY", "tlh", "und", "x y"])
def test_an_unknown_language_is_an_error(language: str) -> None:
    with pytest.raises(ConfigError, match=rf"unknown target language '{language}'.\nGive 'to' as a code"):
        find_prompt("", "de", language)
    assert find_prompt("Into Klingon: {text}", "de", language) == "Into Klingon: {text}"


def test_a_misspelt_language_is_an_error() -> None:
    with pytest.raises(ConfigError, match="unknown source language 'Grman'; did you mean 'German'"):
        EndpointConfig(url="http://127.0.0.1:9/v1", model="m", source="Grman", target="en")


def test_numbered_lines_must_have_their_numbers() -> None:
    assert prompt_for_lines("{text}", ["a", "b"]).endswith("1. a\n2. b")
    assert read_lines("1. x\n\n 2: y ", 2) == ["x", "y"]
    for wrong in ("1. x", "1. x\n2. y\n3. z", "2. x\n1. y", "x\ny", "Here:\n1. x\n2. y", "1. x\n2. y\nNote"):
        assert read_lines(wrong, 2) is None, wrong


def test_a_store_keeps_answers_and_counts(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.sqlite"
    store = AnswerStore(path)
    assert [store.take_request(2) for _ in range(3)] == [None, None, "requests"]
    store.put("d", {"choices": [["x", None, 1, False]]}, input_tokens=3, output_tokens=4)
    assert store.take_request(0, 7) == "tokens"
    assert (store.fail("r", "empty"), store.fail("r", "refusal"), store.fail("s", "empty")) == (1, 1, 2)
    store.succeed("r")
    store.keep_fact("n", True)
    # Not closed, as after a kill:
    again = AnswerStore(path)
    assert again.get("d") == {"choices": [["x", None, 1, False]]}
    assert (again.fact("n"), again.fact("m"), again.failures) == (True, None, 1)
    assert again.totals() == {"requests": 2, "answers": 1, "input_tokens": 3, "output_tokens": 4, "retries": 0}
    again.sync()


@pytest.mark.slow
def test_answers_outlive_other_processes_that_end(tmp_path: Path) -> None:
    """A file that is opened and closed again loses its locks; then whoever ends deletes the log that others write."""
    path = tmp_path / "a.sqlite"
    code = """
import sys
from pathlib import Path
from paraloom.mt.answer_store import AnswerStore
store = AnswerStore(Path(sys.argv[1]))
for line in sys.stdin:
    store.put(line.strip(), {})
    store.sync()
    print("kept", flush=True)
"""
    worker = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdin is not None and worker.stdout is not None
    for name in ("before", "after"):
        worker.stdin.write(f"{name}\n")
        worker.stdin.flush()
        assert worker.stdout.readline() == "kept\n"
        if name == "before":
            other = AnswerStore(path)
            other.put("other", {})
            other.close()
    worker.kill()
    worker.communicate()
    store = AnswerStore(path)
    assert [store.get(name) for name in ("before", "other", "after")] == [{}, {}, {}]


def _take(path: str, taken: object) -> None:
    store = AnswerStore(Path(path))
    for _ in range(60):
        if store.take_request(100) is None:
            with taken.get_lock():  # type: ignore[attr-defined]
                taken.value += 1  # type: ignore[attr-defined]


@pytest.mark.slow
def test_workers_share_a_budget(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    AnswerStore(path).close()
    context = multiprocessing.get_context("fork")
    taken = context.Value("i", 0)
    workers = [context.Process(target=_take, args=(str(path), taken)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert taken.value == 100


def test_another_file_is_not_taken_for_a_store(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_text("not a database, but a text that is longer than the header of one\n" * 20)
    with pytest.raises(ConfigError, match="not a file of answers"):
        AnswerStore(tmp_path / "a.sqlite")
