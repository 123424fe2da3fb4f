"""Translators behind endpoints: a server on this machine, with and without faults."""

from __future__ import annotations

import json
import math
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openai_server import OpenAIServer, Reply, sentence, serve
from processes import start, wait_until

import paraloom
from paraloom import ConfigError, DataError, EndpointTranslator, RunError
from paraloom.mt import endpoint_requests
from paraloom.mt.callable_translator import CallableTranslator
from paraloom.mt.endpoint import ENDPOINT_FILE
from paraloom.mt.endpoint_batch import Capabilities
from paraloom.mt.endpoint_config import EndpointConfig
from paraloom.mt.loading import open_translator

TEXTS = [f"Der Hund Nummer {number} schläft." for number in range(30)]
WAITS: list[float] = []


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    WAITS.clear()

    def backoff(attempt: int) -> float:
        WAITS.append(float(attempt))
        return 0.001

    monkeypatch.setattr(endpoint_requests, "_backoff", backoff)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def translator(server: OpenAIServer, **options: Any) -> EndpointTranslator:
    return EndpointTranslator(server.url, "m", **{"source": "de", "target": "en"} | options)


def asked(server: OpenAIServer) -> list[str]:
    """The sentences that were asked for, without probes."""
    return [text for body in server.bodies if "animal" not in (text := sentence(body))]


def test_each_sentence_has_its_translation_in_order(server: OpenAIServer) -> None:
    model = translator(server)
    variants = model.translate([*TEXTS, "", TEXTS[0]])
    assert [group[0].text for group in variants] == [*map(str.upper, TEXTS), "", TEXTS[0].upper()]
    # The server gives -0.5 and -0.25 for its two tokens.
    assert variants[0][0][1:4] == (-0.75, 2, False)
    assert variants[-2] == [paraloom.Variant("", 0.0, 0)]
    assert sorted(asked(server)) == sorted(TEXTS), "equal requests are sent once"
    assert model.translate("Hallo")[0].text == "HALLO"
    assert (model.source, model.target) == ("de", "en")


def test_a_decoding_becomes_what_the_protocol_has(server: OpenAIServer) -> None:
    greedy = translator(server)
    greedy.translate("Hallo")
    body = server.bodies[-1]
    assert body["temperature"] == 0
    assert not {"seed", "n", "top_p"} & set(body)
    group = greedy.with_decoding("nucleus:0.9,nbest=3,temperature=0.8").translate("Hallo", seed=5)
    assert [variant.text for variant in group] == ["HALLO", "HALLO 1", "HALLO 2"]
    body = server.bodies[-1]
    assert (body["n"], body["top_p"], body["temperature"]) == (3, 0.9, 0.8)
    assert 0 <= body["seed"] < 2**31


def test_seeds_differ_by_row_and_repeat_by_seed(server: OpenAIServer) -> None:
    def seeds(seed: int) -> list[int]:
        before = len(server.bodies)
        translator(server, decode="sampling").translate(["Hallo", "Hallo"], seed=seed)
        return [body["seed"] for body in server.bodies[before:] if "animal" not in sentence(body)]

    assert sorted(seeds(1)) == sorted(seeds(1))
    assert len({*seeds(1), *seeds(2)}) == 4


def test_without_n_and_seed_several_requests_are_sent() -> None:
    with serve(OpenAIServer(supports=frozenset())) as server:
        model = translator(server, decode="sampling,nbest=3")
        group = model.translate("Hallo")
        assert model.capabilities == Capabilities(False, False, False)
        assert len(asked(server)) == 3
        assert "seed" not in server.bodies[-1]
    assert len(group) == 3
    assert all(math.isnan(variant.logprob) and variant.tokens == 2 for variant in group)
    assert "n:no|logprobs:no|seed:no" in model.signature


