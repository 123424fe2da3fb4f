"""The command canonicalize: texts, files, tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commands import Command

from paraloom import api
from paraloom.api.canonicalization import COLUMNS

TEXTS = ["teh dog sees 3 cats", "The cat sees the dog.", "@ann", "the bird dont sleep 5"]


def test_commands(paraloom: Command, tmp_path: Path) -> None:
    status, out, err = paraloom("canonicalize", *TEXTS[:2], "--json")
    assert status == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["source"] for line in lines] == TEXTS[:2] and {"text", "status", "reason"} <= set(lines[0])
    assert "2 texts: " in err
    (tmp_path / "a.txt").write_text("".join(f"{text}\n" for text in TEXTS), encoding="utf-8")
    status, out, err = paraloom("canonicalize", "a.txt")
    assert status == 0 and out.splitlines()[:2] == [line["text"] for line in lines], err
    assert "1 without words to write" in err
    printed = out.splitlines()
    status, _, err = paraloom("canonicalize", "a.txt", "-o", "b.txt")
    assert status == 0 and (tmp_path / "b.txt").read_text().splitlines() == printed, err
    status, _, err = paraloom("canonicalize", "a.txt", "-o", "b.txt")
    assert status == 0 and "up to date" in err
    figures = json.loads(paraloom("canonicalize", "a.txt", "-o", "b.txt", "--force", "--json")[1])
    assert figures["texts"] == 4 and figures["kept"]["without words to write"] == 1
    for arguments, message in (
        (("missing.txt",), "missing.txt"),
        ((" ",), "the text is empty"),
        (("a.txt", "--hold", "letters"), "unknown kind 'letters'"),
    ):
        status, _, err = paraloom("canonicalize", *arguments)
        assert status == 1 and message in err


def test_tables(paraloom: Command, tmp_path: Path) -> None:
    rows = [{"id": row, "text": text, "label": "x"} for row, text in enumerate([*TEXTS, None])]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    status, _, err = paraloom("canonicalize", "a.jsonl", "-o", "a.parquet")
    assert status == 0, err
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.column_names == ["id", "text", "label", *COLUMNS]
    values = table.to_pylist()
    assert [{name: value[name] for name in rows[0]} for value in values] == rows
    assert (values[4]["canonical"], values[4]["canonical_reason"]) == (None, "not a text")
    assert values[2]["canonical"] == "@ann" and values[2]["canonical_status"] == "kept"
    status, _, err = paraloom("canonicalize", "a.parquet", "-o", "again.csv")
    assert status == 1 and "has a column 'canonical' already" in err
    (tmp_path / "a.tsv").write_text("".join(f"x\t{text}\n" for text in TEXTS))
    status, _, err = paraloom("canonicalize", "a.tsv", "--text", 2, "-o", "b.csv")
    assert status == 0, err
    with (tmp_path / "b.csv").open(newline="") as stream:
        lines = list(csv.reader(stream))
    assert [line[:2] for line in lines] == [["x", text] for text in TEXTS]
    assert [line[2] for line in lines] == [value["canonical"] for value in values[:4]]
    status, _, err = paraloom("canonicalize", "a.jsonl", "--text", "words", "-o", "c.jsonl")
    assert status == 1 and "column 'words' not found" in err and not (tmp_path / "c.jsonl").exists()


def test_canonicalize_without_a_model(paraloom: Command) -> None:
    status, out, err = paraloom("canonicalize", "u r late, becuase of 2 trains")
    assert (status, out) == (0, "You are late, because of 2 trains.\n")
    assert "1 text: 1 changed" in err
    german = ["Das ist nicht der Hund, den wir gesehen haben.", "Ich habe sie mit dir in der Stadt getroffen."] * 3
    status, _, err = paraloom("canonicalize", *german)
    assert (status, "the texts are German, and the rules are for English" in err) == (1, True)
    assert paraloom("canonicalize", *german, "--no-language-check")[0] == 0
    with pytest.warns(UserWarning, match="the text looks German, and the rules are for English"):
        api.check_english(["Wir gehen nach Hause."])
