"""Self-training: the stages of a loop, its file, and a run that is extended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from openai_server import OpenAIServer, serve
from toy_documents import made_up_world, write_pages
from typer.testing import CliRunner

from paraloom.cli.main import app
from paraloom.core.errors import ConfigError
from paraloom.papers.park17.selftraining import (
    RESULT_FILE,
    LoopConfig,
    format_rounds,
    read_loop,
    selftrain,
    stage_tables,
)

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


def test_each_round_is_trained_on_pairs_aligned_with_the_translator_of_the_last() -> None:
    config = LoopConfig(source="ko", target="en", bitext=({"source": "a"},), development={"source": "d"}, rounds=2)
    stages = {stage["name"]: stage for stage in stage_tables(config, 2)}
    assert stages["translator-0"]["bitext"] == ["bitext-1"]
    assert stages["translated-1"]["translator"] == "translator-0"
    assert stages["translated-2"]["translator"] == "translator-1"
    assert stages["documents-2"]["source"] == stages["within-2"]["source"] == "translated-2"
    assert stages["translator-2"]["bitext"] == ["bitext-1", "pairs-2"]
    assert names(stage_tables(config, 2))[: len(stage_tables(config, 1))] == names(stage_tables(config, 1))


def test_without_a_bitext_the_first_round_aligns_without_a_translator() -> None:
    stages = {stage["name"]: stage for stage in stage_tables(LoopConfig(source="ko", target="en"), 2)}
    assert stages["documents-1"]["source"] == "ko"
    assert stages["translator-1"]["bitext"] == ["pairs-1"]
    assert "translator-0" not in stages and "translated-1" not in stages


def test_later_rounds_may_be_trained_on_aligned_pairs_alone() -> None:
    table = {"source": "a"}
    config = LoopConfig(source="ko", target="en", bitext=(table,), development=table, reuse_bitext=False)
    assert {stage["name"]: stage for stage in stage_tables(config, 1)}["translator-1"]["bitext"] == ["pairs-1"]


def test_a_third_language_is_aligned_with_the_source_in_the_target_language() -> None:
    third = {"input": "de", "translator": "de-en", "gold": "gold.tsv", "gold_swapped": True}
    config = LoopConfig(source="ko", target="en", third_language=third)
    stages = {stage["name"]: stage for stage in stage_tables(config, 2)}
    assert stages["third-translated"]["input"] == "de"
    documents = stages["third-documents-2"]
    assert (documents["source"], documents["target"]) == ("third-translated", "translated-2")
    assert documents["pivot"] and documents["gold"] == "gold.tsv" and documents["gold_swapped"]
    # In the first round nothing is translated into the target language yet.
    assert "third-documents-1" not in stages


def test_the_method_reaches_the_aligner_and_its_evaluation() -> None:
    sentences = {"method": "park17", "max_bead_size": 2}
    config = LoopConfig(source="ko", target="en", sentences=sentences, gold_sentences="gold.jsonl")
    stages = {stage["name"]: stage for stage in stage_tables(config, 2)}
    for name in ("within-1", "within-2", "sentences-0", "sentences-1", "sentences-2"):
        assert stages[name]["method"] == "park17" and stages[name]["max_bead_size"] == 2


def test_weights_are_tuned_for_each_translator_and_used_in_the_next_round() -> None:
    table = {"source": "a"}
    config = LoopConfig(
        source="ko",
        target="en",
        bitext=(table,),
        development=table,
        sentences={"method": "park17"},
        tuning={"documents": "tuning.jsonl"},
        gold_sentences="gold.jsonl",
    )
    stages = {stage["name"]: stage for stage in stage_tables(config, 2)}
    assert stages["aligner-1"] == {
        "name": "aligner-1",
        "use": "tune-aligner",
        "translator": "translator-1",
        "decode": "beam:1",
        "documents": "tuning.jsonl",
    }
    assert [stages[f"within-{number}"]["aligner"] for number in (1, 2)] == ["aligner-0", "aligner-1"]
    assert [stages[f"sentences-{number}"]["aligner"] for number in (0, 1, 2)] == ["aligner-0", "aligner-1", "aligner-2"]
    # Without a translator the weights are tuned for none.
    bare = LoopConfig(source="ko", target="en", sentences={"method": "park17"}, tuning={"documents": "tuning.jsonl"})
    first = {stage["name"]: stage for stage in stage_tables(bare, 1)}
    assert "translator" not in first["aligner-0"] and first["within-1"]["aligner"] == "aligner-0"


def test_a_translator_may_be_of_phrases() -> None:
    table = {"source": "a"}
    phrases = {"use": "train-phrase-translator"}
    config = LoopConfig(source="ko", target="en", bitext=(table,), development=table, translator=phrases)
    stages = {stage["name"]: stage for stage in stage_tables(config, 1)}
    assert stages["translator-1"] == {"name": "translator-1", **phrases, "bitext": ["bitext-1", "pairs-1"]}


def test_the_translator_of_the_third_language_is_trained_in_each_round() -> None:
    table = {"source": "a"}
    third = {"input": "fr", "bitext": [{"source": "b"}], "gold_target": "gold.tsv"}
    config = LoopConfig(source="ko", target="en", bitext=(table,), development=table, third_language=third)
    stages = {stage["name"]: stage for stage in stage_tables(config, 2)}
    assert stages["third-translator-0"]["bitext"] == ["third-bitext-1"]
    assert "development" not in stages["third-translator-0"]
    for number in (1, 2):
        assert stages[f"third-translated-{number}"]["translator"] == f"third-translator-{number - 1}"
        sides = {"source": f"third-translated-{number}", "target": f"translated-{number}", "pivot": True}
        assert sides.items() <= stages[f"third-documents-{number}"].items()
        target = stages[f"third-target-documents-{number}"]
        assert (target["source"], target["target"], target["gold"]) == (sides["source"], "en", "gold.tsv")
        assert "pivot" not in target
        assert stages[f"third-target-{number}"]["input"] == f"third-target-{number}-all"
        assert stages[f"third-translator-{number}"]["bitext"] == ["third-bitext-1", f"third-target-{number}"]
    assert names(stage_tables(config, 2))[: len(stage_tables(config, 1))] == names(stage_tables(config, 1))


def test_a_translator_that_exists_is_the_first_of_a_third_language_that_is_retrained() -> None:
    third = {"input": "fr", "translator": "fr-en", "retrain": True}
    stages = {
        stage["name"]: stage for stage in stage_tables(LoopConfig(source="ko", target="en", third_language=third), 2)
    }
    assert stages["third-translated-1"]["translator"] == "fr-en"
    assert stages["third-translated-2"]["translator"] == "third-translator-1"
    assert stages["third-translator-2"]["bitext"] == ["third-target-2"]


def test_a_translator_that_exists_translates_in_the_first_round() -> None:
    endpoint = {"use": "load-endpoint", "url": "http://127.0.0.1:8000/v1", "model": "m", "source": "ko", "target": "en"}
    table = {"source": "a"}
    for bitext in ((), (table,)):
        config = LoopConfig(
            source="ko", target="en", initial_translator=endpoint, bitext=bitext, development=table, tests={"t": table}
        )
        stages = {stage["name"]: stage for stage in stage_tables(config, 2)}
        assert stages["translator-0"] == {"name": "translator-0", **endpoint}
        assert stages["translated-1"]["translator"] == "translator-0"
        assert stages["bleu-t-0"]["decode"] == "beam:1" and "decode" not in stages["bleu-t-1"]
        assert stages["translator-1"]["use"] == "train-translator"
        assert stages["translator-1"]["bitext"] == [*(["bitext-1"] if bitext else []), "pairs-1"]


def test_columns_of_the_table_of_rounds() -> None:
    rows = [{"round": 0, "bleu_news": 3.0}, {"round": 1, "pairs": 1200.0, "documents_f1": 0.9, "bleu_news": 4.25}]
    assert format_rounds(rows).splitlines() == [
        "round  documents_f1  bleu_news  pairs",
        "    0             -       3.00      -",
        "    1        0.9000       4.25   1200",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("target = 'en'", "'source' is missing"),
        ("source = 'ko'\ntarget = 'en'\nround = 1", "unknown key 'round'; did you mean 'rounds'"),
        ("source = 'ko'\ntarget = 'en'\nrounds = -1", "'rounds' must be 0 or more, not -1"),
        ("source = 'ko'\ntarget = 'en'\n[[bitext]]\nsource = 'a'", "'bitext' needs 'development'"),
        ("source = 'ko'\ntarget = 'en'\npatience = 1", "'patience' needs 'development'"),
        ("source = 'ko'\ntarget = 'en'\nrounds = 0", "nothing to do without 'bitext' and 'rounds'"),
        (
            "source = 'ko'\ntarget = 'en'\n[third_language]\ninput = 'de'\ntranslator = 'de-en'\ngold_swap = true",
            "table 'third_language': unknown key 'gold_swap'; did you mean 'gold_swapped'",
        ),
        (
            "source = 'ko'\ntarget = 'en'\n[third_language]\ninput = 'de'",
            "'third_language': key 'translator' is missing",
        ),
        (
            "source = 'ko'\ntarget = 'en'\n[translator]\nuse = 'load-endpoint'",
            "key 'use' names a translator, but each round of self-training trains its own",
        ),
        ("source = 'ko'\ntarget = 'en'\n[first]\nurl = 'http://x/v1'", r"Give a translator .* as \[initial_translator"),
        (
            "source = 'ko'\ntarget = 'en'\n[initial_translator]\nmodel = 'ko-en'",
            "must be load-translator or load-",
        ),
        (
            "source = 'ko'\ntarget = 'en'\n[first]\nsteps = 1\n[initial_translator]\nuse = 'load-endpoint'",
            "'initial_translator' takes its place",
        ),
        (
            "source = 'ko'\ntarget = 'en'\n[tuning]\ndocuments = 'a.jsonl'",
            "'tuning' chooses the weights of the method 'park17'",
        ),
        ("source = ", "invalid TOML"),
    ],
)
def test_invalid_loops(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "loop.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_loop(tmp_path / "loop.toml")


@pytest.mark.slow
def test_a_loop_begins_with_an_endpoint(tmp_path: Path) -> None:
    world = made_up_world(pairs=10, alone=2)
    write_pages(tmp_path / "ko", world.source)
    write_pages(tmp_path / "en", world.target)
    loop = tmp_path / "loop.toml"
    with serve(OpenAIServer(translate=lambda text, body: text)) as server:
        loop.write_text(
            "source = 'ko'\ntarget = 'en'\nrounds = 1\nwhere = 'src <> tgt'\n"
            f"[initial_translator]\nuse = 'load-endpoint'\nurl = '{server.url}'\nmodel = 'm'\n"
            "prompt = 'Into English: {text}'\nmax_ratio = 0\n"
            f"[documents]\nrounds = 1\n[translator]\n{TINY}"
        )
        figures = selftrain(loop, tmp_path / "run", workers=1)
    assert server.answered and [row["round"] for row in figures] == [1]


@pytest.mark.slow
def test_a_loop_runs_and_is_extended_by_a_round(tmp_path: Path) -> None:
    world = made_up_world(pairs=30, alone=3)
    write_pages(tmp_path / "ko", world.source)
    write_pages(tmp_path / "en", world.target)
    (tmp_path / "gold.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in sorted(world.gold)))
    loop = tmp_path / "loop.toml"
    loop.write_text(
        "source = 'ko'\ntarget = 'en'\nrounds = 1\ngold_documents = 'gold.tsv'\nwhere = 'src <> tgt'\n"
        f"[documents]\nrounds = 1\n[translator]\n{TINY}"
    )
    figures = selftrain(loop, tmp_path / "run")
    assert [row["round"] for row in figures] == [1]
    assert figures[0]["documents_f1"] > 0.9
    assert json.loads((tmp_path / "run" / RESULT_FILE).read_text()) == figures
    loop.write_text(loop.read_text().replace("rounds = 1", "rounds = 2", 1))
    before = (tmp_path / "run").stat()
    result = CliRunner().invoke(app, ["research", "selftrain", str(loop), "-o", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "run").stat().st_ino == before.st_ino
    again = json.loads((tmp_path / "run" / RESULT_FILE).read_text())
    assert again[0] == figures[0] and [row["round"] for row in again] == [1, 2]


@pytest.mark.slow
def test_a_loop_of_phrases_with_a_third_language(tmp_path: Path) -> None:
    world = made_up_world(pairs=24, alone=2)
    write_pages(tmp_path / "ko", world.source)
    write_pages(tmp_path / "en", world.target)
    pairs = [
        (line, translation)
        for page in world.source[:6]
        for line, translation in zip(page.text.split("\n"), page.translation.split("\n"), strict=True)
    ]
    for side, lang in enumerate(("ko", "en")):
        (tmp_path / f"bitext.{lang}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
    lines = [page.text.split("\n") for page in world.source]
    gold = {"source": lines[0], "target": lines[0], "gold": [[[i], [i]] for i in range(len(lines[0]))]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in sorted(world.gold)))
    loop = tmp_path / "loop.toml"
    loop.write_text(
        "source = 'ko'\ntarget = 'en'\nrounds = 2\nwhere = 'src <> tgt'\ngold_sentences = 'gold.jsonl'\n"
        "gold_documents = 'pairs.tsv'\n[[bitext]]\nsource = 'bitext.{ko,en}'\n"
        "[development]\nsource = 'bitext.{ko,en}'\n[documents]\nrounds = 0\nevidence = 'words'\n"
        "[sentences]\nmethod = 'park17'\n[tuning]\ndocuments = 'gold.jsonl'\n"
        "[translator]\nuse = 'train-phrase-translator'\nvocab_size = 300\n"
        "[third_language]\ninput = 'ko'\ngold_target = 'pairs.tsv'\n"
        "[[third_language.bitext]]\nsource = 'bitext.{ko,en}'\n"
    )
    figures = selftrain(loop, tmp_path / "run", workers=1)
    assert [row["round"] for row in figures] == [0, 1, 2]
    for row in figures:
        assert {"sentences_f1", "bleu_development", "chrf_development"} <= set(row)
    for row in figures[1:]:
        assert {"documents_f1", "third_target_documents_f1", "pairs"} <= set(row)
    run = json.loads((tmp_path / "run/run.json").read_text())
    kinds = {stage["name"]: stage["use"] for stage in run["stages"]}
    assert kinds["aligner-2"] == "tune-aligner" and kinds["third-translator-2"] == "train-phrase-translator"
