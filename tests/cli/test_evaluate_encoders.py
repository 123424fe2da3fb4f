"""`evaluate sts` and `evaluate classification`: several encoders, files of one's own, JSON, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Command

STS = "5\ta dog runs\ta dog is running\n2\ta dog runs\ta cat runs\n0\ta dog runs\tstocks fell\n"


@pytest.fixture
def files(tmp_path: Path) -> None:
    (tmp_path / "own.tsv").write_text(STS)
    (tmp_path / "vectors.txt").write_text("dog 1 0\ncat 1 1\nstocks 0 1\n")
    (tmp_path / "labeled").mkdir()
    for name in ("train", "test"):
        (tmp_path / f"labeled/{name}.tsv").write_text("animal\ta dog\nmoney\tstocks fell\n" * 4)


def test_several_encoders_and_baselines_are_printed_side_by_side(paraloom: Command, files: None) -> None:
    status, out, err = paraloom("evaluate", "sts", "english", "english", "own.tsv", "--vectors", "vectors.txt")
    assert status == 0, err
    assert "overlap" in out and "given vectors averaged" in out and "english - overlap" in out


def test_json_has_systems_and_differences(paraloom: Command, files: None) -> None:
    status, out, err = paraloom("evaluate", "sts", "english", "own.tsv", "--json")
    assert status == 0, err
    record = json.loads(out)
    assert [system["name"] for system in record["systems"]] == ["english", "overlap"]
    assert record["differences"][0]["baseline"] == "overlap"
    assert record["rows"][0]["n"] == 3
    status, out, err = paraloom("evaluate", "classification", "english", "--data", "labeled", "--json")
    assert status == 0, err
    assert [row["system"] for row in json.loads(out)["classification"]] == ["majority class", "TF-IDF", "english"]


def test_encoders_are_compared(paraloom: Command, files: None) -> None:
    status, out, err = paraloom("evaluate", "sts", "english", "english-small", "own.tsv", "--compare", "--json")
    assert status == 0, err
    assert "english-small" in str(json.loads(out))
    status, _, err = paraloom("evaluate", "sts", "english", "own.tsv", "--compare", "--published")
    assert status == 2 and "have no effect with --compare" in " ".join(err.split())


def test_bad_input_names_file_and_row(paraloom: Command, files: None, tmp_path: Path) -> None:
    (tmp_path / "own.tsv").write_text(STS + "good\ta\tb\n")
    status, _, err = paraloom("evaluate", "sts", "english", "own.tsv")
    assert status == 1 and "row 4: expected a number as the score, got 'good'" in " ".join(err.split())
    status, _, err = paraloom("evaluate", "sts", "english", "missing")
    assert status == 1 and "file or folder of similarity tasks not found" in " ".join(err.split())
    (tmp_path / "labeled/test.tsv").unlink()
    status, _, err = paraloom("evaluate", "classification", "english", "--data", "labeled")
    assert status == 1 and "test file not found" in " ".join(err.split())


def test_translations_and_references_of_unequal_length_are_named(
    paraloom: Command, files: None, tmp_path: Path
) -> None:
    (tmp_path / "ours.txt").write_text("One.\nTwo.\n")
    (tmp_path / "wanted.txt").write_text("One.\n")
    status, _, err = paraloom("evaluate", "translation", "ours.txt", "wanted.txt")
    assert status == 1 and "ours.txt and wanted.txt have different numbers of lines: 2, 1" in " ".join(err.split())
