"""COMET by an interpreter of its own: scores, missing packages, failures; with a made-up interpreter."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paraloom.core.errors import DataError, MissingExtraError, RunError
from paraloom.evaluate.comet import COMETResult, evaluate_comet, has_comet
from paraloom.stages.translators import EvaluateTranslator

PACKAGE = """
import sys
print("a library that prints a lot")
def download_model(name):
    if name == "nowhere":
        raise OSError("no network")
    return name
class Model:
    def predict(self, sentences, batch_size, gpus, progress_bar):
        {predict}
def load_from_checkpoint(path):
    return Model()
"""
SCORES = 'return {"scores": [len(s["mt"]) / len(s["ref"]) + 0 * len(s["src"]) for s in sentences]}'


@pytest.fixture
def interpreter(tmp_path: Path) -> Callable[..., Path]:
    """Makes an interpreter whose `comet` predicts by the given code; without one it lacks the package."""

    def make(predict: str | None = SCORES) -> Path:
        packages = tmp_path / "packages"
        (packages / "unbabel_comet-2.2.dist-info").mkdir(parents=True)
        (packages / "unbabel_comet-2.2.dist-info" / "METADATA").write_text("Name: unbabel-comet\nVersion: 2.2\n")
        if predict is not None:
            (packages / "comet.py").write_text(PACKAGE.format(predict=predict))
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}" exec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        return python

    return make


SIDES = (["ein Hund", "eine Katze"], ["a dog", "a cät"], ["a dog!", "a cat"])


def test_scores_come_back_in_order_with_their_signature(interpreter: Callable[..., Path]) -> None:
    result = evaluate_comet(*SIDES, python=interpreter(), model="wmt20-comet-da")
    assert result.scores == (5 / 6, 1.0)
    assert result.select([1]).scores == (1.0,)
    assert result.signature.startswith("comet|model:wmt20-comet-da|by:unbabel-comet-2.2|version:")


def test_a_mean_has_its_interval() -> None:
    figures = COMETResult((0.2, 0.4, 0.6), "signature").to_dict()
    assert figures["comet"] == pytest.approx(0.4)
    assert figures["comet_interval"] == pytest.approx(1.96 * 0.2 / 3**0.5, rel=1e-3)
    assert COMETResult((0.2,), "signature").to_dict()["comet_interval"] is None


def test_a_missing_interpreter_or_package_is_named_with_the_remedy(
    interpreter: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(MissingExtraError, match=r"COMET skipped: interpreter '.*nope' not found") as missing:
        evaluate_comet(*SIDES, python=tmp_path / "nope")
    assert "pip install unbabel-comet" in str(missing.value)
    with pytest.raises(MissingExtraError, match="no unbabel-comet"):
        evaluate_comet(*SIDES, python=interpreter(None))


@pytest.mark.slow
def test_a_stage_with_comet_has_another_configuration_than_one_without(
    interpreter: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def configured(python: object) -> dict[str, object]:
        return EvaluateTranslator(translator="m", pairs="p", comet_python=str(python)).configuration()

    (tmp_path / "comet").mkdir()
    monkeypatch.chdir(tmp_path)
    python = interpreter()
    assert has_comet(str(python)) and not has_comet(str(tmp_path / "nope")) and not has_comet(sys.executable)
    assert configured("") == configured(tmp_path / "nope") == configured(sys.executable) != configured(python)
    # A model that is downloaded later is a reason to evaluate again.
    model = tmp_path / "model.ckpt"
    missing = EvaluateTranslator(translator="m", pairs="p", comet_python=str(python), comet_model=str(model))
    before = missing.configuration()
    model.write_text("weights")
    assert "comet" not in before and missing.configuration()["comet"]


def test_a_model_that_cannot_be_fetched_is_missing(interpreter: Callable[..., Path]) -> None:
    with pytest.raises(MissingExtraError, match=r"COMET skipped: model 'nowhere' not found \(no network"):
        evaluate_comet(*SIDES, python=interpreter(), model="nowhere")


def test_a_file_that_is_not_a_program_is_missing(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_bytes(b"\x7fnot a program")
    broken.chmod(0o755)
    with pytest.raises(MissingExtraError, match="cannot be run"):
        evaluate_comet(*SIDES, python=broken)


@pytest.mark.parametrize(
    ("predict", "message"),
    [
        ('raise RuntimeError("out of memory")', "status 1 and no answer: RuntimeError: out of memory"),
        ('return {"scores": [0.5]}', "expected 2 finite scores, got 1"),
        ('return {"scores": [0.5, float("nan")]}', "not finite"),
        ("import os; os._exit(0)", "status 0 and no answer"),
    ],
)
def test_a_process_that_fails_is_an_error(interpreter: Callable[..., Path], predict: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        evaluate_comet(*SIDES, python=interpreter(predict))


def test_unequal_numbers_of_sentences_are_an_error_before_the_interpreter_is_called(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 sources, 2 hypotheses and 2 references"):
        evaluate_comet(["a"], *SIDES[1:], python=tmp_path / "nope")
    with pytest.raises(DataError, match="no sentences"):
        evaluate_comet([], [], [], python=tmp_path / "nope")


def test_the_command_prints_the_score(
    interpreter: Callable[..., Path], paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    for name, lines in zip(("src", "hyp", "ref"), SIDES, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    python = interpreter()
    status, out, _ = paraloom("evaluate", "comet", "src", "hyp", "ref", "--python", python)
    assert status == 0 and out.startswith("COMET 0.9167 ± ")
    status, out, _ = paraloom("evaluate", "comet", "src", "hyp", "ref", "--python", python, "--json")
    assert json.loads(out)["n"] == 2
    status, _, err = paraloom("evaluate", "comet", "src", "hyp", "ref", "--python", "nope")
    assert status == 1 and "interpreter 'nope' not found" in err
