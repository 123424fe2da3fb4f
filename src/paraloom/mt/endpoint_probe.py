"""Short requests that find out what the server of an endpoint supports."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from paraloom.mt.endpoint_config import EndpointConfig
from paraloom.mt.endpoint_requests import Choice, EndpointClient, RowError

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
