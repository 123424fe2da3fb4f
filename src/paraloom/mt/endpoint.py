"""Translation by a language model behind an HTTP endpoint that speaks the OpenAI protocol."""

from __future__ import annotations

import asyncio
import json
import math
import os
import threading
import warnings
from collections.abc import Coroutine, Sequence
from concurrent.futures import CancelledError
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, overload
from urllib.parse import urlsplit

from paraloom.core.config import Config
from paraloom.core.digests import digest, signature
from paraloom.core.errors import ConfigError, ModelError, ParaloomError, RunError
from paraloom.core.protocols import Variant
from paraloom.core.seeds import derive_seed, spawn_seed
from paraloom.mt.answer_store import AnswerStore
from paraloom.mt.answers import MAX_RATIO, check_answer, without_thinking
from paraloom.mt.decoding import Beam, Decoding, Mbr, Nucleus, Sampling, describe_decoding, parse_decoding
from paraloom.mt.endpoint_requests import Choice, EndpointClient, RequestPolicy, RowError
from paraloom.mt.prompts import find_prompt, prompt_for, prompt_for_lines, read_lines
from paraloom.mt.translator import minimum_risk
from paraloom.text.language_names import known_language
from paraloom.text.normalize import normalize

ENDPOINT_FILE = "endpoint.json"
"""File by which a folder is known as a translator behind an endpoint."""

POLICY_FILE = "timings.requests.json"
"""How requests are sent; it does not change translations, and by its name does not count for digests."""

CHAT_PATH, COMPLETIONS_PATH = "/chat/completions", "/completions"

_Result = TypeVar("_Result")
_PROBE = "Answer with the name of any animal, and nothing else."
_PROBE_TOKENS = 16
_PROBES = 3
_RETRY_TEMPERATURE = 0.5


@dataclass(frozen=True, kw_only=True)
class EndpointConfig(Config):
    """What an endpoint is asked, and how.

    Args:
        url: Address such as `http://127.0.0.1:8000/v1`; if it ends in `/completions`, text is completed instead of
            answering messages.
        model: Name of the model, as the server knows it.
        source: Source language: a code such as de, or an English name.
        target: Target language; the same as `source` asks for paraphrases.
        prompt: 'chat', 'plain', 'paraphrase', 'tower', 'translategemma', or a text with `{text}`, `{source}`,
            `{target}`, `{source_code}` and `{target_code}`. Default: by the address and languages.
        system: System message; none by default, because some models take none.
        lines_per_request: Sentences in one request, 1 or more: cheaper, but less reliable, and without costs.
        attempts: How often a sentence is asked for until its answer passes the checks, 1 or more.
        max_ratio: Maximum ratio of the bytes of the longer side to those of the shorter; 0 for no bound.
        answer_tokens: Maximum tokens of the answer to one sentence; 0: by the length of the sentence. A model that
            thinks before it answers needs some thousand.
        extra_body: Further keys of the request as JSON, such as
            `{"chat_template_kwargs": {"enable_thinking": false}}`.
        api_key_env: Environment variable that has the key; the key itself is never written anywhere.
        concurrency: Requests in flight at a time, 1 or more, of all worker processes together.
        retries: How often a request is repeated after a fault of the server or the connection.
        timeout: Seconds after which a request without an answer is repeated.
        max_requests: Requests in all, resumed runs included; 0 for no bound.
        max_tokens: Tokens, of prompts and answers, after which no request is sent; 0 for no bound.
        max_failures: Rows that may stay without a translation before the run stops.
        input_price: Price of a million tokens of prompts, for the cost in the summary.
        output_price: Price of a million tokens of answers.
        answers: File in which answers are kept. Default: in a pipeline, beside the translator; else in memory.

    Raises:
        ConfigError: A value is out of range, or the address is not one.

    Example:
        >>> EndpointConfig(url="http://127.0.0.1:8000/v1", model="m", source="de", target="en").api
        'chat'
    """

    url: str
    model: str
    source: str = ""
    target: str = ""
    prompt: str = ""
    system: str = ""
    lines_per_request: int = 1
    attempts: int = 3
    max_ratio: float = MAX_RATIO
    answer_tokens: int = 0
    extra_body: str = ""
    api_key_env: str = "PARALOOM_API_KEY"
    concurrency: int = 8
    retries: int = 6
    timeout: float = 120.0
    max_requests: int = 0
    max_tokens: int = 0
    max_failures: int = 100
    input_price: float = 0.0
    output_price: float = 0.0
    answers: str = ""

    def validate(self) -> None:
        _check_url(self.url)
        if not self.model:
            raise ConfigError("the model is missing", remedy="Name it as the server does: --model NAME.")
        for name in ("lines_per_request", "attempts", "concurrency"):
            if getattr(self, name) < 1:
                raise ConfigError(f"'{name}' must be 1 or more, not {getattr(self, name)}")
        for name in (*_NOT_NEGATIVE, "max_ratio"):
            if getattr(self, name) < 0:
                raise ConfigError(f"'{name}' must be 0 or more, not {getattr(self, name)}")
        if self.timeout <= 0:
            raise ConfigError(f"'timeout' must be more than 0 seconds, not {self.timeout:g}")
        if not self.api_key_env.isidentifier():
            raise ConfigError(
                "'api_key_env' must be the name of an environment variable",
                remedy="Set a variable to the key, and name the variable: the key itself must not be in options.",
            )
        _extra(self.extra_body)
        find_prompt(self.prompt, self.source, self.target, plain=self.api == "completions")

    @property
    def api(self) -> str:
        """'chat' or 'completions'."""
        path = urlsplit(self.url).path.rstrip("/")
        return "completions" if path.endswith(COMPLETIONS_PATH) and not path.endswith(CHAT_PATH) else "chat"

    @property
    def request_url(self) -> str:
        """The address that requests are sent to."""
        plain = self.url.rstrip("/")
        return plain if urlsplit(plain).path.endswith((CHAT_PATH, COMPLETIONS_PATH)) else plain + CHAT_PATH

    def asked(self) -> dict[str, Any]:
        """The fields that translations depend on."""
        return {name: value for name, value in asdict(self).items() if name not in POLICY_FIELDS}


