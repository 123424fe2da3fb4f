"""A small server of the OpenAI protocol on this machine, with faults on demand, and a record of what it was asked."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, dict[str, str], bytes]
"""Status, headers and body."""


@dataclass
class OpenAIServer:
    """What the server does, and what it was asked.

    translate: The answer to a prompt, by its text and the request.  fault: A reply instead of the answer, or None.
    supports: What it supports of n, logprobs and seed.
    """

    translate: Callable[[str, dict[str, Any]], str] = lambda text, body: text.upper()
    fault: Callable[[dict[str, Any], int], Reply | None] = lambda body, number: None
    supports: frozenset[str] = frozenset(["n", "logprobs", "seed"])
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)

    def reply(self, body: dict[str, Any], headers: dict[str, str], path: str) -> Reply:
        """The reply to a request."""
        self.bodies.append(body)
        self.headers.append(headers)
        reply = self.fault(body, len(self.bodies))
        if reply is not None:
            return reply
        for key in ("n", "logprobs", "seed"):
            if key in body and key not in self.supports:
                return 400, {}, json.dumps({"error": {"message": f"unknown parameter {key}"}}).encode()
        chat = path.endswith("/chat/completions")
        text = self.translate(sentence(body), body)
        choices = []
        for index in range(body.get("n", 1)):
            choice: dict[str, Any] = {"index": index, "finish_reason": "stop"}
            shown = text if index == 0 else f"{text} {index}"
            choice |= {"message": {"role": "assistant", "content": shown}} if chat else {"text": shown}
            if "logprobs" in body:
                choice["logprobs"] = (
                    {"content": [{"logprob": -0.5}, {"logprob": -0.25}]} if chat else {"token_logprobs": [-0.5, -0.25]}
                )
            choices.append(choice)
        self.answered[json.dumps(body, sort_keys=True)] += 1
        usage = {"prompt_tokens": 10, "completion_tokens": 2 * len(choices)}
        return 200, {}, json.dumps({"choices": choices, "usage": usage}).encode()


def sentence(body: dict[str, Any]) -> str:
    """The sentence, or the numbered lines, of a request: what follows the last blank line of the prompt."""
    prompt: str = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
    match = re.search(r": (.*)\n\w+:$", prompt)
    return match[1] if match else prompt.rsplit("\n\n", 1)[-1]


@contextmanager
def serve(server: OpenAIServer | None = None) -> Iterator[OpenAIServer]:
    """Run a server; its `url` ends in /v1."""
    state = server or OpenAIServer()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet, which the client need not wait for

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                status, headers, content = state.reply(body, dict(self.headers), self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        state.url = f"http://127.0.0.1:{http.server_port}/v1"
        yield state
        http.shutdown()
