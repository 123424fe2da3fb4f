"""The standard form of noisy texts: rules and a list of words, then candidates of a paraphraser that are safe."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from paraloom.core.config import check_range
from paraloom.core.digests import signature
from paraloom.core.protocols import EncoderLike, ParaphraseLike
from paraloom.paraphrasing.protection import ProtectedText, Protector
from paraloom.paraphrasing.selection import (
    DRIFT,
    LENGTH,
    FluencyModel,
    decoding_fault,
    text_cosines,
    text_units,
)
from paraloom.paraphrasing.spelling import Speller

CHANGED, UNCHANGED, KEPT = STATUSES = ("changed", "unchanged", "kept")
"""What happened to a text. changed: another form was chosen. unchanged: the text itself was the best form. kept: all
candidates were unsafe, and the text stays as it is."""

NO_CANDIDATE, NO_WORDS, OTHER_WORDS = "without a candidate", "without words to write", "other words"
"""Why a text was kept: the model gave nothing; nothing but placeholders is in it; known words became others."""

MIN_MEANING = 0.6
"""Default minimum of the cosine to the text: spelling changes vectors, so that it is lower than for paraphrases."""

Floats = npt.NDArray[np.float64]

_MARGIN = 0.2
"""What a form of the model must gain over that of the speller, in nats a subword."""

_LENGTH_RATIO = 2.0
_FEW_WORDS = 3


class CanonicalSource(Protocol):
    """What gives candidates, such as `paraloom.paraphrasing.paraphraser.ControlledParaphraser`."""

    @property
    def signature(self) -> str:
        """The model."""

    def canonical_candidates(
        self, texts: Sequence[str], *, n: int = 5, decode: str | None = None, seed: int = 0
    ) -> Sequence[Sequence[ParaphraseLike]]:
        """For each text its candidates, best first."""

    def canonical_logprobs(self, texts: Sequence[str], forms: Sequence[str]) -> list[float]:
        """For each text and form the mean log-probability of a subword of the form; NaN where it is unknown."""


class CanonicalText(NamedTuple):
    """The standard form of a text."""

    text: str
    source: str
    status: str
    reason: str = ""
    meaning: float = math.nan
    probability: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """The fields by name; None for NaN."""
        return {name: None if value != value else value for name, value in self._asdict().items()}


class _Form(NamedTuple):
    """A text, or a candidate that is safe but for its meaning: with what is held, without it, with placeholders."""

    row: int
    text: str
    core: str
    written: str
    logprob: float


class Canonicalizer:
    """Writes the standard form of texts, and leaves alone what it cannot rewrite safely.

    Numbers, links, names and the like are placeholders. With a speller, its form of the text comes first, and stands
    for the text below. Of the candidates of a model, those are safe that have all placeholders once, nothing like them
    besides, about as many words as the text, and its meaning by the encoder; with a speller, also its words, unless
    these are unknown. Of these and the text itself, the most probable one by the model is chosen, or by the model and a
    language model; with a speller, only if it is clearly more probable.
    """

    def __init__(
        self,
        source: CanonicalSource | None,
        encoder: EncoderLike | None = None,
        *,
        speller: Speller | None = None,
        protector: Protector | None = None,
        meaning: float = MIN_MEANING,
        language_model: FluencyModel | None = None,
        language_weight: float = 0.25,
        candidates: int = 5,
    ) -> None:
        self.source = source
        self.encoder = encoder
        self.speller = speller
        self.protector = protector or Protector()
        self.meaning = meaning
        self.language_model = language_model
        self.language_weight = language_weight
        self.candidates = candidates
        check_range(self, "meaning", low=0, high=1)
        check_range(self, "language_weight", low=0)
        check_range(self, "candidates", low=1)

    @property
    def signature(self) -> str:
        """The threshold, what is held, and the models."""
        models = {"encoder": self.encoder, "language_model": self.language_model}
        named = {name: "none" if model is None else model.signature for name, model in models.items()}
        held = ",".join(self.protector.kinds)
        settings = {"meaning": self.meaning, "candidates": self.candidates, "weight": self.language_weight}
        if self.speller is not None:
            named["speller"] = self.speller.signature
        source = "rules" if self.source is None else self.source.signature
        return f"{source}|{signature('canonical', hold=held, **settings, **named)}"

    def canonicalize(self, texts: Sequence[str], *, decode: str | None = None, seed: int = 0) -> list[CanonicalText]:
        """Write the standard form of texts."""
        results = [CanonicalText(text, text, KEPT, NO_WORDS) for text in texts]
        protected = [self.protector.protect(text) for text in texts]
        rows = [row for row, one in enumerate(protected) if self.protector.words_left(one)]
        spelled = [self._spelled(texts[row], protected[row]) for row in rows]
        if self.source is None:
            chosen = [CanonicalText(text, text, UNCHANGED) for text, _ in spelled]
        elif rows:
            given = [text for text, _ in spelled], [one for _, one in spelled]
            chosen = self._rewritten(self.source, *given, decode, seed)
        else:
            chosen = []
        for row, one in zip(rows, chosen, strict=True):
            status, reason = (one.status, one.reason) if one.text == texts[row] else (CHANGED, "")
            results[row] = one._replace(source=texts[row], status=status, reason=reason)
        return results

    def _spelled(self, text: str, protected: ProtectedText) -> tuple[str, ProtectedText]:
        """The speller's form of a text, without placeholders and with them; the text as it is without a speller."""
        if self.speller is None:
            return text, protected
        written = protected._replace(text=self.speller.standard_form(protected.text))
        restored, problem = self.protector.restore(protected, written.text)
        return (text, protected) if problem else (restored, written)

    def _rewritten(
        self,
        source: CanonicalSource,
        texts: Sequence[str],
        protected: Sequence[ProtectedText],
        decode: str | None,
        seed: int,
    ) -> list[CanonicalText]:
        """The form of each text, all of which have words."""
        groups = source.canonical_candidates(
            [one.text for one in protected], n=self.candidates, decode=decode, seed=seed
        )
        forms: list[_Form] = []
        problems = [""] * len(texts)
        for row, (text, held, group) in enumerate(zip(texts, protected, groups, strict=True)):
            own = [_mean_logprob(one) for one in group if one.text == held.text]
            forms.append(self._form(row, text, held, held.text, own[0] if own else math.nan))
            for candidate in group:
                if candidate.text == held.text:
                    continue
                restored, problem = self.protector.restore(held, candidate.text)
                problem = problem or _surface_problem(text, restored, candidate)
                if not problem and self.speller is not None and not self.speller.only_corrects(text, restored):
                    problem = OTHER_WORDS
                if problem:
                    problems[row] = problems[row] or problem
                else:
                    forms.append(self._form(row, restored, held, candidate.text, _mean_logprob(candidate)))
        meaning = self._meanings(texts, protected, forms)
        sources = [protected[form.row].text for form in forms]
        scored = np.array(source.canonical_logprobs(sources, [form.written for form in forms]), np.float64)
        logprobs = np.where(np.isnan(scored), [form.logprob for form in forms], scored)
        scores = logprobs + self.language_weight * self._improvements(texts, forms)
        of_row: dict[int, list[int]] = {}
        for number, form in enumerate(forms):
            of_row.setdefault(form.row, []).append(number)
        results = []
        for row, (own_number, *others) in of_row.items():
            text, safe = texts[row], [number for number in others if meaning[number] >= self.meaning]
            if self.speller is not None:
                scores[own_number] += _MARGIN
            # Where the probability of the text itself is unknown, a safe form is better.
            order = [own_number, *safe] if not math.isnan(scores[own_number]) else safe or [own_number]
            best = max(order, key=lambda number: -math.inf if math.isnan(scores[number]) else scores[number])
            probability = math.nan if math.isnan(logprobs[best]) else math.exp(min(0.0, logprobs[best]))
            if best != own_number:
                cosine = math.nan if self.encoder is None else float(meaning[best])
                results.append(CanonicalText(forms[best].text, text, CHANGED, "", cosine, probability))
            elif safe or any(one.text == protected[row].text for one in groups[row]):
                results.append(CanonicalText(text, text, UNCHANGED, "", math.nan, probability))
            else:
                reason = problems[row] or (DRIFT if others else NO_CANDIDATE)
                results.append(CanonicalText(text, text, KEPT, reason, math.nan, probability))
        return results

    def _form(self, row: int, text: str, protected: ProtectedText, written: str, logprob: float) -> _Form:
        return _Form(row, text, self.protector.core(protected, written), written, logprob)

    def _meanings(self, texts: Sequence[str], protected: Sequence[ProtectedText], forms: Sequence[_Form]) -> Floats:
        """The lower one of the cosines with and without what is held; infinite without an encoder."""
        if self.encoder is None:
            return np.full(len(forms), np.inf)
        whole = text_cosines(self.encoder, [texts[form.row] for form in forms], [form.text for form in forms])
        cores = [self.protector.core(protected[form.row], protected[form.row].text) for form in forms]
        return np.fmin(whole, text_cosines(self.encoder, cores, [form.core for form in forms]))

    def _improvements(self, texts: Sequence[str], forms: Sequence[_Form]) -> Floats:
        """Logarithms of the perplexity of the text by that of the form; 0 where one of them is unknown."""
        if self.language_model is None:
            return np.zeros(len(forms))
        before = self.language_model.perplexity([texts[form.row] for form in forms])
        after = self.language_model.perplexity([form.text for form in forms])
        return np.nan_to_num(np.log(before.astype(np.float64)) - np.log(after))


def _surface_problem(text: str, form: str, candidate: ParaphraseLike) -> str:
    """Why a form is not safe, whatever it means; '' if it is."""
    source, units = text_units(text), text_units(form)
    if broken := decoding_fault(source, units, candidate):
        return broken
    shorter, longer = sorted((len(source), len(units)))
    return LENGTH if longer > max(shorter * _LENGTH_RATIO, shorter + _FEW_WORDS) else ""


def _mean_logprob(candidate: ParaphraseLike) -> float:
    return candidate.logprob / max(1, candidate.tokens)