_NOT_NEGATIVE = (
    *("answer_tokens", "retries", "max_requests", "max_tokens", "max_failures"),
    *("input_price", "output_price"),
)
POLICY_FIELDS = frozenset(["api_key_env", "concurrency", "timeout", "answers", *_NOT_NEGATIVE]) - {"answer_tokens"}
"""Fields of `EndpointConfig` that do not change translations."""


class Capabilities(NamedTuple):
    """What a server supports, as it was probed.

    Args:
        n: Several choices for one request.
        logprobs: Log-probabilities of tokens; without them the cost of a translation is null.
        seed: Equal seeds give equal answers.
        length_key: Name of the maximum length in a request.
    """

    n: bool = False
    logprobs: bool = False
    seed: bool = False
    length_key: str = "max_tokens"


class EndpointUsage(NamedTuple):
    """What an endpoint was asked so far, by all workers and runs that share a file of answers.

    Args:
        requests: Requests sent, repeated ones included.
        retries: Requests that were repeated.
        answers: Answers that came.
        input_tokens: Tokens of prompts.
        output_tokens: Tokens of answers.
        cost: Their price; 0 without prices.
        failures: Rows without a translation.
    """

    requests: int
    retries: int
    answers: int
    input_tokens: int
    output_tokens: int
    cost: float
    failures: int

    def format(self) -> str:
        """One line.

        Example:
            >>> EndpointUsage(1200, 3, 1197, 50_000, 30_000, 0.0, 2).format()
            '1,200 requests (3 repeated), 50,000 tokens in, 30,000 tokens out; 2 rows failed'
        """
        cost = f", cost {self.cost:,.4f}" if self.cost else ""
        failed = f"; {self.failures:,} rows failed" if self.failures else ""
        return (
            f"{self.requests:,} requests ({self.retries:,} repeated), {self.input_tokens:,} tokens in, "
            f"{self.output_tokens:,} tokens out{cost}{failed}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
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
        self._prompt = find_prompt(config.prompt, config.source, config.target, plain=config.api == "completions")
        self._extra = _extra(config.extra_body)
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
            settings=digest([asked, self._prompt])[:12],
            n=known.n,
            logprobs=known.logprobs,
            seed=known.seed,
            decode=describe_decoding(self.decoding),
        )

    @property
    def capabilities(self) -> Capabilities:
        """What the server supports; it is probed once, with up to a dozen short requests."""
        if self._capabilities is None:
            self._capabilities = _in_loop(self._probe())
        return self._capabilities

    def with_decoding(self, decode: str | Decoding) -> EndpointTranslator:
        """The same model with another decoding.

        Args:
            decode: A decoding, or its text such as 'nucleus:0.95,nbest=3'.

        Returns:
            Another translator.
        """
        return EndpointTranslator.of(self.config, decode, self._capabilities)

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
            seed: Of random decodings.

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
        proposal = self.decoding.proposal if isinstance(self.decoding, Mbr) else self.decoding
        batch = _Batch(self, proposal, known, texts, seed)
        try:
            variants = _in_loop(batch.translate())
        finally:
            self._answers().sync()
        if isinstance(self.decoding, Mbr):
            variants = [_least_risk(group, self.decoding) for group in variants]
        return variants

    def usage(self) -> EndpointUsage:
        """Count what was asked so far, by all workers and runs that share the file of answers.

        Returns:
            Requests, tokens, cost and failures.
        """
        store = self._answers()
        totals = store.totals()
        price = self.config.input_price * totals["input_tokens"] + self.config.output_price * totals["output_tokens"]
        return EndpointUsage(
            totals["requests"],
            totals["retries"],
            totals["answers"],
            totals["input_tokens"],
            totals["output_tokens"],
            round(price / 1e6, 6),
            store.failures,
        )

    def close(self) -> None:
        """Close connections and the file of answers; the next translation opens them again."""
        if self._client is not None:
            _in_loop(self._client.close())
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
            config = self.config
            shared = {f.name: getattr(config, f.name) for f in fields(RequestPolicy) if f.name != "url"}
            self._client = EndpointClient(RequestPolicy(config.request_url, **shared), self._answers())
        return self._client

    def _payload(self, prompt: str, *, answer_tokens: int) -> dict[str, Any]:
        """The body of a request, without what its decoding adds.

        Args:
            prompt: The prompt.
            answer_tokens: Maximum tokens of the answer.
        """
        config = self.config
        length = self._capabilities.length_key if self._capabilities is not None else "max_tokens"
        body: dict[str, Any] = {"model": config.model, length: answer_tokens}
        if config.api == "chat":
            system = [{"role": "system", "content": config.system}] if config.system else []
            body["messages"] = [*system, {"role": "user", "content": prompt}]
        else:
            body["prompt"] = f"{config.system}\n{prompt}" if config.system else prompt
            if config.lines_per_request == 1:
                body["stop"] = ["\n"]
        return body | self._extra

    @property
    def prompt(self) -> str:
        """The prompt with the languages in it, and `{text}`."""
        return self._prompt

    async def _probe(self) -> Capabilities:
        """Ask short questions to see what the server supports; what was found is kept with the answers."""
        store = self._answers()
        name = f"capabilities of {digest([self.config.request_url, self.config.model, self.config.extra_body])}"
        if (kept := store.fact(name)) is not None:
            return Capabilities(**kept)
        client = self._open_client()
        client = EndpointClient(replace(client.policy, retries=max(2, client.policy.retries)), store)
        try:
            known = await _probe(self, client)
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