@pytest.mark.parametrize(("supports", "probes"), [("n logprobs seed", 2), ("logprobs seed", 6), ("", 5)])
def test_one_sentence_costs_few_probes_and_every_request_is_counted(supports: str, probes: int) -> None:
    with serve(OpenAIServer(supports=frozenset(supports.split()))) as server:
        model = translator(server)
        model.with_decoding("greedy").translate("Hallo")
        assert len(server.bodies) <= 1 + probes
        assert model.usage().requests == len(server.bodies)
        assert model.capabilities == Capabilities(*(name in supports for name in ("n", "logprobs", "seed")))


def test_an_answer_without_logprobs_has_no_cost() -> None:
    with serve(OpenAIServer(supports=frozenset(["n", "seed"]))) as server:
        pairs = paraloom.backtranslate([("Hallo.", "Hello.")], translator(server))
        row = pairs.to_list()[0]
    assert (row["tgt"], row["logprob"], row["tokens"]) == ("HALLO.", None, None)


def test_completions(server: OpenAIServer) -> None:
    model = EndpointTranslator(f"{server.url}/completions", "m", source="de", target="en")
    assert model.translate("Hallo")[0][:3] == ("HALLO", -0.75, 2)
    assert server.bodies[-1]["prompt"] == "German: Hallo\nEnglish:"
    assert server.bodies[-1]["stop"] == ["\n"]


