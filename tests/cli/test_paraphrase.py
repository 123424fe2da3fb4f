"""The command paraphrase with the bundled translators, and with an endpoint."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import Command
from openai_server import OpenAIServer, serve

import paraloom as library
from paraloom.core.errors import ConfigError

SET = """text,label
A man is riding a horse on the beach.,outdoor
Two dogs are running across the snow.,outdoor
A man is cooking dinner in the kitchen.,indoor
"""
TEXTS = ["A man is riding a horse on the beach.", "Two dogs are running across the snow."]
ROUND_TRIP = ("--paraphraser", "round-trip:en-de,de-en")


@pytest.fixture
def labeled(tmp_path: Path) -> Path:
    path = tmp_path / "set.csv"
    path.write_text(SET, encoding="utf-8")
    return path


def test_paraphrase_by_a_round_trip(paraloom: Command) -> None:
    texts = ("paraphrase", "Two dogs are running.", *ROUND_TRIP)
    status, out, err = paraloom(*texts, "-n", 3, "--preset", "none", "--json")
    assert status == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 3 and {"source", "text", "logprob", "tokens"} <= set(rows[0])
    status, out, err = paraloom(*texts, "-n", 2, "--meaning", 0, "--difference", 0.1, "--json")
    assert status == 0, err
    assert all(json.loads(line)["difference"] >= 0.1 for line in out.splitlines())
    assert "1 of 1 text has a paraphrase" in err
    status, _, err = paraloom("paraphrase", "Go.", *ROUND_TRIP, "--template", "(S (VP))")
    assert status == 1 and "are for a trained paraphraser" in err


def test_none_may_be_good_enough(paraloom: Command) -> None:
    texts = ("paraphrase", "Two dogs are running.", *ROUND_TRIP, "--meaning", 1, "--difference", 1)
    status, out, err = paraloom(*texts)
    assert (status, out) == (0, "(none is good enough)\n"), err
    assert "0 of 1 text has a paraphrase, 0 in all; none is good enough for 1" in err
    assert "candidates that were dropped: " in err
    assert json.loads(paraloom(*texts, "--json")[1]) == {"source": "Two dogs are running.", "text": None}
    assert "the first of them" not in paraloom(*texts, "-o", "none.tsv")[2]


LISTS = ["apple, pear, plum, cherry, banana", "apple pear plum cherry banana grape", "milk"]
CODE = ["for i in range(10): print(i)", "SELECT name FROM users WHERE id = 3;", "if (a != b) { return 0; }"]
MARKUP = [
    "<p>The film was <b>very</b> good.</p>",
    "The option <code>--force</code> is not needed.",
    "[the docs](https://example.org/a) don't say it.",
    "{name} doesn't have {count} messages.",
]


def test_lists_code_and_markup_are_no_errors_and_keep_their_marks(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("\n".join([*LISTS, *CODE, *MARKUP]), encoding="utf-8")
    status, out, err = paraloom("paraphrase", "in.txt", "--preset", "loose", "--json", "-o", "out.jsonl")
    figures = json.loads(out)
    assert status == 0 and figures["texts"] == figures["answered"] + figures["none"] == 10, err
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows
    for row in rows:
        marks = [re.findall(r"[<>(){}\[\]]|\d+", text) for text in (row["original"], row["text"])]
        assert sorted(marks[0]) == sorted(marks[1]), row


def test_kinds_of_change_are_those_of_english(paraloom: Command) -> None:
    german = ("--paraphraser", "round-trip:de-en,en-de", "--encoder", "none", "--change", "word")
    status, _, err = paraloom("paraphrase", "Der Hund schläft im Garten.", *german)
    assert status == 1 and "the kinds of change are those of English, and the paraphraser is for German" in err
    with pytest.raises(ConfigError, match="for German"):
        library.paraphrase("Der Hund schläft.", "round-trip:de-en,en-de", encoder=None, change="word")


def test_files_are_paraphrased_line_by_line(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(f"{TEXTS[0]}\n\n{TEXTS[1]}\n{TEXTS[1]}\n\n", encoding="utf-8")
    asked = ("paraphrase", "in.txt", *ROUND_TRIP, "--preset", "loose", "--candidates", 4)
    status, _, err = paraloom(*asked, "-o", "out.txt")
    assert status == 0, err
    lines = (tmp_path / "out.txt").read_text(encoding="utf-8").split("\n")
    assert len(lines) == 6 and lines[1] == lines[4] == lines[5] == "" and lines[2] == lines[3]
    status, out, err = paraloom(*asked, "-o", "out.jsonl", "--json")
    figures = json.loads(out)
    assert status == 0 and figures["texts"] == figures["answered"] + figures["none"] == 3, err
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == figures["paraphrases"] and {row["original"] for row in rows} <= set(TEXTS)
    assert lines[0] in ["", *(row["text"] for row in rows if row["pair_id"] == "in.txt:0" and row["rank"] == 0)]
    for suffix in ("tsv", "parquet"):
        status, out, err = paraloom(*asked, "-o", f"out.{suffix}")
        assert (status, out) == (0, ""), err
        assert "in.txt:0" not in err and ("  0." in err) == bool(rows)
    status, _, err = paraloom(*asked, "-n", 2, "-o", "other.txt")
    assert status == 1 and "2 paraphrases of each text do not fit a text file" in err


def test_a_word_that_looks_like_a_file(paraloom: Command, tmp_path: Path) -> None:
    status, _, err = paraloom("paraphrase", "file.txt", *ROUND_TRIP)
    assert status == 1 and "'file.txt' looks like the name of a file" in err and "--text" in err
    (tmp_path / "dogs").write_text("Two dogs are running.\n")
    plain = (*ROUND_TRIP, "--preset", "none", "-n", 1, "--json")
    status, out, err = paraloom("paraphrase", "dogs", "--text", *plain)
    assert status == 0 and json.loads(out)["source"] == "dogs", err
    status, out, err = paraloom("paraphrase", "dogs", *plain)
    assert status == 0 and json.loads(out)["source"] == "Two dogs are running.", err
    status, _, err = paraloom("paraphrase", "dogs", "A dog sleeps.", *ROUND_TRIP)
    assert status == 1 and "'A dog sleeps.' is a text, and 'dogs' a file" in err


def test_the_same_in_python() -> None:
    groups = library.paraphrase(TEXTS, "round-trip:en-de,de-en", preset="loose", n=1)
    assert len(groups) == 2 and all(len(group) <= 1 for group in groups)
    (one,) = library.paraphrase(TEXTS[0], lambda texts: ["A man rides a horse along the beach."], meaning=0.5)
    assert one.text.startswith("A man rides") and 0.5 <= one.meaning <= 1 and one.difference > 0.2
    given = library.paraphrase("Go home.", lambda texts: [["Go home.", "Go."]], preset="none")
    assert [one.text for one in given] == ["Go home.", "Go."]
    assert library.paraphrase([], lambda texts: []) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("paraphrase", "Go.", *ROUND_TRIP, "--candidates", 5, "--preset", "none"), "'candidates' is for a selection"),
        (
            ("evaluate", "paraphraser", "none", "set.csv", "--preset", "none", "--candidates", 5),
            "'candidates' is for a selection",
        ),
    ],
)
def test_options_without_effect_are_errors(
    paraloom: Command, labeled: Path, call: tuple[object, ...], message: str
) -> None:
    status, _, err = paraloom(*call)
    assert status == 1 and message in " ".join(err.split())


def test_an_endpoint(paraloom: Command) -> None:
    def answer(text: str, body: object) -> str:
        return (
            text.replace("man", "guy")
            .replace("dogs", "puppies")
            .replace("running", "racing")
            .replace("dinner", "a meal")
        )

    with serve(OpenAIServer(translate=answer)) as server:
        call = ("paraphrase", *TEXTS, "--paraphraser", f"{server.url}?model=m", "--json")
        status, out, err = paraloom(*call, "--meaning", 0, "--difference", 0.1, "--candidates", 2)
        assert status == 0, err
        assert "endpoint: " in err
        prompt = server.bodies[-1]["messages"][-1]["content"]
    assert prompt.startswith("Rewrite the following English text in other words.")
    assert json.loads(out.splitlines()[0])["text"].startswith("A guy is riding a horse on the beach.")


def test_standard_input_without_texts_is_named(paraloom: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    status, _, err = paraloom("paraphrase", "-")
    assert status == 1 and err.startswith("paraloom: standard input is empty.\n")
