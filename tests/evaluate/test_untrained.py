"""The start of a training is a row: where its folder is looked for, and the functions and stages that show it."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import numpy as np
import pyarrow as pa
import pytest

from paraloom import api
from paraloom.api.decontamination import decontaminate
from paraloom.core.errors import DataError
from paraloom.core.schema import PAIRS
from paraloom.core.stage import StageContext
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import save_encoder
from paraloom.embed.vocabulary import Vocabulary
from paraloom.embed.word_vectors import average_vectors
from paraloom.evaluate.untrained import START, untrained_folder
from paraloom.io import write_corpus
from paraloom.stages.encoders import EvaluateSts, named_paths
from paraloom.web.results import result as section
from paraloom.web.training import training

WORDS = ("dog", "cat", "cow", "bank", "stock", "price")


def encoder(seed: int) -> SentenceEncoder:
    vectors = np.random.default_rng(seed).normal(size=(len(WORDS), 4)).astype(np.float32)
    return SentenceEncoder(parse_spec("word"), {"word": Average(Vocabulary("word", list(WORDS)), vectors)})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An encoder with its start, one without, similarity tasks, labeled texts, word vectors, a corpus."""
    save_encoder(encoder(1), tmp_path / "trained")
    save_encoder(encoder(2), tmp_path / "trained" / START)
    save_encoder(encoder(3), tmp_path / "other")
    draw = np.random.default_rng(4)
    pairs = [
        f"{draw.integers(6)}\t{' '.join(draw.choice(WORDS, 3))}\t{' '.join(draw.choice(WORDS, 3))}" for _ in range(9)
    ]
    (tmp_path / "sts/stsbenchmark").mkdir(parents=True)
    for name in ("dev", "test"):
        (tmp_path / f"sts/stsbenchmark/sts-{name}.tsv").write_text("\n".join([*pairs, "5\tdog\tdog", "0\tdog\tbank"]))
    (tmp_path / "labeled").mkdir()
    for name in ("train", "test"):
        rows = [f"{int(word in WORDS[:3])}\tthe {word} and the {other}" for word in WORDS for other in WORDS]
        (tmp_path / f"labeled/{name}.tsv").write_text("\n".join(rows))
    (tmp_path / "vectors.txt").write_text("".join(f"{word} {number} 1\n" for number, word in enumerate(WORDS)))
    row = {name: "x" for name in PAIRS.names}
    write_corpus(tmp_path / "corpus", [pa.RecordBatch.from_pylist([row], PAIRS)], kind="PAIRS")
    curve = [{"epoch": 0, "dev": {"dev_pearson": 50.0}}, {"epoch": 1, "dev": {"dev_pearson": 40.0}}]
    for name in ("trained", "other"):
        (tmp_path / name / "curve.jsonl").write_text("".join(json.dumps(line) + "\n" for line in curve))
    return tmp_path


def test_the_start_lies_inside_the_folder(folder: Path) -> None:
    assert untrained_folder(folder / "trained") == folder / "trained" / START
    assert untrained_folder(folder / "other") is None
    assert untrained_folder("no-such-encoder") is None


def test_evaluate_sts_shows_what_each_encoder_started_from(folder: Path) -> None:
    trained, other = str(folder / "trained"), str(folder / "other")
    table = api.evaluate_similarity([trained, other], folder / "sts", vectors=folder / "vectors.txt", resamples=20)
    names = [trained, f"{trained}, untrained", other, "overlap", "given vectors averaged"]
    assert [system.name for system in table.systems] == names
    assert [row.task for row in table.mteb] == ["STSBenchmark"]
    start = api.evaluate_similarity(encoder(2), folder / "sts", resamples=0)
    assert table.systems[1].rows == start.rows and not start.differences
    assert {(one.system, one.baseline) for one in table.differences if one.baseline.endswith("untrained")} == {
        (trained, f"{trained}, untrained")
    }


def test_evaluate_compare_shows_it_too(folder: Path) -> None:
    trained, other = str(folder / "trained"), str(folder / "other")
    comparison = api.compare_on_similarity([trained, other], folder / "sts", resamples=20)
    assert comparison.names == (trained, other, f"{trained}, untrained", "overlap")


