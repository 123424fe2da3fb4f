"""Monolingual text into bitext from the command line: rows, messages, and the errors of wrong calls."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from commands import Command

from paraloom.core.schema import PAIRS
from paraloom.io import write_corpus


def test_a_corpus_is_augmented_whatever_its_language_is_called(
    paraloom: Command, toy_translator: Path, tmp_path: Path
) -> None:
    rows = [{"pair_id": f"x:{i}", "src": "s", "tgt": text, "src_lang": "kal", "tgt_lang": "eng", "origin": "x"}
            for i, text in enumerate(["rako gor mili dasat", "mili tavo kirat"], 1)]  # fmt: skip
    write_corpus(tmp_path / "corpus", [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
    call = ["augment", "corpus", "--translator", toy_translator, "--method", "base", "-o", "made.tsv"]
    status, _, err = paraloom(*call)
    assert status == 0, err
    targets = [line.split("\t")[2] for line in (tmp_path / "made.tsv").read_text().splitlines()[1:]]
    assert targets and set(targets) <= {"rako gor mili dasat", "mili tavo kirat"}


def test_a_text_becomes_bitext_to_train_on(paraloom: Command, toy_translator: Path, tmp_path: Path) -> None:
    (tmp_path / "mono.txt").write_text("rako gor mili dasat\nmili tavo kirat\n\nrako\nmili tavo kirat\n")
    call = ["augment", "mono.txt", "--translator", toy_translator, "--tag", "<BT>", "--outputs", 2, "-o", "made.tsv"]
    status, _, err = paraloom(*call)
    assert status == 0, err
    rows = [line.split("\t") for line in (tmp_path / "made.tsv").read_text().splitlines()[1:]]
    assert rows and {row[2] for row in rows} <= {"rako gor mili dasat", "mili tavo kirat"}
    assert all(row[1].startswith("<BT> ") for row in rows)


def test_of_a_table_the_column_is_named_and_rejected_rows_are_reported(
    paraloom: Command, toy_translator: Path, tmp_path: Path
) -> None:
    (tmp_path / "two.tsv").write_text("eins\trako gor mili dasat\nzwei\tmili tavo kirat\ndrei\trako\n")
    call = ["augment", "two.tsv", "--translator", toy_translator, "--method", "base", "-o", "made.tsv"]
    status, _, err = paraloom(*call)
    assert status == 1 and "1: 'eins'  2: 'rako gor mili dasat'" in err and "--field" in err
    assert not list(tmp_path.glob("made*"))
    (tmp_path / "late.tsv").write_text("rako gor mili\nbir iki\tone two\n")
    status, _, err = paraloom("augment", "late.tsv", *call[2:])
    assert status == 1 and "late.tsv, row 2: there are 2 columns" in err
    status, _, err = paraloom(*call, "--field", "-1")
    assert status == 0 and "1 rejected: text: fewer than 2 words" in err, err
    assert "eins" not in (tmp_path / "made.tsv").read_text()


def test_a_verb_that_cannot_begin_leaves_nothing_behind(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "mono.txt").write_text("rako gor\n")
    status, _, err = paraloom("augment", "mono.txt", "--translator", "no/model", "-o", "made.tsv")
    assert status == 1 and "there is no file or folder" in err and "verb.toml" not in err
    assert {path.name for path in tmp_path.iterdir()} == {"mono.txt"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["mono.txt", "-o", "made.tsv"], "name the translator"),
        (["mono.txt", "--translator", "m"], "name the bitext"),
        (["none.txt", "--translator", "m", "-o", "made.tsv"], "no such file"),
        (["mono.txt", "--translator", "m", "--method", "syntax", "-o", "made.tsv"], "takes 3 translators, not 1"),
        (["mono.txt", "--translator", "m", "--method", "nuclear", "-o", "made.tsv"], "did you mean 'nucleus'"),
        (["pairs.parquet", "--translator", "m", "-o", "made.tsv"], "is no file of text"),
    ],
)
def test_a_call_that_lacks_something_says_so(paraloom: Command, tmp_path: Path, call: list[str], message: str) -> None:
    (tmp_path / "mono.txt").write_text("a b\n")
    (tmp_path / "pairs.parquet").write_bytes(b"PAR1")
    status, _, errors = paraloom("augment", *call)
    assert status != 0 and message in " ".join(errors.split())
    assert not (tmp_path / "made.tsv").exists()
