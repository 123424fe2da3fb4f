"""Runs of small experiments on back-translation, and the command that starts them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Command
from toy_experiment import write_experiment

from paraloom.core.errors import DataError, RunError
from paraloom.papers.bbh22.experiment import RESULT_FILE, run_experiment


@pytest.mark.slow
def test_an_experiment_runs_and_a_second_run_has_nothing_to_do(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    path, folder = write_experiment(tmp_path), tmp_path / "run"
    reports: list[str] = []
    result = run_experiment(path, folder, engine="inline", report=reports.append)
    assert reports == [result.format()]
    assert len(result.differences["news"]) == 3 and "news  nucleus - none" in reports[0]
    assert [row.method for row in result.methods] == ["none", "base", "nucleus"]
    for row in result.methods:
        (figures,) = row.tests["news"]
        assert figures["n"] == 30 and {group["group"] for group in figures["groups"]} == {"from-ours", "from-theirs"}
    assert result.methods[0].diversity == {} and result.methods[2].diversity["groups"] == 30
    written = json.loads((folder / RESULT_FILE).read_text())
    assert written == json.loads(json.dumps(result.to_dict()["methods"]))
    before = {manifest: manifest.stat().st_mtime_ns for manifest in folder.glob("*/manifest.jsonl")}
    again = run_experiment(path, folder, engine="inline")
    assert json.loads(json.dumps(again.to_dict()["methods"])) == written
    assert {manifest: manifest.stat().st_mtime_ns for manifest in before} == before
    # The small experiment has stages of the same names, which would replace those of the whole one.
    with pytest.raises(RunError, match="this folder holds another run, 'toy'"):
        run_experiment(path, folder, small=True, engine="inline")


@pytest.mark.slow
def test_an_experiment_with_seeds_weights_a_tag_and_first_translators(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    path = write_experiment(tmp_path)
    text = path.read_text().replace('["none", "base", "nucleus"]', '["none", "base-big"]').replace("= 30\n", "= 20\n")
    path.write_text(f'seeds = 2\nweights = [1, 3]\ntag = "<BT>"\n{text}[first]\nsteps = 6\n[final]\nsteps = 4\n')
    none, base_big = run_experiment(path, tmp_path / "run", engine="inline").methods
    assert [len(row.trainings) for row in (none, base_big)] == [2, 2] and len(base_big.tests["news"]) == 2
    curves = [file.read_text() for file in sorted((tmp_path / "run").glob("*-final-*/artifact/curve.jsonl"))]
    assert len(curves) == 4 == len(set(curves))
    # All perplexities are per sub-word of one vocabulary, which has the tag.
    vocabularies = {file.read_bytes() for file in (tmp_path / "run").glob("*/artifact/shared_vocabulary.json")}
    assert len(vocabularies) == 1 and b"<BT>" in vocabularies.pop()
    (bitext,) = (folder for folder in (tmp_path / "run").glob("*-made-base-big") if folder.is_dir())
    assert json.loads((bitext / "corpus.json").read_text())["rows"] <= 40
    path.write_text(path.read_text().replace("sentences = 20", "sentences = 200"))
    with pytest.raises(DataError, match="400"):
        run_experiment(path, tmp_path / "other", engine="inline")


@pytest.mark.slow
def test_an_experiment_with_syntax_groups(paraloom: Command, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    pytest.importorskip("nltk", reason="grammars need nltk: pip install 'paraloom[syntax]'")
    path = write_experiment(tmp_path)
    # In flat trees the root production of a sentence is its number of words.
    sources = [line.partition("\t")[0].split() for line in (tmp_path / "parallel.tsv").read_text().splitlines()]
    trees = "".join(f"(S {' '.join(f'(W {word})' for word in words)})\n" for words in sources)
    (tmp_path / "trees.mrg").write_text(trees)
    assert paraloom("train", "parser", "trees.mrg", "--method", "grammar", "-o", "grammar")[0] == 0
    text = path.read_text().replace('["none", "base", "nucleus"]', '["syntax"]')
    path.write_text(f'parser = "grammar"\ndiversity_limit = 20\n{text}[syntax]\nmin_rows = 10\nsteps = 2\n')
    (syntax,) = run_experiment(path, tmp_path / "run", engine="inline").methods
    assert syntax.diversity["kernel_sst"] is not None and 0 < syntax.diversity["groups"] <= 30
    assert syntax.tests["news"][0]["n"] == 30
    for group in (1, 2):
        (training,) = (tmp_path / "run").glob(f"*-tuned-{group}/artifact/training.json")
        assert json.loads(training.read_text())["config"]["keep_last"]


def test_a_dry_run_prints_the_work(paraloom: Command, tmp_path: Path) -> None:
    write_experiment(tmp_path)
    status, _, err = paraloom("research", "augment", "toy.toml", "--dry-run")
    assert status == 0 and "This is 4 trainings with" in err
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_checks_the_files(paraloom: Command, tmp_path: Path) -> None:
    path = write_experiment(tmp_path)
    path.write_text(path.read_text().replace("parallel.tsv", "paralel.tsv"))
    status, _, err = paraloom("research", "augment", "toy.toml", "--dry-run")
    assert status == 1 and "paralel.tsv' not found" in " ".join(err.split())


def test_an_experiment_is_no_longer_a_text(paraloom: Command, tmp_path: Path) -> None:
    write_experiment(tmp_path)
    status, _, err = paraloom("augment", "toy.toml", "-o", "made.tsv")
    assert status == 1 and "Write `paraloom research augment toy.toml`." in " ".join(err.split())
    assert not (tmp_path / "made.tsv").exists()
