"""Commands that translate check their input: languages, and what translations cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Command
from openai_server import OpenAIServer, serve

from paraloom.api import evaluate_translator
from paraloom.core.errors import ConfigError
from paraloom.mt.translator import Translator

PASSAGES = Path(__file__).parents[1] / "data/passages.de-en.tsv"
SAMPLE = [line.split("\t") for line in PASSAGES.read_text(encoding="utf-8").splitlines()[1:81]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """mine.de and mine.en, 80 lines each."""
    for side, language in enumerate(("de", "en")):
        (tmp_path / f"mine.{language}").write_text("".join(f"{row[side]}\n" for row in SAMPLE), encoding="utf-8")
    return tmp_path


def test_swapped_sides_are_an_error_with_the_fix(paraloom: Command, folder: Path) -> None:
    arguments = ("backtranslate", "mine.{en,de}", "--translator", "de-en", "-o", "pairs.tsv", "--engine", "inline")
    status, _, err = paraloom(*arguments)
    assert status == 1 and not (folder / "pairs.tsv").exists()
    assert "the sides are swapped: 'src' is English and 'tgt' is German (rows such as mine:" in err
    assert "the translator translates de → en" in err and "--side tgt" in err and "--no-language-check" in err
    assert paraloom(*arguments, "--side", "tgt")[0] == 0
    assert (folder / "pairs.tsv").read_text(encoding="utf-8").count("\n") >= 80


def test_a_line_that_is_too_long_is_split_or_rejected(paraloom: Command, folder: Path) -> None:
    (folder / "long.de").write_text("Der Hund läuft durch den Park. " * 80 + "\nEin Hund läuft.\n", encoding="utf-8")
    assert paraloom("translate", "de-en", "long.de", "-o", "split.txt")[0] == 0
    first, second = (folder / "split.txt").read_text(encoding="utf-8").splitlines()
    assert first.count(".") >= 80 and second
    status, _, _ = paraloom("translate", "de-en?long=reject", "long.de", "-o", "out.txt")
    assert status == 0
    assert (folder / "out.txt").read_text(encoding="utf-8").splitlines()[0] == ""
    (row,) = (folder / "out.txt.rejected.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(row)["row"] == 1 and "256 subwords" in json.loads(row)["reason"]
    status, _, err = paraloom("translate", "de-en?long=error", "long.de", "-o", "none.txt")
    assert status == 1 and "row 1" in err and not (folder / "none.txt").exists()


@pytest.mark.slow
def test_text_of_another_language_is_an_error(paraloom: Command, folder: Path) -> None:
    status, _, err = paraloom("translate", "de-en", "mine.en", "-o", "out.txt")
    assert status == 1 and not (folder / "out.txt").exists()
    assert err.startswith("paraloom: mine.en: the text to translate, 'text', is English (rows such as ")
    assert paraloom("translate", "de-en", "mine.en", "-o", "out.txt", "--no-language-check")[0] == 0
    assert paraloom("translate", "de-en", "mine.de", "-o", "out.txt", "--force")[0] == 0
    for command in (("variants", "mine.en", "--engine", "inline"), ("augment", "mine.en", "--engine", "inline")):
        status, _, err = paraloom(*command, "--translator", "de-en", "-o", "out.tsv")
        assert status == 1 and "the text to translate, 'text', is English" in err


@pytest.mark.slow
def test_costs_are_saved_with_a_translator(paraloom: Command, folder: Path) -> None:
    model = Translator.load("de-en").save(folder / "own")
    (model / "costs.json").unlink()
    status, out, _ = paraloom("evaluate", "translator", "own", "mine.{de,en}", "--json")
    figures = json.loads(out)
    assert status == 0 and figures["development_cost_percentiles"] is None and not (model / "costs.json").exists()
    assert figures["n"] == 80 and figures["bleu"] > 0 and "version:" in figures["chrf_signature"]
    assert paraloom("evaluate", "translator", "own", "mine.{de,en}", "--save-costs")[0] == 0
    saved = json.loads((model / "costs.json").read_text())
    assert saved["text"] == "80 pairs of mine.{de,en}" and saved["percentiles"] == figures["cost_percentiles"]
    status, out, _ = paraloom("evaluate", "translator", "own", "mine.{de,en}")
    assert status == 0 and out.count("50 %: ") == 2


def test_costs_of_a_few_sentences_are_not_saved(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "few.de-en.tsv").write_text("Hallo.\tHello.\n" * 3)
    status, _, err = paraloom("evaluate", "translator", "de-en", "few.de-en.tsv", "--save-costs")
    assert status == 1 and "3 sentences are too few" in err


def test_a_folder_that_cannot_be_written_to_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("paraloom.api.evaluate.write_costs", refuse)
    with pytest.raises(ConfigError, match="cannot be written to: Permission denied"):
        evaluate_translator("de-en", f"{folder}/mine.{{de,en}}", save_costs=True)


def test_more_commands_take_the_settings_of_translators(paraloom: Command, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("Das ist ein Hund.\nDas ist eine Katze.\n", encoding="utf-8")
    other = tmp_path / "other.txt"
    other.write_text("This is a dog.\nThis is a cat.\n", encoding="utf-8")
    with serve(OpenAIServer(translate=lambda line, body: line)) as server:
        asked = ["--translator", f"{server.url}?model=m&from=de&to=en"]
        output = tmp_path / "bitext.tsv"
        status, _, errors = paraloom(
            "augment", text, *asked, "--method", "base", "--outputs", 1, "-o", output, "--no-language-check"
        )
        assert status == 1 and "beam search" in errors
        status, _, errors = paraloom(
            "augment", text, *asked, "--method", "sampling", "--outputs", 1, "-o", output, "--no-language-check"
        )
        assert status == 0, errors
        assert "requests" in errors
        asked = ["--translator", f"{server.url}?model=m&from=de&to=en"]
        status, _, errors = paraloom("align", "sentences", text, other, *asked, "-o", tmp_path / "beads.vecalign")
        assert status == 0, errors
        assert "requests" in errors
        status, _, errors = paraloom("score", output, "-o", tmp_path / "scored.tsv", *asked)
        assert status == 1 and "cannot score given translations" in errors


def test_evaluations_take_any_translator(paraloom: Command, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.de-en.tsv"
    pairs.write_text("ein hund\tEIN HUND\neine katze\tEINE KATZE\nnichts\tnothing\n", encoding="utf-8")
    gold = tmp_path / "gold.jsonl"
    document = {"source": ["ein hund", "nichts"], "target": ["EIN HUND", "NICHTS"], "gold": [[[0], [0]], [[1], [1]]]}
    gold.write_text(json.dumps(document) + "\n", encoding="utf-8")

    def upper_or_nothing(line: str, body: object) -> str:
        return "" if line == "nichts" else line.upper()

    with serve(OpenAIServer(translate=upper_or_nothing, supports=frozenset())) as server:
        model = f"{server.url}?model=m&from=de&to=en"
        status, out, errors = paraloom("evaluate", "translator", model, pairs, "--json")
        assert status == 0, errors
        figures = json.loads(out)
        assert (figures["n"], figures["failed"], figures["cost_percentiles"]) == (3, 1, None)
        assert "requests" in errors
        status, out, _ = paraloom("evaluate", "translator", model, pairs)
        assert status == 0 and "1 of 3 sentences have no translation" in out and "unknown" in out
        status, _, errors = paraloom("evaluate", "translator", model, pairs, "--save-costs")
        assert status == 1 and "Leave out --save-costs" in errors
        status, out, errors = paraloom("evaluate", "aligner", gold, "--translator", model, "--json")
        assert status == 0, errors
        assert "requests" in errors
        status, _, errors = paraloom("evaluate", "translator", f"{server.url}?model=m&from=xx&to=en", pairs)
        assert status == 1 and "unknown source language 'xx'" in errors
        for command in (
            ("filter", pairs, "--preset", "loose", "-o", tmp_path / "kept.tsv"),
            ("evaluate", "lookalikes", pairs),
        ):
            status, _, errors = paraloom(*command, "--reverse-translator", model)
            assert status == 1 and "cannot score given translations" in errors


def test_a_translator_is_evaluated_with_its_settings(paraloom: Command, folder: Path) -> None:
    assert paraloom("evaluate", "translator", "de-en", "mine.{de,en}", "--device", "cpu", "--json")[0] == 0
    status, _, errors = paraloom("evaluate", "translator", "de-en?model=m", "mine.{de,en}")
    assert status == 1 and "the translator 'de-en' has no setting 'model'" in errors


def test_options_of_translators_without_a_translator(paraloom: Command, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.de-en.tsv"
    pairs.write_text("Ein Hund.\tA dog.\n", encoding="utf-8")
    for command in (("score", pairs, "-o", tmp_path / "o.tsv"), ("filter", pairs, "--where", "true", "-o", "o.tsv")):
        status, _, errors = paraloom(*command, "--device", "cpu")
        assert status == 1 and "--device is for a translator" in errors


@pytest.mark.parametrize("command", [("translate", "de-en"), ("paraphrase",)])
def test_the_columns_of_a_table_are_not_one_text(command: tuple[str, ...], paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("Guten Morgen.\tGood morning.\n", encoding="utf-8")
    status, _, err = paraloom(*command, "pairs.tsv")
    assert status == 1 and "a table of 2 columns" in err and "--column" in err
