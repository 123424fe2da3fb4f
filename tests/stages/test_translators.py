"""Stages of translators: one is evaluated on all test pairs and on groups of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stage_runs import run_toml, write_pairs
from tiny_metrics import COMET_MODELS, save_tiny_comet
from toy_language import bitext

from paraloom.core.errors import ConfigError
from paraloom.evaluate.translation import evaluate_translation
from paraloom.papers.bbh22.translator_comparison import CompareTranslators
from paraloom.text.learned_metrics import Comet


def test_a_translator_is_evaluated_on_each_group(toy_translator: Path, tmp_path: Path) -> None:
    pairs = bitext(30, seed=4)
    (tmp_path / "news.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    (tmp_path / "sets.tsv").write_text(
        "set\tfirst_row\tlast_row\trows\nkal-eng/one\t1\t10\t10\nkal-eng/two\t11\t15\t5\neng-kal/two\t16\t29\t14\n"
    )
    result = run_toml(
        '[[stage]]\nuse = "read-pairs"\nsource = "news.tsv"\n'
        '[[stage]]\nuse = "evaluate-translator"\npairs = "read-pairs"\n'
        f'translator = "{toy_translator}"\nsets = "sets.tsv"\n',
        tmp_path,
    ).stages[-1]
    assert {group["group"]: group["n"] for group in result.figures["groups"]} == {
        "kal-eng": 15, "kal-eng/one": 10, "kal-eng/two": 5, "eng-kal": 14, "eng-kal/two": 14,
    }  # fmt: skip
    hypotheses = (result.folder / "artifact" / "hypotheses.txt").read_text().splitlines()
    expected = evaluate_translation(hypotheses[15:29], [target for _, target in pairs[15:29]]).to_dict()
    stored = json.loads((result.folder / "artifact" / "result.json").read_text())
    assert stored["n"] == 30
    assert {"group": "eng-kal", **expected} in stored["groups"]
    assert result.figures["bleu"] == round(stored["bleu"], 2)


def test_groups_have_comet(toy_translator: Path, tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("rako gor mili dasat", "the big dog sees the cat"), ("mili", "the cat"))
    text = f'[[stage]]\nuse = "evaluate-translator"\npairs = "pairs"\ntranslator = "{toy_translator}"\n'
    model = save_tiny_comet(tmp_path / "comet", COMET_MODELS["reference"])
    (tmp_path / "sets.tsv").write_text("set\tfirst_row\tlast_row\nx\t1\t2\n")
    result = run_toml(text + f'sets = "sets.tsv"\ncomet = "{model}"\n', tmp_path).stages[-1]
    assert [group["group"] for group in result.figures["groups"]] == ["x"]
    hypotheses = (result.folder / "artifact" / "hypotheses.txt").read_text().splitlines()
    expected = Comet.load(model).predict(
        ["rako gor mili dasat", "mili"], hypotheses, ["the big dog sees the cat", "the cat"]
    )
    assert result.figures["comet"] == pytest.approx(expected.mean(), abs=1e-4)
    assert result.figures["groups"][0]["comet"] == result.figures["comet"]


@pytest.mark.parametrize(
    ("names", "message"),
    [(["a"], "an entry for each of 2 evaluations, not 1"), (["a", "a"], "two systems or more")],
)
def test_two_named_systems_are_compared(names: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        CompareTranslators(evaluations=("one", "two"), names=tuple(names), pairs="test")