class _Batch:
    """The translation of one batch of sentences by one decoding."""

    def __init__(
        self, translator: EndpointTranslator, decoding: Decoding, known: Capabilities, texts: list[str], seed: int
    ) -> None:
        self.translator = translator
        self.config = translator.config
        self.decoding = decoding
        self.known = known
        self.texts = texts
        self.seed = seed
        self.client = translator._open_client()
        self.count = decoding.nbest
        self.variants: list[list[Variant]] = [[Variant("", 0.0, 0)] for _ in texts]
        self.error: ParaloomError | None = None

    async def translate(self) -> list[list[Variant]]:
        """The variants of all sentences. After an error, requests in flight are still waited for, and kept."""
        rows = [row for row, text in enumerate(self.texts) if text]
        size = self.config.lines_per_request
        waiting = iter([rows[start : start + size] for start in range(0, len(rows), size)])

        async def work() -> None:
            for group in waiting:
                if self.error is not None:
                    return
                try:
                    await (self._group(group) if len(group) > 1 else self._row(group[0]))
                except ParaloomError as error:
                    self.error = self.error or error

        await asyncio.gather(*(work() for _ in range(self.config.concurrency)))
        if self.error is not None:
            raise self.error
        return self.variants

    async def _group(self, rows: list[int]) -> None:
        """Translate several sentences by one request; those without a good answer one by one."""
        texts = [self.texts[row] for row in rows]
        payload = self._payload(prompt_for_lines(self.translator.prompt, texts), texts, numbered=True)

        def lines(choice: Choice) -> list[str] | None:
            answer = without_thinking(choice.text)
            return None if answer is None or choice.cut else read_lines(answer, len(texts))

        try:
            choices = await self._choices(payload, self.count, rows[0], 0, accept=lines)
        except RowError:
            choices = []
        answers = [numbered for choice in choices if (numbered := lines(choice)) is not None]
        for position, row in enumerate(rows):
            checked = [self._checked(self.texts[row], Choice(lines[position], math.nan, 1, False)) for lines in answers]
            if len(checked) == self.count and not any(variant.reason for variant in checked):
                self.variants[row] = checked
                self.translator._answers().succeed(self._name(row))
            else:
                await self._row(row)

    async def _row(self, row: int) -> None:
        """Translate one sentence; what does not pass the checks is asked for again."""
        text = self.texts[row]
        payload = self._payload(prompt_for(self.translator.prompt, text), [text])
        good: list[Variant] = []
        bad: list[Variant] = []
        for attempt in range(self.config.attempts):
            missing = self.count - len(good)
            try:
                choices = await self._choices(payload, missing, row, attempt)
            except RowError as error:
                bad = [Variant("", math.nan, 0, reason=str(error))] * missing
                break
            checked = [self._checked(text, choice) for choice in choices]
            good += [variant for variant in checked if not variant.reason]
            bad = [variant for variant in checked if variant.reason]
            if not bad:
                break
        self.variants[row] = [*good, *bad]
        store = self.translator._answers()
        if good:
            store.succeed(self._name(row))
            return
        failures = store.fail(self._name(row), str(bad[0].reason))
        if failures > self.config.max_failures:
            raise RunError(
                f"{failures:,} rows have no translation; the last one: {bad[0].reason}",
                remedy="Look at the prompt and the server, then run the same command again; or raise --max-failures.",
            )

    async def _choices(
        self, payload: dict[str, Any], count: int, row: int, attempt: int, *, accept: Any = None
    ) -> list[Choice]:
        """Choices that answer one prompt, by one request if the server can, else by one for each."""
        whole = self.known.n or count == 1
        accepts = None if accept is None else lambda choices: all(accept(choice) is not None for choice in choices)
        choices: list[Choice] = []
        for number in range(1 if whole else count):
            body, salt = self._decoded(payload, row, attempt, number)
            if whole and count > 1:
                body["n"] = count
            choices += await self.client.answer(body, salt=salt, accept=accepts)
        return choices

    def _decoded(self, payload: dict[str, Any], row: int, attempt: int, number: int) -> tuple[dict[str, Any], str]:
        """The body of a request with its decoding, and a salt that stands for the seed if the server takes none."""
        body = dict(payload)
        greedy = isinstance(self.decoding, Beam)
        if greedy and attempt == 0:
            return body | {"temperature": 0.0}, ""
        if greedy:
            # The same text, asked in the same way, would get the same answer, wherever it occurs.
            seed = derive_seed("attempt", self.texts[row], attempt)
            body["temperature"] = _RETRY_TEMPERATURE
        else:
            assert isinstance(self.decoding, (Sampling, Nucleus))
            seed = spawn_seed(self.seed, row, attempt, number) % 2**31
            body["temperature"] = self.decoding.temperature
            if isinstance(self.decoding, Nucleus):
                body["top_p"] = self.decoding.p
        return (body | {"seed": seed}, "") if self.known.seed else (body, str(seed))

    def _payload(self, prompt: str, texts: list[str], *, numbered: bool = False) -> dict[str, Any]:
        # A token has a byte or more, and a translation has rarely twice the characters of its source.
        tokens = sum(self.config.answer_tokens or 64 + 2 * len(text) for text in texts)
        body = self.translator._payload(prompt, answer_tokens=tokens)
        if self.known.logprobs and not numbered:
            body["logprobs"] = True if self.config.api == "chat" else 1
        return body

    def _checked(self, text: str, choice: Choice) -> Variant:
        """The variant that a choice is; with a reason where it does not pass the checks."""
        answer = check_answer(text, choice.text, cut=choice.cut, max_ratio=self.config.max_ratio)
        if answer.reason:
            return Variant("", math.nan, 0, reason=answer.reason)
        # The log-probability is that of the whole answer: it holds only where nothing was removed from it.
        whole = answer.text == choice.text.strip()
        return Variant(answer.text, choice.logprob if whole else math.nan, choice.tokens)

    def _name(self, row: int) -> str:
        """Names a row among those that failed."""
        return digest([self.texts[row], self.seed, row, describe_decoding(self.decoding)])


