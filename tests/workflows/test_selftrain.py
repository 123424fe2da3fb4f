"""Self-training: the loop's stages, its end, its resumption, and what a wrong file says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toy_documents import made_up_world, write_pages
from typer.testing import CliRunner

from paraloom.cli.main import app
from paraloom.core.errors import ConfigError
from paraloom.workflows.selftrain import RESULT, LoopConfig, read_loop, selftrain, stages_of

pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")

TINY = """
vocab_size = 300
d_model = 16
heads = 2
ffn_dim = 16
encoder_layers = 1
decoder_layers = 1
steps = 4
held_out = 20
"""


def names(stages: list[dict]) -> list[str]:
    return [stage["name"] for stage in stages]


def test_each_round_learns_from_what_the_one_before_helped_to_find() -> None:
    config = LoopConfig(source="ko", target="en", bitext=({"source": "a"},), development={"source": "d"}, rounds=2)
    stages = {stage["name"]: stage for stage in stages_of(config, 2)}
    assert stages["translator-0"]["bitext"] == ["bitext-1"]
    assert stages["translated-1"]["translator"] == "translator-0"
    assert stages["translated-2"]["translator"] == "translator-1"
    assert stages["documents-2"]["source"] == stages["within-2"]["source"] == "translated-2"
    assert stages["translator-2"]["bitext"] == ["bitext-1", "pairs-2"]
    assert names(stages_of(config, 2))[: len(stages_of(config, 1))] == names(stages_of(config, 1))


def test_without_a_bitext_the_first_round_has_no_translator() -> None:
    stages = {stage["name"]: stage for stage in stages_of(LoopConfig(source="ko", target="en"), 2)}
    assert stages["documents-1"]["source"] == "ko"
    assert stages["translator-1"]["bitext"] == ["pairs-1"]
    assert "translator-0" not in stages and "translated-1" not in stages


def test_later_rounds_may_learn_from_what_was_found_alone() -> None:
    table = {"source": "a"}
    config = LoopConfig(source="ko", target="en", bitext=(table,), development=table, begin_with=False)
    assert {stage["name"]: stage for stage in stages_of(config, 1)}["translator-1"]["bitext"] == ["pairs-1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("target = 'en'", "'source' is missing"),
        ("source = 'ko'\ntarget = 'en'\nround = 1", "there is no key 'round'; did you mean 'rounds'"),
        ("source = 'ko'\ntarget = 'en'\nrounds = -1", "'rounds' and 'patience' must be 0 or more"),
        ("source = 'ko'\ntarget = 'en'\n[[bitext]]\nsource = 'a'", "there is no 'development'"),
        ("source = 'ko'\ntarget = 'en'\npatience = 1", "'patience' needs 'development'"),
        ("source = ", "this is not TOML"),
    ],
)
def test_a_loop_that_cannot_be_says_why(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "loop.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_loop(tmp_path / "loop.toml")


@pytest.mark.slow
def test_a_loop_runs_and_goes_on(tmp_path: Path) -> None:
    world = made_up_world(pairs=30, alone=3)
    write_pages(tmp_path / "ko", world.source)
    write_pages(tmp_path / "en", world.target)
    (tmp_path / "gold.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in sorted(world.gold)))
    loop = tmp_path / "loop.toml"
    loop.write_text(
        "source = 'ko'\ntarget = 'en'\nrounds = 1\ngold_documents = 'gold.tsv'\nkeep = 'src <> tgt'\n"
        f"[documents]\nrounds = 1\n[translator]\n{TINY}"
    )
    figures = selftrain(loop, tmp_path / "run")
    assert [row["round"] for row in figures] == [1]
    assert figures[0]["documents_f1"] > 0.9
    assert json.loads((tmp_path / "run" / RESULT).read_text()) == figures
    loop.write_text(loop.read_text().replace("rounds = 1", "rounds = 2", 1))
    before = (tmp_path / "run").stat()
    result = CliRunner().invoke(app, ["selftrain", str(loop), "-o", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "run").stat().st_ino == before.st_ino
    again = json.loads((tmp_path / "run" / RESULT).read_text())
    assert again[0] == figures[0] and [row["round"] for row in again] == [1, 2]
