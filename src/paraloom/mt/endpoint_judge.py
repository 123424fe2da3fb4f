"""A language model behind an HTTP endpoint as a judge of meaning, by the log-odds of its answers yes and no."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import digest
from paraloom.mt.answers import without_thinking
from paraloom.mt.endpoint import EndpointTranslator
from paraloom.mt.endpoint_batch import ask_all, note_failure, request_body
from paraloom.mt.endpoint_requests import Choice, RowError
from paraloom.mt.prompts import prompt_for

ALTERNATIVES = 5  # Tokens whose log-probabilities are asked for: as many as every server of the protocol gives

_AROUND = " \t\n\"'*.,:▁Ġ"


class EndpointJudge:
    """Judges pairs by the log-odds of "Yes" against "No" of a language model (Lemesle et al. 2025, ParaPLUIE)."""

    labels: ClassVar[tuple[str, ...]] = ("same",)

    def __init__(self, model: EndpointTranslator) -> None:
        self.model = model

    @classmethod
    def load(cls, folder: str | Path) -> EndpointJudge:
        return cls(EndpointTranslator.load(folder))

    @property
    def signature(self) -> str:
        """Model, prompt and what the server supports."""
        return self.model.signature

    def probabilities(self, firsts: Sequence[str], seconds: Sequence[str]) -> npt.NDArray[np.float32]:
        """Probability that n pairs say the same, float32 `(n, 1)`; NaN where a text is empty or without an answer."""
        pairs = list(zip(firsts, seconds, strict=True))
        asked = list(dict.fromkeys(pair for pair in pairs if pair[0].strip() and pair[1].strip()))
        known = self.model.capabilities
        if not known.logprobs:
            warnings.warn("the endpoint gives no log-probabilities: scores of its judge are 1 or 0", stacklevel=2)
        judged = dict(zip(asked, self.model._run_requests(self._judged(asked)), strict=True))
        return np.array([[judged.get(pair, math.nan)] for pair in pairs], np.float32)

    async def _judged(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The probabilities of distinct pairs; see `ask_all`."""
        values: dict[tuple[str, str], float] = {}

        async def judge(pair: tuple[str, str]) -> None:
            values[pair] = await self._probability(*pair)

        await ask_all(pairs, judge, self.model.config)
        return [values[pair] for pair in pairs]

    async def _probability(self, first: str, second: str) -> float:
        config, known, store = self.model.config, self.model.capabilities, self.model._answers()
        prompt = prompt_for(self.model.prompt, f"First: {first}\nSecond: {second}")
        body = request_body(config, prompt, config.answer_tokens or 1, length_key=known.length_key)
        body["temperature"] = 0.0
        if known.logprobs:
            body |= (
                {"logprobs": True, "top_logprobs": ALTERNATIVES} if config.api == "chat" else {"logprobs": ALTERNATIVES}
            )
        row = digest(["judge", first, second])
        try:
            (choice,) = await self.model._open_client().answer(body)
            value = probability_of_yes(choice)
            reason = f"neither yes nor no: '{choice.text[:40]}'"
        except RowError as error:
            value, reason = None, str(error)
        if value is not None:
            store.succeed(row)
            return value
        remedy = (
            "Look at the prompt and the server, then run the same command again. A model that thinks needs "
            'answer-tokens=2000, or extra-body={"chat_template_kwargs": {"enable_thinking": false}}.'
        )
        note_failure(store, row, config, reason, "pairs were not judged; the last answer", remedy)
        return math.nan


def probability_of_yes(choice: Choice) -> float | None:
    """Probability of yes among yes and no: of the first token, or 1 or 0 by the text; None for another answer."""
    yes, no = (_log_probability(choice.alternatives, word) for word in ("yes", "no"))
    if max(yes, no) > -math.inf:
        # What is not listed is at most as likely as the last that is.
        last = min(choice.alternatives.values())
        odds = max(yes, last) - max(no, last)
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0
    words = (without_thinking(choice.text) or "").split()
    answer = words[0].strip(_AROUND).casefold() if words else ""
    return {"yes": 1.0, "no": 0.0}.get(answer)


def _log_probability(alternatives: Mapping[str, float], word: str) -> float:
    """Logarithm of the sum of the probabilities of the tokens that are a word, in any case."""
    values = [value for token, value in alternatives.items() if token.strip(_AROUND).casefold() == word]
    return math.log(math.fsum(map(math.exp, values))) if values and max(values) > -700 else -math.inf
