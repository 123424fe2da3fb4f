"""Requests to an endpoint that speaks the OpenAI protocol: bounded, repeated, budgeted, with answers that are kept."""

from __future__ import annotations

import asyncio
import fcntl
import json
import math
import os
import random
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from paraloom.core.digests import digest
from paraloom.core.errors import ConfigError, ParaloomError, RunError
from paraloom.core.optional import OptionalModule
from paraloom.core.secrets import redacted
from paraloom.core.version import __version__
from paraloom.mt.answer_store import AnswerStore
from paraloom.mt.endpoint_config import KEYS, EndpointConfig, api_key

if TYPE_CHECKING:
    from httpx import AsyncHTTPTransport

httpx = OptionalModule("httpx", "a translator behind an HTTP endpoint", "endpoint")

MAX_WAIT = 60.0  # Seconds between two attempts at most, unless the server asks for more
MAX_RETRY_AFTER = 600.0  # Seconds that a server may ask to wait at most
MISCOUNTS = 3  # Most times that a request is sent whose answer lacks lines, or has too many

_TRANSIENT = frozenset([408, 409, 425, 429])
_CONNECT_SECONDS = 10.0
_SLOT_SECONDS = 0.01
_HEADERS = {"Accept": "application/json", "User-Agent": f"paraloom/{__version__}"}

_ANSWER_BYTES = 1 << 20
_TOKEN_BYTES = 1 << 10
"""Bytes of an answer at most: for all answers, and for each token that was asked for, with its log-probability."""

_MAX_TOKENS = 1 << 40  # Tokens that a server may say that it counted


class Choice(NamedTuple):
    """One of the answers to a request."""

    text: str
    logprob: float
    tokens: int
    cut: bool
    alternatives: Mapping[str, float] = MappingProxyType({})
    """Log-probabilities of the tokens that it could have begun with, where they were asked for."""


class RowError(Exception):
    """A request that was not answered, after all attempts, or that the server refuses; the message says why."""


