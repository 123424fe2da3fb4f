"""Language models as judges: log-odds of yes and no, answers in words, kept answers, budgets and failures."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openai_server import OpenAIServer, Reply, serve

from paraloom import ConfigError, RunError, as_pairs
from paraloom.mt import endpoint_requests
from paraloom.mt.endpoint import EndpointTranslator
from paraloom.mt.endpoint_judge import EndpointJudge, probability_of_yes
from paraloom.mt.endpoint_requests import Choice

PAIRS = [("A dog sleeps.", "The dog is asleep."), ("A dog sleeps.", "A cat sleeps."), ("A dog sleeps.", "")]


def logprobs(body: dict[str, Any], number: int) -> Reply | None:
    """The answer of a server with log-probabilities: yes for a dog, no for a cat."""
    chat = "messages" in body
    prompt = body["messages"][-1]["content"] if chat else body["prompt"]
    top = {"Yes": -0.1, "No": -2.4, " yes": -5.0} if "asleep" in prompt else {"No": -0.01, "Perhaps": -6.0}
    text = next(iter(top))
    if chat:
        listed = [{"token": token, "logprob": value} for token, value in top.items()]
        given: Any = {"content": [{"token": text, "logprob": top[text], "top_logprobs": listed}]}
    else:
        given = {"token_logprobs": [top[text]], "top_logprobs": [top]}
    choice = {"index": 0, "finish_reason": "length", "logprobs": given}
    choice |= {"message": {"content": text}} if chat else {"text": text}
    choices = [choice | {"index": index} for index in range(body.get("n", 1))]
    return 200, {}, json.dumps({"choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 1}}).encode()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with serve(OpenAIServer(fault=logprobs)) as running:
        yield running


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_requests, "_backoff", lambda attempt: 0.001)


def asked(server: OpenAIServer) -> list[dict[str, Any]]:
    """Requests without probes."""
    return [body for body in server.bodies if "animal" not in json.dumps(body)]


@pytest.mark.parametrize("path", ["", "/completions"])
def test_judge_is_the_logistic_of_the_log_odds(server: OpenAIServer, path: str) -> None:
    rows = as_pairs([*PAIRS, PAIRS[0]]).score((), judge=f"{server.url}{path}?model=m").to_list()
    yes = math.exp(-0.1) + math.exp(-5.0)
    assert rows[0]["judge"] == rows[3]["judge"] == pytest.approx(yes / (yes + math.exp(-2.4)), abs=1e-6)
    # "Yes" is not listed, so it is at most as likely as the last token that is.
    assert rows[1]["judge"] == pytest.approx(1 / (1 + math.exp(-0.01 + 6.0)), abs=1e-6)
    assert rows[2]["judge"] is None and "judge_forward" not in rows[0]
    assert len(asked(server)) == 2, "equal pairs are asked once, empty ones not at all"
    body = asked(server)[0]
    assert body["temperature"] == 0 and body["max_tokens"] == 1
    assert (body["top_logprobs"] if not path else body["logprobs"]) == 5


def test_answers_in_words_are_one_or_zero() -> None:
    def answer(text: str, body: dict[str, Any]) -> str:
        return "<think>Hm.</think> yes." if "asleep" in text else "No, it does not."

    with serve(OpenAIServer(answer, supports=frozenset())) as server:
        judge = EndpointJudge(EndpointTranslator(server.url, "m", prompt="judge"))
        with pytest.warns(UserWarning, match="no log-probabilities"):
            values = judge.probabilities(*zip(*PAIRS, strict=True))
    assert values[:2, 0].tolist() == [1.0, 0.0] and math.isnan(values[2, 0])


def test_answers_that_say_neither_are_failures() -> None:
    assert probability_of_yes(Choice("Perhaps.", -1.0, 1, False)) is None
    assert probability_of_yes(Choice("<think>Yes", -1.0, 1, True)) is None
    with serve(OpenAIServer(lambda text, body: "Perhaps.")) as server:
        reference = f"{server.url}?model=m&max-failures=1"
        rows = as_pairs([PAIRS[0]]).score((), judge=reference).to_list()
        assert rows[0]["judge"] is None
        with pytest.raises(RunError, match="2 pairs were not judged; the last answer: neither yes nor no: 'Perhaps"):
            as_pairs(PAIRS).score((), judge=reference).to_list()


def test_command_asks_nothing_twice_and_obeys_the_budget(
    server: OpenAIServer, paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    (tmp_path / "pairs.tsv").write_text("".join(f"A dog {n} sleeps.\tThe dog {n} is asleep.\n" for n in range(8)))
    call = ("score", "pairs.tsv", "--with", "length", "--engine", "inline", "-o", "scored.jsonl")
    status, _, err = paraloom(*call, "--judge", f"{server.url}?model=m&max-requests=6")
    assert status == 1 and "the budget is used up after 6 requests" in err
    assert len(server.bodies) == 6
    status, _, err = paraloom(*call, "--judge", f"{server.url}?model=m")
    assert status == 0, err
    assert len(asked(server)) == 8
    before = len(server.bodies)
    status, _, err = paraloom(*call, "--judge", f"{server.url}?model=m", "--force")
    assert status == 0, err
    assert len(server.bodies) == before
    rows = [json.loads(line) for line in (tmp_path / "scored.jsonl").read_text().splitlines()]
    assert all(0.9 < row["judge"] < 0.95 for row in rows)


def test_settings_are_checked_before_anything_is_asked(server: OpenAIServer) -> None:
    with pytest.raises(ConfigError, match="needs the name of a model"):
        as_pairs(PAIRS).score((), judge=f"{server.url}?max-requests=3")
    with pytest.raises(ConfigError, match="has no setting 'modle'; did you mean 'model'"):
        as_pairs(PAIRS).score((), judge=f"{server.url}?modle=m")
    assert not server.bodies
