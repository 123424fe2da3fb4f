"""The requests for one batch of sentences: prompts, checks of the answers, and asking again."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from paraloom.core.digests import digest
from paraloom.core.errors import ParaloomError, RunError
from paraloom.core.protocols import Variant
from paraloom.core.seeds import derive_seed, spawn_seed
from paraloom.mt.answer_store import AnswerStore
from paraloom.mt.answers import check_answer, without_thinking
from paraloom.mt.decoding import Beam, Decoding, Nucleus, Sampling, describe_decoding
from paraloom.mt.endpoint_config import EndpointConfig, further_keys
from paraloom.mt.endpoint_requests import Choice, EndpointClient, RowError
from paraloom.mt.prompts import find_prompt, prompt_for, prompt_for_lines, read_lines

_PROBE = "Answer with the name of any animal, and nothing else."
_PROBE_TOKENS = 16
_PROBES = 3


class Capabilities(NamedTuple):
    """Capabilities of a server, as probed."""

    n: bool = False
    logprobs: bool = False
    seed: bool = False
    length_key: str = "max_tokens"


async def probe_capabilities(
    config: EndpointConfig, client: EndpointClient, payload: Callable[[str, int], dict[str, Any]]
) -> Capabilities:
    """Ask a server short questions to see what it supports: several choices, log-probabilities, seeds."""
    chat = config.api == "chat"
    plain = payload(_PROBE, config.answer_tokens or _PROBE_TOKENS)
    plain["temperature"] = 1.0
    everything = {"n": 2, "logprobs": True if chat else 1, "seed": 1}
    try:
        # Most servers support everything, or ignore what they do not: two requests tell.
        first, second = [await client.probe(plain | everything) for _ in range(2)]
        several = max(len(first), len(second)) == 2
        logprobs = any(not math.isnan(choice.logprob) for choice in (*first, *second))
        return Capabilities(several, logprobs, _texts(first) == _texts(second))
    except RowError:
        pass  # It refuses something of it: ask for each by itself.
    length_key = "max_tokens"
    try:
        await client.probe(plain)
    except RowError as error:
        if "max_completion_tokens" not in str(error):
            raise
        length_key = "max_completion_tokens"
        plain[length_key] = plain.pop("max_tokens")
        await client.probe(plain)

    refused: set[str] = set()

    async def answers(name: str) -> list[Choice]:
        if name in refused:
            return []
        try:
            return await client.probe(plain | {name: everything[name]})
        except RowError:
            refused.add(name)
            return []

    several = logprobs = False
    for _ in range(_PROBES):  # a fault on the way may have cost an answer one of its choices
        several = several or len(await answers("n")) == 2
        logprobs = logprobs or any(not math.isnan(choice.logprob) for choice in await answers("logprobs"))
        if several and logprobs:
            break
    first, second = await answers("seed"), await answers("seed")
    seed = _texts(first) == _texts(second) != []
    return Capabilities(several, logprobs, seed, length_key)


def _texts(choices: list[Choice]) -> list[str]:
    return [choice.text for choice in choices]


_RETRY_TEMPERATURE = 0.5

Item = TypeVar("Item")


@dataclass
class EndpointBatch:
    """The translation of one batch of sentences by one decoding."""

    config: EndpointConfig
    decoding: Decoding
    known: Capabilities
    client: EndpointClient
    store: AnswerStore
    texts: list[str]
    seed: int

    def __post_init__(self) -> None:
        self.prompt = prompt_of(self.config)
        self.count = self.decoding.nbest
        self.variants: list[list[Variant]] = [[Variant("", 0.0, 0)] for _ in self.texts]

    async def translate(self) -> list[list[Variant]]:
        """The variants of all sentences; see `ask_all`."""
        rows = [row for row, text in enumerate(self.texts) if text]
        size = self.config.lines_per_request
        groups = [rows[start : start + size] for start in range(0, len(rows), size)]
        await ask_all(groups, lambda group: self._group(group) if len(group) > 1 else self._row(group[0]), self.config)
        return self.variants

    async def _group(self, rows: list[int]) -> None:
        """Translate several sentences by one request; those without a good answer one by one."""
        texts = [self.texts[row] for row in rows]
        payload = self._payload(prompt_for_lines(self.prompt, texts), texts, numbered=True)

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
                self.store.succeed(self._name(row))
            else:
                await self._row(row)

    async def _row(self, row: int) -> None:
        """Translate one sentence; what does not pass the checks is asked for again."""
        text = self.texts[row]
        payload = self._payload(prompt_for(self.prompt, text), [text])
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
        if good:
            self.store.succeed(self._name(row))
            return
        problem = "rows have no translation; the last one"
        remedy = "Look at the prompt and the server, then run the same command again; or raise max_failures."
        note_failure(self.store, self._name(row), self.config, str(bad[0].reason), problem, remedy)

    async def _choices(
        self,
        payload: Mapping[str, object],
        count: int,
        row: int,
        attempt: int,
        *,
        accept: Callable[[Choice], list[str] | None] | None = None,
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

    def _decoded(
        self, payload: Mapping[str, object], row: int, attempt: int, number: int
    ) -> tuple[dict[str, Any], str]:
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

    def _payload(self, prompt: str, texts: list[str], *, numbered: bool = False) -> dict[str, object]:
        # A token has a byte or more, and a translation has rarely twice the characters of its source.
        tokens = sum(self.config.answer_tokens or 64 + 2 * len(text) for text in texts)
        body = request_body(self.config, prompt, tokens, length_key=self.known.length_key)
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
        return digest([self.texts[row], self.seed, row, describe_decoding(self.decoding)])


async def ask_all(items: Sequence[Item], ask: Callable[[Item], Awaitable[None]], config: EndpointConfig) -> None:
    """Ask for all items, some at a time. After an error, requests in flight are still waited for, and kept."""
    waiting = iter(items)
    errors: list[ParaloomError] = []

    async def work() -> None:
        for item in waiting:
            if errors:
                return
            try:
                await ask(item)
            except ParaloomError as error:
                errors.append(error)

    await asyncio.gather(*(work() for _ in range(config.concurrency)))
    if errors:
        raise errors[0]


def note_failure(store: AnswerStore, row: str, config: EndpointConfig, reason: str, problem: str, remedy: str) -> None:
    """Keep that a row has no answer; RunError with the problem if too many have none."""
    failures = store.fail(row, reason)
    if failures > config.max_failures:
        raise RunError(f"{failures:,} {problem}: {reason}", remedy=remedy)


def request_body(config: EndpointConfig, prompt: str, answer_tokens: int, *, length_key: str) -> dict[str, Any]:
    """The body of a request, without what its decoding adds."""
    body: dict[str, object] = {"model": config.model, length_key: answer_tokens}
    if config.api == "chat":
        system = [{"role": "system", "content": config.system}] if config.system else []
        body["messages"] = [*system, {"role": "user", "content": prompt}]
    else:
        body["prompt"] = f"{config.system}\n{prompt}" if config.system else prompt
        if config.lines_per_request == 1:
            body["stop"] = ["\n"]
    return body | further_keys(config.extra_body)


def prompt_of(config: EndpointConfig) -> str:
    """The prompt of an endpoint, with the languages in it, and `{text}`."""
    return find_prompt(config.prompt, config.source, config.target, plain=config.api == "completions")