@pytest.mark.parametrize(
    ("decode", "message"),
    [("beam:5", "beam search"), ("topk:10", "cannot be asked"), ("nucleus:0.9,within=50", "'within'")],
)
def test_decodings_that_no_endpoint_has(decode: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        EndpointTranslator("http://127.0.0.1:1/v1", "m", source="de", target="en", decode=decode)


@pytest.mark.slow
def test_mbr_chooses_among_samples(server: OpenAIServer) -> None:
    server.translate = lambda text, body: "a cat sat here"
    group = translator(server, decode="mbr:chrf,samples=4").translate("Hallo")
    assert len(group) == 1
    assert group[0].utility is not None


def faulty(seed: int, rate: float = 0.5) -> Any:
    """A server that answers wrongly now and then: 429, 500, truncated JSON, a wrong number of choices."""
    generator = random.Random(seed)

    def fault(body: dict[str, Any], number: int) -> Reply | None:
        if generator.random() > rate:
            return None
        return generator.choice(
            [
                (429, {"Retry-After": "0"}, b'{"error": {"message": "slow down"}}'),
                (500, {}, b"oops"),
                (200, {}, b'{"choices": [{"mess'),
                (200, {}, b'{"choices": []}'),
            ]
        )

    return fault


@pytest.mark.parametrize("lines", [1, 4])
def test_faults_change_nothing(lines: int) -> None:
    def translate(text: str, body: dict[str, Any]) -> str:
        numbered = [line.partition(". ") for line in text.splitlines() if ". " in line]
        return "\n".join(f"{number}. {line.upper()}" for number, _, line in numbered) if numbered else text.upper()

    results = []
    for fault in (lambda body, number: None, faulty(1)):
        with serve(OpenAIServer(translate=translate, fault=fault)) as server:
            model = translator(server, lines_per_request=lines, retries=40)
            results.append(model.translate(TEXTS))
            assert max(server.answered.values()) <= 2, "only the probe of seeds is asked twice"
    assert results[0] == results[1]
    assert [group[0].text for group in results[0]] == [text.upper() for text in TEXTS]
    assert model.usage().retries > 0


def test_retry_after_is_obeyed(server: OpenAIServer) -> None:
    translator(server).translate("Hallo")
    model = translator(server)
    model.translate("Hallo")
    first = len(server.bodies) + 1
    server.fault = lambda body, number: (429, {"Retry-After": "0.3"}, b"") if number == first else None
    started = time.monotonic()
    assert model.translate("Tschüss")[0].text == "TSCHÜSS"
    assert time.monotonic() - started >= 0.3
    assert not WAITS


def test_a_hanging_request_is_repeated(server: OpenAIServer) -> None:
    model = translator(server, timeout=0.3)
    model.translate("Hallo")

    first = len(server.bodies) + 1

    def hang(body: dict[str, Any], number: int) -> Reply | None:
        if number == first:
            time.sleep(0.6)
        return None

    server.fault = hang
    assert model.translate("Tschüss")[0].text == "TSCHÜSS"
    assert WAITS[0] == 0.0


def test_a_bad_answer_is_asked_for_again_then_rejected(server: OpenAIServer) -> None:
    def translate(text: str, body: dict[str, Any]) -> str:
        if text == "nie" or (text == "erst" and body["temperature"] == 0):
            return "I cannot translate that."
        return "fine"

    server.translate = translate
    model = translator(server, attempts=2)
    never, first, good = model.translate(["nie", "erst", "gut"])
    assert (first[0].text, good[0].text) == ("fine", "fine")
    assert never == [paraloom.Variant("", never[0].logprob, 0, reason="refusal")]
    assert (asked(server).count("nie"), asked(server).count("erst"), asked(server).count("gut")) == (2, 2, 1)
    assert model.usage().failures == 1


def test_the_run_stops_when_too_many_rows_fail(server: OpenAIServer) -> None:
    server.translate = lambda text, body: "I cannot translate that."
    with pytest.raises(RunError, match="3 rows have no translation; the last one: refusal"):
        translator(server, max_failures=2, concurrency=1).translate(["a", "b", "c", "d"])
    assert "d" not in asked(server)


def test_a_refused_request_fails_its_row_only(server: OpenAIServer) -> None:
    model = translator(server)
    model.translate("Hallo")
    server.fault = lambda body, number: (
        (400, {}, b'{"error": {"message": "too long"}}') if sentence(body) == "lang" else None
    )
    long, good = model.translate(["lang", "gut"])
    assert long[0].reason == "the endpoint refuses the request: HTTP 400: too long"
    assert good[0].text == "GUT"
    assert not WAITS, "a refused request is not repeated"


def test_a_line_whose_number_is_missing_is_asked_for_alone(server: OpenAIServer) -> None:
    server.translate = lambda text, body: "1. only one" if "1. " in text else text.upper()
    group = translator(server, lines_per_request=2).translate(["ja", "nein"])
    assert [variants[0].text for variants in group] == ["JA", "NEIN"]
    numbered = [text for text in asked(server) if "1. " in text]
    assert len(numbered) == endpoint_requests.MISCOUNTS


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (401, b"sk-secret-1234567", ConfigError, "refuses the key"),
        (404, b'{"error": {"message": "no model m"}}', ConfigError, "no model m"),
        (301, b"", ConfigError, "redirects"),
        (429, b'{"error": {"code": "insufficient_quota"}}', RunError, "no credit"),
        (500, b"sk-secret-1234567 is wrong", RunError, "does not answer"),
    ],
)
def test_what_no_retry_repairs_stops_at_once(
    server: OpenAIServer, status: int, body: bytes, kind: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARALOOM_API_KEY", "sk-secret-1234567")
    server.fault = lambda _, number: (status, {}, body)
    with pytest.raises(kind, match=message) as raised:
        translator(server).translate("Hallo")
    assert "secret" not in str(raised.value)
    if status != 500:
        assert len(server.bodies) == 1


@pytest.mark.parametrize("scheme", ["http://", ""])
def test_the_proxy_of_the_environment_is_used(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setenv("http_proxy", scheme + server.url.removeprefix("http://").removesuffix("/v1"))
    monkeypatch.setenv("no_proxy", "localhost")
    translator = EndpointTranslator("http://translator.invalid/v1", "m", source="de", target="en", retries=0)
    assert [group[0].text for group in translator.translate(["ein hund"])] == ["EIN HUND"]
    assert {headers["Host"] for headers in server.headers} == {"translator.invalid"}


def test_an_endpoint_that_is_not_there() -> None:
    with pytest.raises(RunError, match=r"127\.0\.0\.1:1.* does not answer"):
        EndpointTranslator("http://127.0.0.1:1/v1", "m", source="de", target="en", retries=1).translate("Hallo")


def test_the_key_is_sent_and_written_nowhere(
    server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-1234567")
    model = translator(server, api_key_env="MY_KEY", answers=str(tmp_path / "answers.sqlite"))
    assert model.translate("Hallo")[0].text == "HALLO"
    assert server.headers[-1]["authorization" if "authorization" in server.headers[-1] else "Authorization"].endswith(
        "sk-secret-1234567"
    )
    model.save(tmp_path / "saved")
    model.close()
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) >= 3
    for path in written:
        assert b"secret" not in path.read_bytes(), path
    assert "secret" not in repr(model) + model.signature


@pytest.mark.parametrize(
    "key", ["sk-one23\nsk-two45", "sk-one23\r", "sk-one23 sk-two45", "sk-one23\u2028", "schlüssel-one23"]
)
def test_a_key_that_cannot_be_sent(key: str, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused at once, and not shown; white space around a key is none of it."""
    monkeypatch.setenv("MY_KEY", f" {key}\n")
    if key.strip() == "sk-one23":
        assert translator(server, api_key_env="MY_KEY").translate("Hallo")[0].text == "HALLO"
        return
    with pytest.raises(ConfigError, match="the key in the environment variable MY_KEY has") as raised:
        translator(server, api_key_env="MY_KEY")
    assert "one23" not in str(raised.value) and "two45" not in str(raised.value)
    assert not server.bodies


def test_a_key_in_the_message_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not shown in part either, where the message is longer than what is shown of it."""
    monkeypatch.setenv("MY_KEY", "quite-secret-key")
    message = "x" * 185 + " quite-secret-key is not a key that is known here"
    with serve(OpenAIServer(fault=lambda body, number: (400, {}, json.dumps({"error": message}).encode()))) as server:
        reason = translator(server, api_key_env="MY_KEY", retries=0)
        with pytest.raises(RunError) as raised:
            reason.translate("Hallo")
    assert "***" in str(raised.value) and "quite" not in str(raised.value)


@pytest.mark.parametrize("proxy", ["http://me:pa#ss17@h:1", "http://me:pa ss17@h:x", "nothing://me:pass17@h"])
def test_a_proxy_that_cannot_be_used(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.setenv("no_proxy", "localhost")
    model = EndpointTranslator("http://translator.invalid/v1", "m", source="de", target="en", retries=0)
    with pytest.raises(ConfigError, match="http_proxy is not one that can be used") as raised:
        model.translate(["ein hund"])
    assert "ss17" not in str(raised.value)


def test_an_answer_without_end(server: OpenAIServer) -> None:
    """It is read as far as the tokens that were asked for may need; its row fails, the others do not."""

    def endless(text: str, body: dict[str, Any]) -> str:
        return "x" * 3_000_000 if "Nummer 7 " in text else text.upper()

    server.translate = endless
    model = translator(server, retries=2)
    variants = model.translate(TEXTS)
    assert [row for row, group in enumerate(variants) if group[0].reason] == [7]
    assert "the answer has more than" in str(variants[7][0].reason)
    assert model.usage().failures == 1
    assert len([text for text in asked(server) if "Nummer 7 " in text]) == 1


def test_an_error_page_without_end(server: OpenAIServer) -> None:
    """What is repeated is decided by the status, whatever the size of the page."""
    server.fault = lambda body, number: (503, {}, b"x" * 3_000_000) if number == 20 else None
    assert [group[0].text for group in translator(server, retries=2).translate(TEXTS)] == [*map(str.upper, TEXTS)]


@pytest.mark.parametrize(
    "changes",
    [
        {"usage": {"prompt_tokens": -5}},
        {"usage": {"prompt_tokens": 10**30}},
        {"usage": {"completion_tokens": float("inf")}},
        {"usage": {"completion_tokens": float("nan")}},
        {"choices": [{"message": {"content": "\ud800"}}]},
    ],
)
def test_answers_that_cannot_be(changes: dict[str, Any]) -> None:
    body = {"choices": [{"message": {"content": "Yes."}}], **changes}
    with pytest.raises(ValueError, match="the answer is not that of a chat"):
        endpoint_requests.read_choices(json.dumps(body).encode(), 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "http://user:pass@h/v1"}, "no user, password or query"),
        ({"url": "https://h/v1?key=1"}, "no user, password or query"),
        ({"url": "ftp://h/v1"}, "not the address"),
        ({"url": "http://h:x/v1"}, "cannot be read"),
        ({"model": ""}, "model is missing"),
        ({"concurrency": 0}, "'concurrency' must be 1 or more"),
        ({"max_tokens": -1}, "'max_tokens' must be 0 or more"),
        ({"timeout": 0}, "'timeout'"),
        ({"api_key_env": "sk-abc"}, "name of an environment variable"),
        ({"api_key_env": "hf_AbCdEfGhIjKl"}, "name of an environment variable"),
        ({"extra_body": "{"}, "not valid JSON"),
        ({"extra_body": '{"a": {"api_key": "x"}}'}, "'extra_body' has the key 'api_key'"),
        ({"extra_body": '{"seed": 1}'}, "without messages"),
        ({"source": ""}, "source language"),
    ],
)
def test_wrong_settings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        EndpointConfig(**{"url": "http://h/v1", "model": "m", "source": "de", "target": "en"} | options)


def test_answers_are_kept_and_budgets_count_all_runs(server: OpenAIServer, tmp_path: Path) -> None:
    answers = str(tmp_path / "answers.sqlite")
    with pytest.raises(RunError, match="budget is used up after 15 requests"):
        translator(server, answers=answers, max_requests=15).translate(TEXTS)
    assert len(server.bodies) == 15
    with pytest.raises(RunError, match="budget is used up after 15 requests"):
        translator(server, answers=answers, max_requests=15).translate(TEXTS)
    assert len(server.bodies) == 15
    first = translator(server, answers=answers).translate(TEXTS)
    assert sorted(asked(server)) == sorted(TEXTS), "no sentence is paid for twice"
    count = len(server.bodies)
    again = translator(server, answers=answers, input_price=2.0, output_price=10.0)
    assert again.translate(TEXTS) == first
    assert len(server.bodies) == count
    usage = again.usage()
    # 10 tokens of each prompt; 2 of each answer, 4 of both probes of two choices.
    assert (usage.requests, usage.input_tokens, usage.output_tokens) == (count, 10 * count, 2 * count + 4)
    assert usage.cost == pytest.approx((2 * 10 * count + 10 * (2 * count + 4)) / 1e6)
    with pytest.raises(RunError, match="Raise max-tokens"):
        translator(server, answers=answers, max_tokens=100).translate("neu")


@pytest.mark.slow
def test_answers_under_way_are_kept_when_a_process_is_asked_to_end(server: OpenAIServer, tmp_path: Path) -> None:
    server.fault = lambda body, number: time.sleep(0.1)  # type: ignore[func-returns-value]
    answers = str(tmp_path / "answers.sqlite")
    code = """
import sys
from paraloom import EndpointTranslator
url, answers = sys.argv[1:]
model = EndpointTranslator(url, "m", source="de", target="en", concurrency=4, answers=answers)
model.translate([f"Der Hund Nummer {number} schläft." for number in range(30)])
"""
    running = start(code, server.url, answers)
    wait_until(lambda: len(server.answered) >= 8, running)
    running.terminate()
    time.sleep(0.03)
    running.terminate()  # a run ends its workers together, and then waits for one after the other
    assert running.wait() == -signal.SIGTERM
    assert len(server.answered) < len(TEXTS)
    assert len(translator(server, answers=answers).translate(TEXTS)) == len(TEXTS)
    texts = asked(server)
    assert sorted(texts) == sorted(TEXTS), "no sentence is paid for twice"


def test_a_saved_endpoint_is_a_translator_by_its_folder(server: OpenAIServer, tmp_path: Path) -> None:
    model = translator(server)
    model.translate("Hallo")
    loaded = open_translator(model.save(tmp_path / "e"), "sampling")
    assert isinstance(loaded, EndpointTranslator)
    assert loaded.capabilities == model.capabilities
    assert loaded.translate(["Hallo"])[0][0].text == "HALLO"
    (tmp_path / "e" / ENDPOINT_FILE).write_text("[]")
    with pytest.raises(paraloom.ModelError, match="not a translator behind an endpoint"):
        open_translator(tmp_path / "e", "greedy")


def test_a_function_is_a_translator() -> None:
    pairs = paraloom.backtranslate([("hallo", "hello"), ("welt", "world")], lambda texts: [t.upper() for t in texts])
    rows = pairs.to_list()
    assert [(row["src"], row["tgt"], row["logprob"]) for row in rows] == [
        ("hello", "HALLO", None),
        ("world", "WELT", None),
    ]
    several = CallableTranslator(lambda texts: [(t, t + t) for t in texts]).translate(["a", " ", "b"])
    assert [[variant.text for variant in group] for group in several] == [["a", "aa"], [""], ["b", "bb"]]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (["x"], "returned 1 results for 2 texts"),
        ("ab", "returned str"),
        (None, "returned NoneType"),
        ([1, 2], "returned int for 'a'"),
        ([["x"], []], "returned nothing for 'b'"),
        ([["x"], [None]], "returned NoneType for 'b'"),
    ],
)
def test_a_function_that_returns_something_else(result: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        CallableTranslator(lambda texts: result).translate(["a", "b"])
    with pytest.raises(TypeError, match="expected a translator"):
        paraloom.backtranslate([("a", "b")], 3)  # type: ignore[arg-type]


def test_a_pipeline_keeps_answers_beside_the_translator(server: OpenAIServer, tmp_path: Path) -> None:
    server.translate = lambda text, body: "refused: I cannot translate that." if text.startswith("x") else text.upper()
    (tmp_path / "a.tsv").write_text("".join(f"{'x' if n == 3 else 'satz'} {n}\tsentence {n}\n" for n in range(6)))
    (tmp_path / "p.toml").write_text(
        f"""
name = "endpoint"
[[stage]]
use = "read-pairs"
source = "a.tsv"
src_lang = "de"
tgt_lang = "en"
[[stage]]
use = "load-endpoint"
url = "{server.url}"
model = "m"
source = "de"
target = "en"
[[stage]]
use = "backtranslate"
translator = "load-endpoint"
decode = "greedy"
"""
    )
    pipeline = paraloom.Pipeline.from_toml(tmp_path / "p.toml")
    result = pipeline.run(tmp_path / "run", engine="inline")
    counts = result.stages[-1].counts
    assert (counts.read, counts.kept, counts.rejected) == (6, 5, 1)
    assert result.stages[-1].figures["failures"] == 1
    assert result.stages[-1].figures["requests"] == len(server.bodies)
    assert (tmp_path / "run" / "20-load-endpoint" / "answers.sqlite").is_file()
    report = json.loads((tmp_path / "run" / "run.json").read_text())
    assert report["stages"][-1]["figures"]["input_tokens"] > 0
    # The shard is lost, and the budget changed: the rows are made again without a request.
    count = len(server.bodies)
    for shard in (tmp_path / "run").glob("30-backtranslate/*.parquet"):
        shard.unlink()
    text = (tmp_path / "p.toml").read_text().replace('target = "en"\n[[', 'target = "en"\nmax_requests = 1\n[[')
    (tmp_path / "p.toml").write_text(text)
    again = paraloom.Pipeline.from_toml(tmp_path / "p.toml").run(tmp_path / "run", engine="inline")
    assert len(server.bodies) == count
    assert again.stages[-1].digest == result.stages[-1].digest
