"""Translation by a language model behind an HTTP endpoint that speaks the OpenAI protocol."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, overload
from urllib.parse import urlsplit

from paraloom.core.digests import digest, signature
from paraloom.core.errors import ConfigError, ModelError, RunError
from paraloom.core.protocols import Variant
from paraloom.mt.answer_store import AnswerStore
from paraloom.mt.choice import choose_samples
from paraloom.mt.decoding import Beam, Decoding, Diverse, Mbr, Nucleus, Sampling, describe_decoding, parse_decoding
from paraloom.mt.endpoint_batch import Capabilities, EndpointBatch, probe_capabilities, prompt_of, request_body
from paraloom.mt.endpoint_config import POLICY_FIELDS, EndpointConfig, api_key
from paraloom.mt.endpoint_requests import EndpointClient, RowError
from paraloom.text.language_names import known_language
from paraloom.text.normalize import normalize

_Result = TypeVar("_Result")

ENDPOINT_FILE = "endpoint.json"  # File by which a folder is known as a translator behind an endpoint

POLICY_FILE = "timings.requests.json"
"""Policy of sending requests, which does not change translations, and by its name does not count for digests."""


class EndpointUsage(NamedTuple):
    """Requests to an endpoint so far, of all workers and runs that share a file of answers."""

    requests: int
    retries: int
    answers: int
    input_tokens: int
    output_tokens: int
    cost: float
    failures: int

    def format(self) -> str:
        cost = f", cost {self.cost:,.4f}" if self.cost else ""
        failed = f"; {self.failures:,} rows failed" if self.failures else ""
        return (
            f"{self.requests:,} requests ({self.retries:,} repeated), {self.input_tokens:,} tokens in, "
            f"{self.output_tokens:,} tokens out{cost}{failed}"
        )

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


class EndpointTranslator:
    """A language model behind an HTTP endpoint of the OpenAI protocol: vLLM, llama.cpp, Ollama, hosted ones.

    Requests are bounded, repeated after faults, and answered from a file where they were answered before. Answers are
    checked: one line for a line, without explanations; one that does not pass is asked for again, then rejected.

    Args:
        url: Address such as `http://127.0.0.1:8000/v1`.
        model: Name of the model, as the server knows it.
        source: Source language: a code such as de, or an English name.
        target: Target language.
        decode: 'greedy' (temperature 0), 'sampling', 'nucleus:0.95' or 'mbr:chrf', with `nbest` and `temperature`; an
            endpoint cannot be asked for beam search.
        **options: Further fields of `EndpointConfig`: `concurrency`, `answers`, `max_requests` …

    Raises:
        ConfigError: A value is out of range, or the decoding is not one that endpoints have.

    Example:
        >>> translator = EndpointTranslator("http://127.0.0.1:8000/v1", "qwen3", source="de", target="en")
        >>> translator.source, translator.decoding.size
        ('de', 1)
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        source: str = "",
        target: str = "",
        decode: str | Decoding | None = None,
        **options: Any,
    ) -> None:
        self._setup(EndpointConfig(url=url, model=model, source=source, target=target, **options), decode)

    @classmethod
    def of(
        cls, config: EndpointConfig, decode: str | Decoding | None = None, capabilities: Capabilities | None = None
    ) -> EndpointTranslator:
        """The translator of a configuration.

        Args:
            config: The configuration.
            decode: How it decodes.
            capabilities: What the server supports; probed with the first request by default.

        Returns:
            The translator.
        """
        translator = cls.__new__(cls)
        translator._setup(config, decode)
        translator._capabilities = capabilities
        return translator

    def _setup(self, config: EndpointConfig, decode: str | Decoding | None) -> None:
        self.config = config
        self.decoding: Decoding = _check_decoding(decode)
        self.source = known_language(config.source) or config.source or None
        self.target = known_language(config.target) or config.target or None
        self.prompt = prompt_of(config)
        """The prompt with the languages in it, and `{text}`."""
        self._capabilities: Capabilities | None = None
        self._store: AnswerStore | None = None
        self._client: EndpointClient | None = None

    @classmethod
    def load(cls, folder: str | Path, decode: str | Decoding | None = None) -> EndpointTranslator:
        """Load a translator that `save`, or the stage `load-endpoint`, wrote.

        Args:
            folder: Its folder.
            decode: How it decodes.

        Returns:
            The translator.

        Raises:
            ModelError: The folder has no such translator.
        """
        folder = Path(folder)
        try:
            asked = json.loads((folder / ENDPOINT_FILE).read_text(encoding="utf-8"))
            policy = json.loads((folder / POLICY_FILE).read_text(encoding="utf-8"))
            capabilities = asked.pop("capabilities")
            if policy.get("answers"):
                policy["answers"] = str((folder / policy["answers"]).absolute())
            known = None if capabilities is None else Capabilities(**capabilities)
            return cls.of(EndpointConfig(**asked, **policy), decode, known)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise ModelError(
                f"not a translator behind an endpoint: {error}", file=folder, remedy="Load the endpoint again."
            ) from None

    def save(self, folder: str | Path, *, answers: str = "") -> Path:
        """Write address, model, prompt and what the server supports, but no key, to a folder that `load` reads.

        Args:
            folder: The folder.
            answers: File of answers, relative to the folder; default: that of this translator.

        Returns:
            The folder.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        values = asdict(self.config)
        policy = {name: value for name, value in values.items() if name in POLICY_FIELDS}
        own = str(Path(self.config.answers).absolute()) if self.config.answers else ""
        known = None if self._capabilities is None else self._capabilities._asdict()
        for name, content in (
            (ENDPOINT_FILE, self.config.asked() | {"capabilities": known}),
            (POLICY_FILE, policy | {"answers": answers or own}),
        ):
            (folder / name).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return folder

    @property
    def signature(self) -> str:
        """Model, prompt, what the server supports, and decoding; the server is asked for that if it is not known."""
        known = self.capabilities
        asked = {name: value for name, value in self.config.asked().items() if name not in ("url", "model")}
        return signature(
            "endpoint",
            model=self.config.model,
            api=self.config.api,
            settings=digest([asked, self.prompt])[:12],
            n=known.n,
            logprobs=known.logprobs,
            seed=known.seed,
            decode=describe_decoding(self.decoding),
        )

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of the server, which is probed once, with up to a dozen short requests."""
        if self._capabilities is None:
            self._capabilities = run_in_loop(self._probe())
        return self._capabilities

    def with_decoding(self, decode: str | Decoding) -> EndpointTranslator:
        """The same model with another decoding.

        Args:
            decode: A decoding, or its text such as 'nucleus:0.95,nbest=3'.

        Returns:
            Another translator.
        """
        other = EndpointTranslator.of(self.config, decode, self._capabilities)
        if not self.config.answers:
            other._store = self._answers()  # in memory: what was paid for is counted, and asked for, once
        return other

    def __repr__(self) -> str:
        return (
            f"<EndpointTranslator {self.source or '?'} → {self.target or '?'}: {self.config.model} at "
            f"{self.config.url}; decode='{describe_decoding(self.decoding)}'>"
        )

    @overload
    def translate(self, sentences: str, *, seed: int = 0) -> list[Variant]: ...  # type: ignore[overload-overlap]

    @overload
    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]: ...

    def translate(self, sentences: str | Sequence[str], *, seed: int = 0) -> list[Variant] | list[list[Variant]]:
        """Translate sentences, several requests at a time.

        Args:
            sentences: A list of texts, or one text.
            seed: Seed of decodings that sample.

        Returns:
            For each text its variants. One that was not answered, or whose answer did not pass the checks, has no
            tokens, an empty text, and the `reason`. Without log-probabilities from the server, `logprob` is NaN.

        Raises:
            RunError: A budget is used up, more than `max_failures` rows failed, or the endpoint is not reached.
            ConfigError: The server refuses the key, or does not know the model.
        """
        if isinstance(sentences, str):
            return self.translate([sentences], seed=seed)[0]
        texts: list[str] = normalize(list(sentences)).to_pylist()
        known = self.capabilities
        proposal = self.decoding.proposal or self.decoding
        batch = EndpointBatch(self.config, proposal, known, self._open_client(), self._answers(), texts, seed)
        variants = self._run_requests(batch.translate())
        if self.decoding.proposal is not None:
            variants = [self._chosen(text, group) for text, group in zip(texts, variants, strict=True)]
        return variants

    def _run_requests(self, requests: Coroutine[Any, Any, _Result]) -> _Result:
        """Wait for what sends requests by the client of this endpoint; those under way are answered, and kept."""
        client = self._open_client()
        client.is_ending = False
        try:
            return run_in_loop(requests, client.end)
        finally:
            self._answers().sync()

    def _chosen(self, text: str, group: list[Variant]) -> list[Variant]:
        """The samples that the decoding chooses of those of one sentence that passed the checks."""
        good = [variant for variant in group if not variant.reason]
        if not good or not text:
            return group[:1]
        return choose_samples([good], self.decoding, [text], (self.source, self.target))[0]

    def usage(self) -> EndpointUsage:
        """Count what was asked so far, by all workers and runs that share the file of answers.

        Returns:
            Requests, tokens, cost and failures.
        """
        store = self._answers()
        totals = store.totals()
        price = self.config.input_price * totals["input_tokens"] + self.config.output_price * totals["output_tokens"]
        return EndpointUsage(**totals, cost=round(price / 1e6, 6), failures=store.failures)

    def close(self) -> None:
        """Close connections and the file of answers; the next translation opens them again."""
        if self._client is not None:
            run_in_loop(self._client.close())
        if self._store is not None and self._store.path is not None:
            self._store.close()
            self._store = None
        self._client = None

    def _answers(self) -> AnswerStore:
        if self._store is None:
            self._store = AnswerStore(Path(self.config.answers) if self.config.answers else None)
        return self._store

    def _open_client(self) -> EndpointClient:
        """The client of this translator, for use in its event loop."""
        if self._client is None:
            _warn_of_open_key(self.config)
            self._client = EndpointClient(self.config, self._answers())
        return self._client

    async def _probe(self) -> Capabilities:
        """Ask short questions to see what the server supports; what was found is kept with the answers."""
        store = self._answers()
        name = f"capabilities of {digest([self.config.request_url, self.config.model, self.config.extra_body])}"
        if (kept := store.fact(name)) is not None:
            return Capabilities(**kept)
        client = self._open_client()
        client = EndpointClient(replace(client.config, retries=max(2, client.config.retries)), store)
        try:
            body = partial(request_body, self.config, length_key="max_tokens")
            known = await probe_capabilities(self.config, client, body)
        except RowError as error:
            raise RunError(
                f"the endpoint does not answer: {error}",
                file=self.config.url,
                remedy="Check the address, and that the server runs; then run the same command again.",
            ) from None
        finally:
            await client.close()
        store.keep_fact(name, known._asdict())
        return known