def test_classification_shows_it_too(folder: Path) -> None:
    trained = str(folder / "trained")
    result = api.evaluate_classification_tasks([trained], folder / "labeled")
    assert [row.system for row in result.rows] == ["majority class", "TF-IDF", f"{trained}, untrained", trained]
    assert result.signature.endswith("|near-training:unknown")
    (folder / "text.txt").write_text("The dog and the cat.\n")
    near = decontaminate(folder / "text.txt", folder / "labeled/test.tsv", model=trained).tests[0]
    result = api.evaluate_classification_tasks([trained], folder / "labeled")
    share = f"{100 * near.total / near.texts:.1f}%"
    assert result.signature.endswith(f"|near-training:{share}") and near.total
    both = api.evaluate_classification_tasks([str(folder / "other"), trained], folder / "labeled")
    assert both.signature.endswith("|near-training:other=unknown,trained=" + share)
    copytree(folder / "trained", folder / "again/trained")
    twice = api.evaluate_classification_tasks([trained, str(folder / "again/trained")], folder / "labeled")
    assert twice.signature.endswith(f"|near-training:{trained}={share},{folder}/again/trained={share}")


def test_given_vectors_are_averaged_without_weights(folder: Path) -> None:
    mean = average_vectors(folder / "vectors.txt", [["Dog cat.", "stock fish"], ["price"]])
    assert mean.encode(["dog cat", "stock fish", "PRICE"]).tolist() == [[0.5, 1], [4, 1], [5, 1]]
    with pytest.raises(DataError, match="none of the 6 words in the file is in the vocabulary"):
        average_vectors(folder / "vectors.txt", [["fish"]])


def _fit(stage: EvaluateSts, folder: Path, inputs: dict[str, Path]) -> dict:
    output = folder / "output"
    output.mkdir()
    figures = stage.fit(output, StageContext(1, inputs))
    return {"figures": figures, **json.loads((output / "result.json").read_text())}


def test_the_stage_evaluate_sts_keeps_its_keys_and_has_the_baselines(folder: Path) -> None:
    stage = EvaluateSts(encoder="ours", sts="sts", others=["theirs"], vectors="vectors")
    inputs = {"encoder": folder / "trained", "others.0": folder / "other", "sts": folder / "sts"}
    result = _fit(stage, folder, {**inputs, "vectors": folder / "vectors.txt"})
    assert {"signature", "encoder", "rows", "skipped", "published", "published_mteb"} <= set(result)
    names = ["ours", "ours, untrained", "theirs", "overlap", "given vectors averaged"]
    assert [system["name"] for system in result["systems"]] == names
    assert list(result["figures"]["compared"]) == names[1:]
    page = str(section("sts", result))
    assert "ours, untrained" in page and "potion-base-8M" in page and "ours − overlap" in page


def test_the_report_of_a_training_says_what_it_started_from(folder: Path) -> None:
    page = str(training("encoder", folder / "trained"))
    assert "untrained → best" in page and "50 → 40, at the end 40" in page


def test_the_report_of_a_distillation_has_both_curves_and_the_figures_of_the_encoder_that_is_kept(
    tmp_path: Path,
) -> None:
    figures = ((0, 20, 50), (10, 40, 60), (20, 45, 55), (30, 35, 65))
    lines = [{"step": step, "dev": {"agreement": one, "dev_pearson": other}} for step, one, other in figures]
    (tmp_path / "curve.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    page = str(training("student", tmp_path, 20))
    assert "student: dev agreement" in page and "student: dev dev Pearson" in page
    assert "dev agreement: untrained → kept" in page and "20 → 45, at the end 35" in page
    assert "dev dev Pearson: untrained → kept" in page and "50 → 55, at the end 65" in page


def test_two_encoders_of_one_name_keep_apart() -> None:
    paths = [Path("run/a"), Path("run/b")]
    assert named_paths(["x/model", "y/model"], paths) == {"model": paths[0], "y/model": paths[1]}
