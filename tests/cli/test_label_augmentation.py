"""The commands paraphrase and augment-labels with the bundled translators, and with an endpoint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Command
from openai_server import OpenAIServer, serve

SET = """text,label
A man is riding a horse on the beach.,outdoor
Two dogs are running across the snow.,outdoor
A man is cooking dinner in the kitchen.,indoor
"""
TEXTS = ["A man is riding a horse on the beach.", "Two dogs are running across the snow."]
ROUND_TRIP = ("--forward", "en-de", "--backward", "de-en")
BOTH_WAYS = ("--paraphraser", "round-trip:en-de,de-en")


@pytest.fixture
def labeled(tmp_path: Path) -> Path:
    path = tmp_path / "set.csv"
    path.write_text(SET, encoding="utf-8")
    return path


def test_augment_labels_by_a_round_trip(paraloom: Command, labeled: Path) -> None:
    call = ("augment-labels", "set.csv", "-o", "more.csv", *BOTH_WAYS, "--preset", "varied")
    status, out, err = paraloom(*call)
    assert status == 0, err
    assert "text: text; label: label" in out and "all" in out and "Written in " in err
    lines = (labeled.parent / "more.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith("augmented_from,augmented_by,augmented_meaning,augmented_difference,augmented_fluency")
    assert [line[: -len(",,,,,")] for line in lines[1:4]] == SET.splitlines()[1:]
    assert all(line.split(",")[1] in ("indoor", "outdoor") for line in lines[4:])
    status, _, err = paraloom(*call)
    assert status == 0 and "up to date" in err
    figures = json.loads(paraloom(*call, "--force", "--json")[1])
    assert figures["output"] == "more.csv" and figures["rows"] == 3 and figures["written"] == len(lines) - 1
    assert [one["label"] for one in figures["labels"]] == ["outdoor", "indoor"]


def test_bad_calls(paraloom: Command, labeled: Path) -> None:
    status, _, err = paraloom("augment-labels", "set.csv", "-o", "more.csv")
    assert status == 2 and "--paraphraser" in err
    status, _, err = paraloom("augment-labels", "set.csv", "-o", "more.csv", *ROUND_TRIP)
    assert status == 2 and "round-trip:en-de,de-en" in " ".join(err.replace("│", " ").split())
    status, _, err = paraloom("augment-labels", "set.csv", "-o", "more.csv", *BOTH_WAYS, "--meaning", 3)
    assert status == 2 and "this option is gone" in " ".join(err.replace("│", " ").split())
    assert paraloom("augment-labels", "set.csv", "-o", "more.csv", *BOTH_WAYS, "--preset", "best")[0] == 2
    labeled.write_text(SET + "A dog sleeps.,\n", encoding="utf-8")
    status, _, err = paraloom("augment-labels", "set.csv", "-o", "more.csv", *BOTH_WAYS)
    assert status == 1 and "set.csv, row 4: the label, 'label', is missing" in err
    assert not (labeled.parent / "more.csv").exists()


def test_paraphrase_by_a_round_trip(paraloom: Command) -> None:
    status, out, err = paraloom("paraphrase", "Two dogs are running.", *ROUND_TRIP, "-n", 3, "--json")
    assert status == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 3 and {"source", "text", "logprob", "tokens", "pivot"} <= set(rows[0])
    status, out, err = paraloom(
        *("paraphrase", "Two dogs are running.", *ROUND_TRIP, "-n", 2),
        *("--meaning", 0, "--difference", 0.1, "--json"),
    )
    assert status == 0, err
    assert all(json.loads(line)["difference"] >= 0.1 for line in out.splitlines())
    assert "candidates" in err
    status, _, err = paraloom("paraphrase", "Go.", *ROUND_TRIP, "--template", "(S (VP))")
    assert status == 1 and "are for a trained paraphraser" in err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("paraphrase", "Go.", *ROUND_TRIP, "--candidates", 5), "--candidates: it is for a selection"),
        (("paraphrase", "Go.", "--model", "folder", "--pivots", 2), "--pivots: it is for a round trip"),
        (
            ("evaluate", "paraphraser", "folder", "a.tsv", "--no-selection", "--candidates", 5),
            "--candidates: it is for a selection",
        ),
    ],
)
def test_options_without_effect_are_wrong_usage(
    paraloom: Command, labeled: Path, call: tuple[object, ...], message: str
) -> None:
    status, _, err = paraloom(*call)
    assert status == 2 and message in " ".join(err.replace("│", " ").split())


def test_an_endpoint(paraloom: Command) -> None:
    def answer(text: str, body: object) -> str:
        return (
            text.replace("man", "guy")
            .replace("dogs", "puppies")
            .replace("running", "racing")
            .replace("dinner", "a meal")
        )

    with serve(OpenAIServer(translate=answer)) as server:
        call = ("paraphrase", *TEXTS, "--model", server.url, "--endpoint-model", "m", "--json")
        status, out, err = paraloom(*call, "--meaning", 0, "--difference", 0.1, "--candidates", 2)
        assert status == 0, err
        assert "endpoint: " in err
        prompt = server.bodies[-1]["messages"][-1]["content"]
    assert prompt.startswith("Rewrite the following English text in other words.")
    assert json.loads(out.splitlines()[0])["text"] == "A guy is riding a horse on the beach."
