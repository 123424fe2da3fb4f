"""Endpoints under faults: a tiny language model behind a server and a proxy, both in processes of their own.

    python benchmarks/endpoint.py                 # 2,000 lines
    python benchmarks/endpoint.py --lines 200     # a trial

Prints a table: the same bytes with faults as without, row counts, requests before and after kill -9 as the server
counts them, and throughput as a ratio to a bare loop of asyncio and httpx. The model (random weights, a checkpoint of
transformers that is made here) runs on CTranslate2; the server speaks the OpenAI protocol.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("a", "e", "i", "o", "u", "an", "en", "or")]
ANSWER_TOKENS = 8


class Handler(BaseHTTPRequestHandler):
    """Keeps connections, and sends headers and body together."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


def make_model(folder: Path) -> None:
    """A random Llama of two layers with a vocabulary of words, converted to CTranslate2."""
    import ctranslate2
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    vocabulary = {word: index for index, word in enumerate(["<unk>", "<s>", "</s>", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=4, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder / "checkpoint")
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
    wrapped.save_pretrained(folder / "checkpoint")
    ctranslate2.converters.TransformersConverter(str(folder / "checkpoint")).convert(str(folder / "engine"))


def run_server(folder: Path, log: Path) -> None:
    """The server: answers with what the model generates, and logs the digest of each request that it answered."""
    import ctranslate2

    engine = ctranslate2.Generator(str(folder / "engine"), intra_threads=1)
    known = set(WORDS)
    lock = threading.Lock()

    class Server(Handler):
        def do_POST(self) -> None:
            body = json.loads(self.body())
            prompt = body["messages"][-1]["content"].rsplit("\n\n", 1)[-1]
            lines = [line.split(". ", 1)[-1] for line in prompt.splitlines()]
            with lock:
                texts = [self.generate(line, body.get("seed", 0)) for line in lines]
            text = texts[0] if len(texts) == 1 else "\n".join(f"{n}. {line}" for n, line in enumerate(texts, 1))
            choices = [
                {"index": index, "message": {"content": text}, "finish_reason": "stop"}
                for index in range(body.get("n", 1))
            ]
            usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": ANSWER_TOKENS * len(lines)}
            content = json.dumps({"choices": choices, "usage": usage}).encode()
            # A line is appended in one write, so that threads do not mix.
            with log.open("a") as stream:
                stream.write(f"{hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()}\n")
            self.send(200, content)

        def generate(self, line: str, seed: int) -> str:
            words = [word for word in line.split() if word in known]
            result = engine.generate_batch(
                [["<s>", *words]], max_length=ANSWER_TOKENS, min_length=ANSWER_TOKENS, include_prompt_in_result=False
            )
            return " ".join(result[0].sequences[0])

    serve(Server)


def run_proxy(upstream: int, faults: float, hang: float) -> None:
    """The proxy: passes requests on, and spoils a share of the answers."""
    generator = random.Random(7)
    lock = threading.Lock()
    connections = threading.local()

    class Proxy(Handler):
        def do_POST(self) -> None:
            content = self.body()
            with lock:
                fault = generator.choice(FAULTS) if generator.random() < faults else ""
            if fault == "429":
                return self.send(429, b'{"error": {"message": "slow down"}}', Retry_After="0.05")
            if fault == "500":
                return self.send(500, b"internal error")
            if fault == "hang":
                time.sleep(hang)
                self.close_connection = True
                return None
            answer = self.passed_on(content)
            if fault == "truncated":
                answer = answer[: len(answer) // 2]
            if fault == "counts":
                value = json.loads(answer)
                value["choices"] = value["choices"] * 2
                answer = json.dumps(value).encode()
            return self.send(200, answer)

        def passed_on(self, content: bytes) -> bytes:
            connection = getattr(connections, "one", None)
            if connection is None:
                connection = connections.one = HTTPConnection("127.0.0.1", upstream)
            connection.request("POST", self.path, content, {"Content-Type": "application/json"})
            return connection.getresponse().read()

    serve(Proxy)


FAULTS = ("429", "500", "hang", "truncated", "counts")


def serve(handler: type[Handler]) -> None:
    """Serve on a free port, which is printed."""
    ThreadingHTTPServer.request_queue_size = 128
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        print(server.server_port, flush=True)
        server.serve_forever()


@contextmanager
def process(*arguments: object, script: str = __file__) -> Iterator[int]:
    """A script, by default this one, in a process of its own, as a server; its port."""
    command = [sys.executable, script, *map(str, arguments)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        yield int(child.stdout.readline())
    finally:
        child.kill()
        child.wait()


def translate(url: str, source: Path, output: Path, options: argparse.Namespace, *further: str) -> list[str]:
    """The command that translates; `further` are settings such as 'lines-per-request=4'."""
    settings = ["model=tiny", "from=de", "to=en", "max-failures=0", f"concurrency={options.concurrency}"]
    translator = "&".join([f"{url}?{settings[0]}", *settings[1:], "timeout=3", "max-ratio=0", "retries=12", *further])
    return [
        *(sys.executable, "-m", "paraloom", "translate", translator, str(source), "-o", str(output), "--force"),
        "--no-language-check",
    ]


def requests_of(log: Path) -> Counter[str]:
    """Requests that the server answered, by digest."""
    return Counter(log.read_text().split()) if log.exists() else Counter()


def bare_loop(url: str, sources: list[str], concurrency: int) -> tuple[float, float]:
    """Seconds, and CPU seconds, that asyncio and httpx take for the same requests, and nothing else."""
    import httpx

    prompt = (
        "Translate the following sentence from German into English. "
        "Answer with the translation alone, on one line.\n\n{text}"
    )

    async def run() -> tuple[float, float]:
        waiting = iter(sources)
        async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=concurrency)) as client:

            async def work() -> None:
                for text in waiting:
                    message = {"role": "user", "content": prompt.format(text=text)}
                    body = {
                        "model": "tiny",
                        "max_tokens": 64 + 2 * len(text),
                        "messages": [message],
                        "temperature": 0.0,
                    }
                    response = await client.post(f"{url}/chat/completions", json=body)
                    assert response.json()["choices"][0]["message"]["content"]

            started = clocks()
            await asyncio.gather(*(work() for _ in range(concurrency)))
            return since(started)

    return asyncio.run(run())


def our_loop(url: str, sources: list[str], concurrency: int, answers: Path) -> tuple[float, float]:
    """Seconds, and CPU seconds, that Paraloom takes, checks and the file of answers included."""
    from paraloom import EndpointTranslator

    model = EndpointTranslator(
        url, "tiny", source="de", target="en", concurrency=concurrency, max_ratio=0, answers=str(answers)
    )
    model.translate(sources[0] + " first")  # probes the server, and imports what is needed, before the clock starts
    started = clocks()
    for start in range(0, len(sources), 1024):
        assert all(group[0].text for group in model.translate(sources[start : start + 1024]))
    return since(started)


def clocks() -> tuple[float, float]:
    """Now, and the CPU seconds of this process."""
    return time.perf_counter(), time.process_time()


def since(started: tuple[float, float]) -> tuple[float, float]:
    """Seconds, and CPU seconds, since `clocks` was called."""
    return tuple(now - then for now, then in zip(clocks(), started, strict=True))  # type: ignore[return-value]


def timed(*arguments: object) -> tuple[float, float]:
    """What a client of this script, in a process of its own, takes: seconds, and CPU seconds."""
    command = [sys.executable, __file__, *map(str, arguments)]
    seconds, cpu = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return seconds, cpu


def kill_and_resume(command: list[str], log: Path, answers: Path, lines: int) -> tuple[int, int, int]:
    """Start, kill in the middle, and resume: answers of the server before the kill, those kept by then, and all."""
    child = subprocess.Popen(command)
    while len(requests_of(log)) < lines // 2 and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    time.sleep(1.0)
    before = sum(requests_of(log).values())
    with closing(sqlite3.connect(answers)) as connection:
        kept = connection.execute("select count(*) from answers").fetchone()[0]
    subprocess.run(command, check=True)
    return before, kept, sum(requests_of(log).values())


def faults_and_kills(
    plain: str, spoiled: str, source: Path, log: Path, options: argparse.Namespace
) -> list[tuple[str, str]]:
    """What faults and a kill change: nothing that is written, and how much is asked."""
    rows: list[tuple[str, str]] = []

    def bytes_of(name: str, url: str, *further: str) -> tuple[bytes, int]:
        log.unlink(missing_ok=True)
        subprocess.run(translate(url, source, source.parent / name, options, *further), check=True)
        return (source.parent / name).read_bytes(), sum(requests_of(log).values())

    for label, further in (("", ()), (", 4 lines a request", ("lines-per-request=4",))):
        good, asked = bytes_of(f"plain{len(further)}.txt", plain, *further)
        bad, repeated = bytes_of(f"faults{len(further)}.txt", spoiled, *further)
        count = len(good.splitlines())
        rows += [
            (f"lines in, lines out without faults{label}", f"{options.lines:,}, {count:,}"),
            (f"answers of the server without, with faults{label}", f"{asked:,}, {repeated:,}"),
            (f"same bytes with {options.faults:.0%} faults{label}", "yes" if good == bad else "NO"),
        ]
    log.unlink(missing_ok=True)
    command = translate(plain, source, source.parent / "killed.txt", options)
    before, kept, total = kill_and_resume(command, log, source.parent / "killed.txt.answers.sqlite", options.lines)
    twice = sum(requests_of(log).values()) - len(requests_of(log)) - 1  # the probe of seeds asks twice
    # Two answers to the probe of seeds are kept under one digest.
    again = len(requests_of(log)) - kept
    paid_twice = total - before - again
    same = (source.parent / "killed.txt").read_bytes() == (source.parent / "plain0.txt").read_bytes()
    rows += [
        ("answers of the server before kill -9, kept by then, in all", f"{before:,}, {kept:,}, {total:,}"),
        (f"in flight at the kill, asked again (at most {options.concurrency})", f"{twice:,}"),
        ("kept answers asked for again", f"{paid_twice:,}"),
        ("same bytes after kill -9", "yes" if same else "NO"),
    ]
    return rows


def speeds(url: str, source: Path, options: argparse.Namespace) -> list[tuple[str, str]]:
    """Lines per second of a bare loop and of Paraloom, in turn, each in a process of its own."""
    ours, bare = [], []
    for number in range(options.rounds):
        bare.append(timed("bare", url, source, options.concurrency))
        ours.append(timed("ours", url, source, options.concurrency, source.parent / f"speed{number}.sqlite"))
    lines = options.lines
    ratios = [theirs[0] / own[0] for theirs, own in zip(bare, ours, strict=True)]
    per_second = [lines / median(seconds for seconds, _ in rounds) for rounds in (bare, ours)]
    cpu = [1000 * median(seconds for _, seconds in rounds) / lines for rounds in (bare, ours)]
    return [
        ("lines/s of a bare loop, of Paraloom, medians", f"{per_second[0]:,.0f}, {per_second[1]:,.0f}"),
        (
            f"median of the {options.rounds} ratios, and all",
            f"{median(ratios):.2f} ({', '.join(f'{ratio:.2f}' for ratio in ratios)})",
        ),
        ("CPU of the client in ms per line, bare and Paraloom", f"{cpu[0]:.2f}, {cpu[1]:.2f}"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--faults", type=float, default=0.2, help="share of requests with a fault")
    parser.add_argument("--rounds", type=int, default=5, help="of the comparison of speed")
    parser.add_argument("--only-speed", action="store_true", help="compare the speed, without faults and kills")
    options = parser.parse_args()
    rows: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_model(folder)
        generator = random.Random(1)
        sources = [f"{number} {' '.join(generator.choices(WORDS, k=8))}" for number in range(options.lines)]
        source = folder / "source.txt"
        source.write_text("".join(f"{line}\n" for line in sources))
        log = folder / "requests.log"
        with process("server", folder, log) as server, process("proxy", server, options.faults, 5.0) as proxy:
            plain, spoiled = f"http://127.0.0.1:{server}/v1", f"http://127.0.0.1:{proxy}/v1"
            if not options.only_speed:
                rows += faults_and_kills(plain, spoiled, source, log, options)
            rows += speeds(plain, source, options)
    width = max(len(name) for name, _ in rows)
    print(f"\n{options.lines:,} lines, concurrency {options.concurrency}, {os.cpu_count()} cores\n")
    for name, value in rows:
        print(f"{name:<{width}}  {value}")


ROLES: dict[str, Callable[..., Any]] = {
    "server": lambda folder, log: run_server(Path(folder), Path(log)),
    "bare": lambda url, source, concurrency: print(
        json.dumps(bare_loop(url, Path(source).read_text().splitlines(), int(concurrency)))
    ),
    "ours": lambda url, source, concurrency, answers: print(
        json.dumps(our_loop(url, Path(source).read_text().splitlines(), int(concurrency), Path(answers)))
    ),
    "proxy": lambda upstream, faults, hang: run_proxy(int(upstream), float(faults), float(hang)),
}

if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ROLES:
        ROLES[sys.argv[1]](*sys.argv[2:])
    else:
        main()