async def _probe(translator: EndpointTranslator, client: EndpointClient) -> Capabilities:
    """What a server supports: several choices, log-probabilities, seeds."""
    chat = translator.config.api == "chat"
    plain = translator._payload(_PROBE, answer_tokens=translator.config.answer_tokens or _PROBE_TOKENS)
    plain["temperature"] = 1.0
    length_key = "max_tokens"
    try:
        await client.probe(plain)
    except RowError as error:
        if "max_completion_tokens" not in str(error):
            raise
        length_key = "max_completion_tokens"
        plain[length_key] = plain.pop("max_tokens")
        await client.probe(plain)

    async def answers(**further: Any) -> list[Choice]:
        try:
            return await client.probe(plain | further)
        except RowError:
            return []

    several = logprobs = False
    for _ in range(_PROBES):  # a fault on the way may have cost an answer one of its choices
        several = several or len(await answers(n=2)) == 2
        logprobs = logprobs or any(
            not math.isnan(choice.logprob) for choice in await answers(logprobs=True if chat else 1)
        )
        if several and logprobs:
            break
    first, second = await answers(seed=1), await answers(seed=1)
    seed = [choice.text for choice in first] == [choice.text for choice in second] != []
    return Capabilities(several, logprobs, seed, length_key)


def _least_risk(group: list[Variant], decoding: Mbr) -> list[Variant]:
    """The best of the samples of one sentence that passed the checks."""
    good = [variant for variant in group if not variant.reason]
    return minimum_risk([good], [[]], decoding)[0] if good else group[:1]