class Response(NamedTuple):
    """A response, read to its end, or as far as its limit."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class EndpointClient:
    """Sends requests from one event loop, keeps their answers, and answers what was asked before without a request."""

    def __init__(self, config: EndpointConfig, store: AnswerStore) -> None:
        self.config, self._url = config, config.request_url
        self.store = store
        self._transport: AsyncHTTPTransport | None = None
        self._seconds = {
            "connect": min(_CONNECT_SECONDS, config.timeout),
            **dict.fromkeys(("read", "write", "pool"), config.timeout),
        }
        self._asked: dict[str, asyncio.Future[list[Choice]]] = {}
        self._slots = _Slots(store.path, config.concurrency)
        self.is_ending = False

    def end(self) -> None:
        """Send no further request; those under way are still answered."""
        self.is_ending = True

    async def answer(
        self, payload: Mapping[str, object], *, salt: str = "", accept: Callable[[list[Choice]], bool] | None = None
    ) -> list[Choice]:
        """The choices that answer a request; equal requests are sent once."""
        key = digest([self._url, payload, salt])
        kept = self.store.get(key)
        if kept is not None:
            return [_from_kept(values) for values in kept["choices"]]
        if key in self._asked:
            return await self._asked[key]
        future: asyncio.Future[list[Choice]] = asyncio.get_running_loop().create_future()
        self._asked[key] = future
        try:
            choices = await self._new_answer(key, payload, accept)
        except BaseException as error:
            future.set_exception(error if isinstance(error, (RowError, ParaloomError)) else RowError("interrupted"))
            future.exception()  # nobody may be waiting for it
            raise
        finally:
            del self._asked[key]
        future.set_result(choices)
        return choices

    async def _new_answer(
        self, key: str, payload: Mapping[str, Any], accept: Callable[[list[Choice]], bool] | None
    ) -> list[Choice]:
        count = int(payload.get("n", 1))
        for attempt in range(1, MISCOUNTS + 1):
            choices, usage = await self.send(payload, count, repeated=attempt > 1)
            accepted = accept is None or accept(choices)
            last = accepted or attempt == MISCOUNTS
            # An answer that is not accepted counts, too; the last one is kept, so that it is not paid for again.
            self.store.put(
                key if last else f"{key}/{attempt}",
                {"choices": [_to_kept(choice) for choice in choices]},
                input_tokens=usage[0],
                output_tokens=usage[1],
            )
            if last:
                return choices
        raise AssertionError("the last attempt returns")

    async def probe(self, payload: Mapping[str, object]) -> list[Choice]:
        """The choices that answer a request, however many; it is sent, whether it was answered before or not."""
        choices, usage = await self.send(payload, None)
        kept = {"choices": [_to_kept(choice) for choice in choices]}
        self.store.put(digest(["probe", payload]), kept, input_tokens=usage[0], output_tokens=usage[1])
        return choices

    async def send(
        self, payload: Mapping[str, object], count: int | None, *, repeated: bool = False
    ) -> tuple[list[Choice], tuple[int, int]]:
        """Send a request until it is answered."""
        async with self._slots.one():
            for attempt in range(self.config.retries + 1):
                if self.is_ending:
                    raise RunError("the requests were interrupted", remedy="Run the same command again.")
                used_up = self.store.take_request(
                    self.config.max_requests, self.config.max_tokens, repeated=repeated or attempt > 0
                )
                if used_up:
                    raise self._budget_error(used_up)
                wait: float | None = None
                try:
                    async with asyncio.timeout(self.config.timeout):
                        response = await self._post(payload)
                    fault, wait = self._fault(response)
                    if fault is None:
                        return read_choices(response.content, count)
                except TimeoutError:
                    fault = f"no answer within {self.config.timeout:g} seconds"
                except ValueError as error:
                    fault = str(error)
                except httpx.HTTPError as error:
                    fault = self._redacted(f"{type(error).__name__}: {error}".rstrip(": "))
                if attempt < self.config.retries:
                    await asyncio.sleep(_backoff(attempt) if wait is None else wait * random.uniform(1.0, 1.1))
        raise RowError(f"no answer after {self.config.retries + 1} attempts: {fault}")

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.aclose()
            self._transport = None
        self._slots.close()

    async def _post(self, payload: Mapping[str, object]) -> Response:
        """The response to a request; RowError if its answer has more bytes than the tokens that were asked for."""
        if self._transport is None:
            self._transport = _open_transport(self.config)
        # A client of httpx, with its redirects, cookies and events, takes as long as all of this.
        request = httpx.Request(
            "POST", self._url, json=payload, headers=self._headers(), extensions={"timeout": self._seconds}
        )
        response = await self._transport.handle_async_request(request)
        limit = _answer_limit(payload)
        content = bytearray()
        try:
            async for part in response.aiter_bytes():
                content += part
                if len(content) > limit:
                    break
        finally:
            await response.aclose()
        if len(content) > limit and response.status_code == 200:
            raise RowError(f"the answer has more than {limit:,} bytes, too many for the tokens that were asked for")
        return Response(response.status_code, response.headers, bytes(content[:limit]))

    def _headers(self) -> dict[str, str]:
        key = api_key(self.config.api_key_env)
        return _HEADERS | {"Authorization": f"Bearer {key}"} if key else _HEADERS

    def _fault(self, response: Response) -> tuple[str | None, float | None]:
        """The fault of a response, or None, and the seconds to wait; RowError if refused, or what ends the run."""
        status = response.status
        if status == 200:
            return None, None
        if 300 <= status < 400:
            raise ConfigError(
                f"the endpoint redirects (HTTP {status})", file=self._url, remedy="Give the address itself."
            )
        if status in (401, 403):
            raise ConfigError(
                f"the endpoint refuses the key (HTTP {status})",
                file=self._url,
                remedy=f"Set the environment variable {self.config.api_key_env} to a valid key.",
            )
        message = _shortened(self._redacted(_message(response.content)))
        if status == 404:
            raise ConfigError(
                f"the endpoint does not know the model or the path (HTTP 404{message})",
                file=self._url,
                remedy="Check the name of the model, and that the address ends like http://HOST:PORT/v1.",
            )
        if "insufficient_quota" in message:
            raise RunError(
                f"the account has no credit (HTTP {status}{message})",
                file=self._url,
                remedy="Add credit, then run the same command again: answers that came are kept.",
            )
        fault = f"HTTP {status}{message}"
        if status not in _TRANSIENT and status < 500:
            raise RowError(f"the endpoint refuses the request: {fault}")
        return fault, _retry_after(response.headers.get("retry-after"))

    def _redacted(self, text: str) -> str:
        """A text of the server without the key, should it repeat it."""
        key = api_key(self.config.api_key_env)
        return KEYS.sub("***", redacted(text.replace(key, "***") if key else text))

    def _budget_error(self, budget: str) -> RunError:
        totals = self.store.totals()
        used = (
            f"{totals['requests']:,} requests"
            if budget == "requests"
            else f"{totals['input_tokens'] + totals['output_tokens']:,} tokens"
        )
        return RunError(
            f"the budget is used up after {used}",
            remedy=f"Raise max-{budget} and run the same command again: answers that came are kept.",
        )


def _open_transport(config: EndpointConfig) -> AsyncHTTPTransport:
    """Connections that are kept, by the proxy that the environment names, if any."""
    parts = urlsplit(config.request_url)
    proxies = {} if proxy_bypass(parts.netloc) else getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    limit = config.concurrency
    try:
        return httpx.AsyncHTTPTransport(
            verify=parts.scheme == "https",  # reading certificates takes 0.1 s, which plain HTTP does not need
            limits=httpx.Limits(max_connections=limit, max_keepalive_connections=limit),
            proxy=f"http://{proxy}" if proxy and "://" not in proxy else proxy,
        )
    except (ValueError, ImportError, httpx.InvalidURL):
        # What is wrong is not quoted: an address that cannot be read may have a password anywhere.
        name = parts.scheme if parts.scheme in proxies else "all"
        raise ConfigError(
            f"the proxy in the environment variable {name}_proxy is not one that can be used",
            remedy=f"Write {name}_proxy=http://HOST:PORT, and %2F, %23, %40 for / # @ in a user name or password.",
        ) from None


def _answer_limit(payload: Mapping[str, Any]) -> int:
    """Bytes that the answer to a request may have."""
    tokens = sum(int(payload.get(key) or 0) for key in ("max_tokens", "max_completion_tokens"))
    alternatives = max(int(payload.get(key) or 0) for key in ("top_logprobs", "logprobs"))
    return _ANSWER_BYTES + int(payload.get("n") or 1) * tokens * (1 + alternatives) * _TOKEN_BYTES


def read_choices(body: bytes, count: int | None) -> tuple[list[Choice], tuple[int, int]]:
    """Read the answer to a request, of either kind."""
    try:
        value = json.loads(body)
        usage = value.get("usage") or {}
        tokens = _tokens(usage.get("prompt_tokens")), _tokens(usage.get("completion_tokens"))
        rows = sorted(value["choices"], key=lambda choice: choice.get("index") or 0)
        choices = [_choice(row, tokens[1] if len(rows) == 1 else 0) for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"the answer is not that of a chat or completion ({type(error).__name__})") from None
    if count is not None and len(choices) != count:
        raise ValueError(f"the answer has {len(choices)} choices, expected {count}")
    if not choices:
        raise ValueError("the answer has no choices")
    return choices, tokens


def _tokens(value: Any) -> int:
    """A number of tokens, as far as it can be one: the server counts them, and budgets rest on that."""
    count = int(value or 0)
    if not 0 <= count < _MAX_TOKENS:
        raise ValueError("the number of tokens is out of range")
    return count


def _choice(row: Mapping[str, Any], completion_tokens: int) -> Choice:
    if "message" in row:
        message = row["message"]
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(str(part.get("text", "")) for part in content)
        text = content if content is not None else message.get("refusal") or ""
    else:
        text = row["text"]
    if not isinstance(text, str):
        raise TypeError("the content is not text")
    text.encode()  # JSON may have halves of surrogate pairs, which nothing after this can write
    given = row.get("logprobs")
    logprobs, alternatives = _logprobs(given), _alternatives(given)
    cut = row.get("finish_reason") == "length"
    if not logprobs:
        return Choice(text, math.nan, max(1, completion_tokens), cut, alternatives)
    return Choice(text, math.fsum(logprobs), len(logprobs), cut, alternatives)


def _logprobs(value: Any) -> list[float]:
    """The log-probability of each token, in the form of chats or of completions; empty where they are not given."""
    if not value:
        return []
    tokens = value.get("content")
    numbers = [token["logprob"] for token in tokens] if tokens else value.get("token_logprobs") or []
    if any(number is None for number in numbers):
        return []
    values = [float(number) for number in numbers]
    return values if all(map(math.isfinite, values)) else []


def _alternatives(value: Any) -> dict[str, float]:
    """Log-probabilities of the first token and its alternatives, in either form; empty where they are not given."""
    if not value:
        return {}
    if content := value.get("content"):
        listed = [(str(one["token"]), float(one["logprob"])) for one in content[0].get("top_logprobs") or ()]
    else:
        listed = [
            (str(token), float(number)) for token, number in ((value.get("top_logprobs") or [{}])[0] or {}).items()
        ]
    return {token: number for token, number in listed if math.isfinite(number)}


def _to_kept(choice: Choice) -> list[Any]:
    text, logprob, tokens, cut, alternatives = choice
    return [text, None if math.isnan(logprob) else logprob, tokens, cut, *([alternatives] if alternatives else ())]


def _from_kept(values: Sequence[Any]) -> Choice:
    text, logprob, *others = values
    return Choice(text, math.nan if logprob is None else logprob, *others)


def _message(body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    with suppress(ValueError, AttributeError, TypeError, RecursionError):
        error = json.loads(body).get("error", {})
        parts = (error.get("code"), error.get("message")) if isinstance(error, dict) else (error,)
        text = " ".join(str(part) for part in parts if part) or text
    return text


def _shortened(text: str) -> str:
    """A message after a colon; shortened last, because a part of a key would not be known as one."""
    short = " ".join(text.split())[:200]
    return f": {short}" if short else ""


def _backoff(attempt: int) -> float:
    """Seconds before the next attempt: twice as long each time, with jitter, so that clients do not come together."""
    return random.uniform(0.5, 1.0) * min(MAX_WAIT, 0.5 * 2.0**attempt)


def _retry_after(value: str | None) -> float | None:
    """The seconds of a Retry-After header, a number or a date; None where there is none that can be read."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(MAX_RETRY_AFTER, max(0.0, seconds)) if math.isfinite(seconds) else None


class _Slots:
    """Bounds the requests of all workers of a run on this machine by file locks, which end with their process."""

    def __init__(self, path: Path | None, count: int) -> None:
        # Not the file of answers itself: SQLite would lose its own locks when this one is closed.
        name = None if path is None else f"paraloom-{os.getuid()}-{digest(str(path.absolute()))[:16]}.slots"
        self._path = None if name is None else Path(tempfile.gettempdir()) / name
        self._count = count
        self._held: set[int] = set()
        self._file: int | None = None

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for a slot, and hold it in the block."""
        while (slot := self._take()) is None:
            await asyncio.sleep(_SLOT_SECONDS * random.uniform(0.5, 1.5))
        try:
            yield
        finally:
            self._held.discard(slot)
            if self._file is not None:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, slot)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _take(self) -> int | None:
        if self._path is not None and self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        for slot in range(self._count):
            if slot in self._held:
                continue
            if self._file is not None:
                try:
                    fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, slot)
                except OSError:
                    continue
            self._held.add(slot)
            return slot
        return None
