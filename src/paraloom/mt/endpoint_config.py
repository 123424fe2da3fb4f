"""Settings of a translator behind an endpoint, checked."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from paraloom.core.config import Config, check_range
from paraloom.core.errors import ConfigError
from paraloom.core.secrets import hide
from paraloom.mt.answers import MAX_RATIO
from paraloom.mt.prompts import find_prompt

CHAT_PATH, COMPLETIONS_PATH = "/chat/completions", "/completions"


@dataclass(frozen=True, kw_only=True)
class EndpointConfig(Config):
    """Requests to an endpoint: model, prompt and limits.

    Args:
        url: Address such as `http://127.0.0.1:8000/v1`; if it ends in `/completions`, text is completed instead of
            answering messages.
        model: Name of the model, as the server knows it.
        source: Source language: a code such as de, or an English name.
        target: Target language; the same as `source` asks for paraphrases.
        prompt: 'chat', 'plain', 'paraphrase', 'rewrite', 'tower', 'translategemma', or a text with `{text}`,
            `{source}`, `{target}`, `{source_code}` and `{target_code}`. Default: by the address and languages.
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
            raise ConfigError("the model is missing", remedy="Name it as the server does: ADDRESS?model=NAME.")
        check_range(self, "lines_per_request", "attempts", "concurrency", low=1)
        check_range(self, *_NOT_NEGATIVE, "max_ratio", low=0)
        check_range(self, "timeout", above=0)
        looks_like_key = KEYS.fullmatch(self.api_key_env) and self.api_key_env not in os.environ
        if not self.api_key_env.isidentifier() or looks_like_key:
            raise ConfigError(
                "'api_key_env' must be the name of an environment variable",
                remedy="Set a variable to the key, and name the variable: the key itself must not be in options.",
            )
        api_key(self.api_key_env)
        further_keys(self.extra_body)
        find_prompt(self.prompt, self.source, self.target, plain=self.api == "completions")

    @property
    def api(self) -> str:
        path = urlsplit(self.url).path.rstrip("/")
        return "completions" if path.endswith(COMPLETIONS_PATH) and not path.endswith(CHAT_PATH) else "chat"

    @property
    def request_url(self) -> str:
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


KEYS = re.compile(r"\b(?:sk|hf|gsk|xai|pk|key)[-_][\w*-]{6,}")
"""Form of the keys of well-known services, in part also where a server shows stars in their middle."""

_SECRET_NAMES = re.compile(r"api[-_]?key|authorization|access[-_]?token|password|secret", re.IGNORECASE)


def api_key(variable: str) -> str:
    """The key in an environment variable, without white space around it, which no message shows from now on."""
    value = os.environ.get(variable, "")
    hide(value)
    key = value.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            f"the key in the environment variable {variable} has a line break, a space or a character outside of ASCII",
            remedy=f"Set {variable} to the key alone, in one line.",
        )
    return key


def is_endpoint(translator: object) -> bool:
    """True if what names a translator is the address of an endpoint."""
    return isinstance(translator, str) and translator.startswith(("http://", "https://"))


def further_keys(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        value = json.loads(text, object_pairs_hook=_without_secrets)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"'extra_body' is not valid JSON ({error})", remedy='Write {"key": "value"}.') from None
    if not isinstance(value, dict) or {"messages", "prompt", "n", "seed", "stream"} & set(value):
        raise ConfigError(
            "'extra_body' must be a JSON object without messages, prompt, n, seed and stream",
            remedy='Write {"key": "value"}.',
        )
    return value


def _without_secrets(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    """An object of `extra_body`, which is written into manifests and reports."""
    if (name := next((name for name, _ in pairs if _SECRET_NAMES.search(name)), None)) is not None:
        raise ConfigError(
            f"'extra_body' has the key '{name}', whose value would be written into reports",
            remedy="Set an environment variable to the secret, and name the variable: api_key_env.",
        )
    return dict(pairs)


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
