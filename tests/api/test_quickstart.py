"""The quickstart, the bundled models and the example pipelines."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from paraloom.api.paraphrasers import Paraphraser
from paraloom.api.quickstart import BUNDLED, kernels_are_new, run_quickstart
from paraloom.core.errors import ConfigError
from paraloom.evaluate.row_groups import read_row_ranges
from paraloom.io import read_pairs
from paraloom.mt import Translator
from paraloom.pairs.scoring.paraphrase_model import ParaphraseModel
from paraloom.papers.bbh22.experiment import stage_tables as experiment_stages
from paraloom.papers.bbh22.experiment_config import read_experiment
from paraloom.papers.park17.selftraining import read_loop
from paraloom.papers.park17.selftraining import stage_tables as loop_stages
from paraloom.papers.recipe import read_recipe
from paraloom.pipeline.toml import pipeline_from_tables, read_pipeline
from paraloom.syntax.parsers.loading import load_parser
from paraloom.web import write_report

EXAMPLES = sorted(
    path for path in (Path(__file__).parents[2] / "examples").glob("*.toml") if path.stem != "larger-pair"
)
"""The examples that a command runs; larger-pair.toml is what a script reads, with a test of its own."""


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_the_first_run_says_that_it_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    cache = tmp_path / "text/__pycache__"
    assert not kernels_are_new(tmp_path)
    cache.parent.mkdir()
    assert kernels_are_new(tmp_path)
    cache.mkdir()
    assert kernels_are_new(tmp_path)
    (cache / "token_kernels.hash_spans-160.py311.nbi").touch()
    assert not kernels_are_new(tmp_path)


@pytest.mark.slow
def test_the_quickstart_runs_and_its_second_run_has_nothing_to_do(tmp_path: Path) -> None:
    first = run_quickstart(tmp_path / "run", workers=2)
    assert first.run.stage("bitext").counts.kept == 400
    harvest = first.harvest
    assert 400 < harvest.of == first.run.stage("scored").counts.out <= 1600
    assert 40 < harvest.pairs < 400 == harvest.sentences and first.before < first.after
    assert len(harvest.kept) == 10 and all(pair.src != pair.tgt and not pair.reason for pair in harvest.kept)
    shown = [round(pair.score, 2) for pair in harvest.kept]
    assert shown == sorted(shown, reverse=True)
    assert len({pair.reason for pair in harvest.lost}) == len(harvest.lost) == 3
    page = write_report(tmp_path / "run", tmp_path / "report.html")
    assert page.stat().st_size < 2_000_000
    again = run_quickstart(tmp_path / "run", workers=1)
    assert again.run.digest == first.run.digest
    assert all(stage.written == 0 for stage in again.run.stages)


def test_the_bundled_models_are_small_and_have_model_cards() -> None:
    assert size(BUNDLED / "de-en") <= 15e6
    assert size(BUNDLED / "en-de") <= 15e6
    assert size(BUNDLED / "english") <= 12e6
    assert size(BUNDLED / "english-small") <= 12e6
    parser = size(BUNDLED / "english-paraphraser/parser")
    assert parser <= 10e6 and size(BUNDLED / "english-paraphraser") - parser <= 10e6
    for name in ("english-paraphraser", "english-paraphraser/parser"):
        card = (BUNDLED / name / "README.md").read_text(encoding="utf-8")
        assert "English Web Treebank" in card and "CC BY-SA 4.0" in card
    for name in ("de-en", "en-de", "english", "english-small"):
        card = (BUNDLED / name / "README.md").read_text(encoding="utf-8")
        assert "Tatoeba" in card and "LibreOffice" in card and "paraloom run examples/" in card


def test_standard_output_is_no_folder_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="cannot be written to standard output"):
        run_quickstart("-")
    assert not list(tmp_path.iterdir())


def test_the_quickstart_filters_by_the_preset() -> None:
    stages = {step.name: step.stage for step in read_pipeline(BUNDLED / "quickstart.toml").steps}
    presets = ParaphraseModel.load(BUNDLED / "paraphrases-en").presets
    assert stages["kept"].where == presets["strict"].where


def test_the_bundled_translator_translates() -> None:
    ((best,),) = Translator.load(BUNDLED / "de-en").translate(["Er hat mir nicht geholfen."])
    assert best.text == "He didn't help me."
    ((best,),) = Translator.load(BUNDLED / "en-de").translate(["He didn't help me."])
    assert best.text in ("Er half mir nicht.", "Er hat mir nicht geholfen.")


def test_the_bundled_paraphraser_paraphrases() -> None:
    paraphraser = Paraphraser.load("english")
    (variants,) = paraphraser.paraphrase(["We left early because of the rain."], n=3)
    assert len({variant.text for variant in variants}) == 3
    ((variant,),) = paraphraser.paraphrase(["We left early."], n=1, template="(S (NP) (VP) (.))")
    assert variant.parsed.startswith("(S ") and variant.distance >= 0


def test_the_bundled_parser_parses() -> None:
    (tree,) = load_parser("english").parse(["The dog barks."])
    assert tree == "(S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .))"


def test_the_bundled_sample_can_be_read() -> None:
    for column in ("en", "en_second"):
        batches = read_pairs(str(BUNDLED / "sample.de-en.tsv"), src_column="de", tgt_column=column)
        assert sum(batch.num_rows for batch in batches) == 400


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_pipelines_are_well_formed(
    path: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = path.read_text(encoding="utf-8")
    for name in (
        "TEACHER",
        "GERMAN",
        "ENGLISH",
        "DOCUMENTS",
        "CAPTIONS",
        "PARSER",
        "DE_EN",
        "BUNDLED",
        "LEXICON",
        "START",
    ):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("LANGUAGE", "de")
    monkeypatch.setenv("PAIRS", str(tmp_path))
    for name in re.findall(r"\$\{(?:GERMAN|ENGLISH|DOCUMENTS|CAPTIONS|BUNDLED|PAIRS)\}/([\w./${}-]+)", text):
        (tmp_path / name.replace("${LANGUAGE}", "de")).mkdir(parents=True, exist_ok=True)
    if "[[stage]]" in text:
        assert read_pipeline(path).steps
        return
    if "[[run]]" in text:
        assert read_recipe(path).run
        return
    if "[[monolingual]]" in text:
        name, seed, experiment = read_experiment(path)
        stages = experiment_stages(experiment)
    else:
        name, seed, loop = read_loop(path)
        stages = loop_stages(loop, loop.rounds)
    assert pipeline_from_tables(stages, name="toy", seed=seed, base=path.parent).steps and name


@pytest.mark.slow
def test_the_example_script_finds_the_original_language_of_test_sentences(data: Path) -> None:
    script = EXAMPLES[0].parent / "original_language.py"
    arguments = [str(data / "bitext/wmt-news"), "newstest2018", "tr"]
    printed = subprocess.run(
        [sys.executable, str(script), *arguments], capture_output=True, text=True, check=True
    ).stdout
    assert printed == (script.parent / "newstest2018.tr-en.sets.tsv").read_text(encoding="utf-8")
    rows = dict.fromkeys(("eng-tur", "tur-eng"), 0)
    for test_set in read_row_ranges(script.parent / "newstest2018.tr-en.sets.tsv"):
        rows[test_set.name] += test_set.last - test_set.first + 1
    assert rows == {"eng-tur": 1500, "tur-eng": 1500}


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4
