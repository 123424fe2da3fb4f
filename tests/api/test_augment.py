"""The command `augment` on monolingual text: rows, messages and invalid calls."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from commands import Command

from paraloom.core.schema import PAIRS
from paraloom.io import write_corpus

SENTENCES = {"rako gor mili dasat", "mili tavo kirat"}


def targets(path: Path) -> list[str]:
    """The third column, without its header."""
    return [line.split("\t")[2] for line in path.read_text().splitlines()[1:]]


@pytest.mark.slow
def test_the_target_side_of_a_corpus_is_translated_whatever_its_language_code(
    paraloom: Command, toy_translator: Path, tmp_path: Path
) -> None:
    rows = [
        {"pair_id": f"x:{row}", "src": "s", "tgt": text, "src_lang": "kal", "tgt_lang": "eng", "origin": "x"}
        for row, text in enumerate(sorted(SENTENCES))
    ]
    write_corpus(tmp_path / "corpus", [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
    call = ["augment", "corpus", "--translator", toy_translator, "--method", "base", "-o", "made.tsv"]
    status, _, err = paraloom(*call)
    assert status == 0, err
    assert targets(tmp_path / "made.tsv") and set(targets(tmp_path / "made.tsv")) <= SENTENCES


def test_a_text_becomes_tagged_bitext(paraloom: Command, toy_translator: Path, tmp_path: Path) -> None:
    (tmp_path / "mono.txt").write_text("rako gor mili dasat\nmili tavo kirat\n\nrako\nmili tavo kirat\n")
    call = ["augment", "mono.txt", "--translator", toy_translator, "--tag", "<BT>", "--outputs", 2, "-o", "made.tsv"]
    status, _, err = paraloom(*call)
    assert status == 0, err
    rows = [line.split("\t") for line in (tmp_path / "made.tsv").read_text().splitlines()[1:]]
    assert rows and {row[2] for row in rows} <= SENTENCES
    assert all(row[1].startswith("<BT> ") for row in rows)


def test_a_table_needs_a_field(paraloom: Command, toy_translator: Path, tmp_path: Path) -> None:
    (tmp_path / "two.tsv").write_text("eins\trako gor mili dasat\nzwei\tmili tavo kirat\ndrei\trako\n")
    call = ["augment", "two.tsv", "--translator", toy_translator, "--method", "base", "-o", "made.tsv"]
    status, _, err = paraloom(*call)
    assert status == 1 and "1: 'eins'  2: 'rako gor mili dasat'" in err and "with 'field'" in err
    assert not list(tmp_path.glob("made*"))
    status, _, err = paraloom(*call, "--field", "-1")
    assert status == 0 and "1 rejected: text: fewer than 2 words" in err, err
    assert "eins" not in (tmp_path / "made.tsv").read_text()


def test_a_table_is_noticed_in_any_row(paraloom: Command, toy_translator: Path, tmp_path: Path) -> None:
    (tmp_path / "late.tsv").write_text("rako gor mili\nbir iki\tone two\n")
    status, _, err = paraloom("augment", "late.tsv", "--translator", toy_translator, "-o", "made.tsv")
    assert status == 1 and "late.tsv, row 2: the text has 2 columns" in err


def test_a_command_that_cannot_start_leaves_no_files(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "mono.txt").write_text("rako gor\n")
    status, _, err = paraloom("augment", "mono.txt", "--translator", "no/such/model", "-o", "made.tsv")
    assert status == 1 and "translator 'no/such/model' not found" in err
    assert {path.name for path in tmp_path.iterdir()} == {"mono.txt"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["mono.txt", "-o", "made.tsv"], "the translator from the text's language is missing"),
        (["mono.txt", "--translator", "m"], "the bitext to write is missing"),
        (["none.txt", "--translator", "m", "-o", "made.tsv"], "file or corpus not found"),
        (["mono.txt", "--translator", "m", "--method", "syntax", "-o", "made.tsv"], "needs 3 translators, not 1"),
        (["mono.txt", "--translator", "m", "--method", "nuclear", "-o", "made.tsv"], "did you mean 'nucleus'"),
        (["pairs.parquet", "--translator", "m", "-o", "made.tsv"], "is not a file of text"),
    ],
)
def test_invalid_calls(paraloom: Command, tmp_path: Path, call: list[str], message: str) -> None:
    (tmp_path / "mono.txt").write_text("a b\n")
    (tmp_path / "pairs.parquet").write_bytes(b"PAR1")
    status, _, err = paraloom("augment", *call)
    assert status != 0 and message in " ".join(err.split())
    assert not (tmp_path / "made.tsv").exists()