def _check_decoding(decode: str | Decoding | None) -> Decoding:
    """The decoding, if an endpoint can be asked for it; greedy by default."""
    decoding = Beam(1) if decode is None else parse_decoding(decode) if isinstance(decode, str) else decode
    remedy = "Write greedy, sampling, nucleus:0.95 or mbr:chrf, with settings nbest and temperature."
    if isinstance(decoding, Beam) and decoding.size > 1:
        raise ConfigError("an endpoint cannot be asked for beam search", remedy=remedy)
    if not isinstance(decoding, (Beam, Sampling, Nucleus, Mbr)):
        raise ConfigError(f"an endpoint cannot be asked for '{describe_decoding(decoding)}'", remedy=remedy)
    for name in ("shortlist", "within", "beam"):
        if getattr(decoding, name, 0):
            raise ConfigError(f"an endpoint does not know the setting '{name}' of a decoding", remedy=remedy)
    return decoding


def is_endpoint(translator: object) -> bool:
    """Whether what names a translator is the address of an endpoint.

    Example:
        >>> is_endpoint("http://127.0.0.1:8000/v1"), is_endpoint("de-en")
        (True, False)
    """
    return isinstance(translator, str) and translator.startswith(("http://", "https://"))


def _check_url(url: str) -> None:
    remedy = "Write an address such as http://127.0.0.1:8000/v1."
    try:
        parts = urlsplit(url)
        port_fits = parts.port is None or parts.port > 0
    except ValueError:
        raise ConfigError("the address of the endpoint cannot be read", remedy=remedy) from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            "the address of an endpoint must have no user, password or query in it",
            remedy="Put the key into the environment variable PARALOOM_API_KEY: it is not written anywhere.",
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_fits:
        raise ConfigError(f"'{url}' is not the address of an endpoint", remedy=remedy)


def _warn_of_open_key(config: EndpointConfig) -> None:
    parts = urlsplit(config.url)
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme == "http" and not local and os.environ.get(config.api_key_env):
        warnings.warn(f"the key is sent to {parts.hostname} without encryption (http)", stacklevel=3)


def _extra(text: str) -> dict[str, Any]:
    """Further keys of a request."""
    if not text:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"'extra_body' is not valid JSON ({error})", remedy='Write {"key": "value"}.') from None
    if not isinstance(value, dict) or {"messages", "prompt", "n", "seed", "stream"} & set(value):
        raise ConfigError(
            "'extra_body' must be a JSON object without messages, prompt, n, seed and stream",
            remedy='Write {"key": "value"}.',
        )
    return value


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """An event loop in a thread of its own: the caller may have one already, as in a notebook."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="paraloom-endpoint", daemon=True).start()
    return loop


def _in_loop(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    try:
        return future.result()
    except CancelledError:
        raise RunError("the requests were interrupted", remedy="Run the same command again.") from None
    except KeyboardInterrupt:
        future.cancel()
        raise
