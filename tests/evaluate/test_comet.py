"""COMET in an interpreter of its own: asked, missing, failing, answering nonsense; a made-up interpreter."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paraloom.core.errors import DataError, MissingExtraError, RunError
from paraloom.evaluate.comet import comet_figures, comet_scores, has_comet
from paraloom.stages.translators import EvaluateTranslator

PACKAGE = """
import sys
print("a library that is fond of talking")
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
    """Makes an interpreter whose `comet` predicts by the given code; none: it has no such package."""

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
    scores, made_by = comet_scores(*SIDES, python=interpreter(), model="wmt20-comet-da")
    assert scores == [5 / 6, 1.0]
    assert made_by.startswith("comet|model:wmt20-comet-da|by:unbabel-comet-2.2|version:")


def test_a_mean_has_its_interval() -> None:
    figures = comet_figures([0.2, 0.4, 0.6], "made")
    assert figures["comet"] == pytest.approx(0.4)
    assert figures["comet_interval"] == pytest.approx(1.96 * 0.2 / 3**0.5, rel=1e-3)
    assert comet_figures([0.2], "made")["comet_interval"] is None


def test_what_is_missing_is_named_with_the_way_to_get_it(interpreter: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(MissingExtraError, match=r"left out: there is no interpreter '.*nope'") as missing:
        comet_scores(*SIDES, python=tmp_path / "nope")
    assert "pip install unbabel-comet" in str(missing.value)
    with pytest.raises(MissingExtraError, match="no unbabel-comet"):
        comet_scores(*SIDES, python=interpreter(None))


def test_a_stage_with_comet_is_another_than_one_without(
    interpreter: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def configured(python: object) -> dict[str, object]:
        return EvaluateTranslator(translator="m", pairs="p", comet_python=str(python)).configuration()

    (tmp_path / "comet").mkdir()
    monkeypatch.chdir(tmp_path)
    python = interpreter()
    assert has_comet(str(python)) and not has_comet(str(tmp_path / "nope")) and not has_comet(sys.executable)
    assert configured("") == configured(tmp_path / "nope") == configured(sys.executable) != configured(python)
    # A model that is fetched later is a reason to measure again.
    model = tmp_path / "model.ckpt"
    missing = EvaluateTranslator(translator="m", pairs="p", comet_python=str(python), comet_model=str(model))
    before = missing.configuration()
    model.write_text("weights")
    assert "comet" not in before and missing.configuration()["comet"]


def test_a_model_that_cannot_be_fetched_is_missing(interpreter: Callable[..., Path]) -> None:
    with pytest.raises(MissingExtraError, match=r"there is no model 'nowhere' \(no network"):
        comet_scores(*SIDES, python=interpreter(), model="nowhere")


def test_a_file_that_is_no_program_is_missing(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_bytes(b"\x7fnot a program")
    broken.chmod(0o755)
    with pytest.raises(MissingExtraError, match="cannot be run"):
        comet_scores(*SIDES, python=broken)


@pytest.mark.parametrize(
    ("predict", "message"),
    [
        ('raise RuntimeError("out of memory")', "status 1 and no answer: RuntimeError: out of memory"),
        ('return {"scores": [0.5]}', "1 scores for 2"),
        ('return {"scores": [0.5, float("nan")]}', "no numbers"),
        ("import os; os._exit(0)", "status 0 and no answer"),
    ],
)
def test_a_process_that_fails_is_an_error(interpreter: Callable[..., Path], predict: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        comet_scores(*SIDES, python=interpreter(predict))


def test_counts_that_differ_are_an_error_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 sources, 2 hypotheses and 2 references"):
        comet_scores(["a"], *SIDES[1:], python=tmp_path / "nope")
    with pytest.raises(DataError, match="no sentences"):
        comet_scores([], [], [], python=tmp_path / "nope")


def test_the_command_prints_the_figure(
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
    assert status == 1 and "no interpreter 'nope'" in err