def _check_decoding(decode: str | Decoding | None) -> Decoding:
    """The decoding, if an endpoint can be asked for it; greedy by default."""
    decoding = Beam(1) if decode is None else parse_decoding(decode) if isinstance(decode, str) else decode
    remedy = "Write greedy, sampling, nucleus:0.95 or mbr:chrf, with settings nbest and temperature."
    if isinstance(decoding, Beam) and (decoding.size > 1 or decoding.utility):
        raise ConfigError("an endpoint cannot be asked for beam search", remedy=remedy)
    if not isinstance(decoding, (Beam, Sampling, Nucleus, Mbr, Diverse)):
        raise ConfigError(f"an endpoint cannot be asked for '{describe_decoding(decoding)}'", remedy=remedy)
    for name in ("shortlist", "within", "beam"):
        if getattr(decoding, name, 0):
            raise ConfigError(f"an endpoint does not know the setting '{name}' of a decoding", remedy=remedy)
    return decoding


def _warn_of_open_key(config: EndpointConfig) -> None:
    parts = urlsplit(config.url)
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme == "http" and not local and api_key(config.api_key_env):
        warnings.warn(f"the key is sent to {parts.hostname} without encryption (http)", stacklevel=3)


LAST_SECONDS = 8.0
"""Seconds that answers are waited for when a process is asked to end; whoever asks rarely waits more than ten."""


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """An event loop in a thread of its own: the caller may have one already, as in a notebook."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="paraloom-endpoint", daemon=True).start()
    return loop


def run_in_loop(coroutine: Coroutine[Any, Any, _Result], stop: Callable[[], None] | None = None) -> _Result:
    """Run a coroutine in the event loop of requests; asked to end, call `stop`, and wait for what is paid for."""
    with _termination_as_interrupt():
        future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
        try:
            return future.result()
        except CancelledError:
            raise RunError("the requests were interrupted", remedy="Run the same command again.") from None
        except KeyboardInterrupt:
            if stop is not None:
                stop()
                with suppress(Exception):
                    future.result(LAST_SECONDS)
            future.cancel()
            raise


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM, where it would end this process at once, interrupt the block, and end the process after it."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    came: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        if not came:  # asked again, it continues to wait
            came.append(number)
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if came:
            os.kill(os.getpid(), signal.SIGTERM)
