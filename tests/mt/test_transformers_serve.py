"""`transformers serve` on this machine as an endpoint: its translations are what transformers itself generates."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_language_models import WORDS, greedy, make_checkpoint

import paraloom

pytestmark = pytest.mark.slow

NEEDED = ("transformers", "torch", "accelerate", "fastapi", "uvicorn", "openai")
PATIENCE = 180
TOKENS = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama, some of whose answers end by themselves."""
    return make_checkpoint(tmp_path_factory.mktemp("served") / "llama")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    """Address of the server, which is started, or the test is skipped with the reason."""
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        pytest.skip(f"transformers serve needs packages that are not installed: {', '.join(missing)}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder.parent / "serve.log"
    command = Path(sys.executable).with_name("transformers")
    with log.open("w") as stream:
        server = subprocess.Popen(
            [command, "serve", folder, "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)],
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + PATIENCE
        while not _answers(f"http://127.0.0.1:{port}/health"):
            if server.poll() is not None or time.monotonic() > end:
                pytest.skip(f"transformers serve cannot start here: {log.read_text()[-500:]}")
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(30)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def test_its_answers_are_those_of_transformers(url: str, folder: Path) -> None:
    """Whole answers are the translations; those that the maximum length cut off are failures that say so."""
    texts = [" ".join(WORDS[4 + (5 * row + column) % 60] for column in range(3)) for row in range(12)]
    translator = paraloom.EndpointTranslator(
        url,
        str(folder),
        source="de",
        target="en",
        decode="greedy",
        prompt="{text}",
        answer_tokens=TOKENS,
        max_ratio=0.0,
        attempts=1,
    )
    translated = [variants[0] for variants in translator.translate(texts)]
    expected = [greedy(folder, f"<s> {text} </s> ", TOKENS) for text in texts]
    longer = [greedy(folder, f"<s> {text} </s> ", 3 * TOKENS) for text in texts]
    assert expected != longer
    assert set(expected) & set(longer)
    for variant, answer, uncut in zip(translated, expected, longer, strict=True):
        if answer == uncut:  # the tokenizer takes <end> for a word, so the server leaves it in the answer
            assert (variant.text.removesuffix(" <end>"), variant.reason) == (answer, None)
        else:
            assert variant.reason == "the answer was cut off at its maximum length"
    usage = translator.usage()
    assert usage.answers >= len(texts)
    assert usage.input_tokens > 0
