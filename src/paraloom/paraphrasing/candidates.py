"""Candidates for a selection, those of several paraphrasers together, and the selection of each text or sentence."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraloom.bundled import REWRITES
from paraloom.core.digests import digest, path_digest
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import ParaphraseLike, ParaphraserLike
from paraloom.paraphrasing.control import ControlledVariant
from paraloom.paraphrasing.edits import CHANGES, lost_label
from paraloom.paraphrasing.moves import Move
from paraloom.paraphrasing.paraphraser import AUTO, ControlledParaphraser
from paraloom.paraphrasing.reordering import moved
from paraloom.paraphrasing.rewrites import rewrites
from paraloom.paraphrasing.round_trip import check_number
from paraloom.paraphrasing.selection import (
    Measured,
    ParaphraseSelector,
    SelectedParaphrase,
    Selection,
    without_selection,
)
from paraloom.text.language_names import language_code


class TemplateCandidates:
    """A trained paraphraser with the template, exemplar or decoding that it is to use for every text."""

    def __init__(self, paraphraser: ControlledParaphraser, **options: Any) -> None:
        self.paraphraser = paraphraser
        self.options = options

    @property
    def language(self) -> str | None:
        """The language that is paraphrased; None where the model does not say."""
        own = getattr(self.paraphraser.settings, "language", None)
        return own or getattr(self.paraphraser.translator, "source", None)

    @property
    def signature(self) -> str:
        """That of the paraphraser, and a digest of the options, the rules and the code that applies them."""
        code = [Path(inspect.getfile(part)) for part in (rewrites, Move, lost_label, moved)]
        files = [REWRITES, *code] if self.language == "en" else []
        rules = map(path_digest, files)
        return f"{self.paraphraser.signature}|options:{digest([*sorted(map(repr, self.options.items())), *rules])[:8]}"

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        """The parts of each text: its sentences, where it is longer than the model takes."""
        return self.paraphraser.split(texts)

    def paraphrase(self, texts: Sequence[str], *, n: int = 5, seed: int = 0) -> list[list[ParaphraseLike]]:
        """Paraphrase texts, without a warning where no variant has the template; of English ones also by rules."""
        groups = self.paraphraser.candidates(texts, n=n, seed=seed, **self.options)
        if self.options.get("template") == AUTO:
            # Any template will do, so what has another one than it was written by stays.
            scored = self.paraphraser.with_free_logprobs(texts, groups)
            return [[one._replace(matches=(None,)) for one in group] for group in scored]
        if self.options.get("template") is not None or self.options.get("like") is not None:
            english = self.language == "en"
            return [[*group] for group in (self.paraphraser.with_moves(texts, groups) if english else groups)]
        ruled = [rewrites(text) if self.language == "en" else [] for text in texts]
        return [[*group, *of_rules] for group, of_rules in zip(groups, ruled, strict=True)]


class FreeParaphrases(TemplateCandidates):
    """A trained paraphraser as it writes by itself: without copies of the text, where it has another variant."""

    def paraphrase(self, texts: Sequence[str], *, n: int = 5, seed: int = 0) -> list[list[ParaphraseLike]]:
        """Paraphrase texts, without a check of their language."""
        return [
            [*group]
            for group in self.paraphraser.paraphrase(texts, n=n, seed=seed, check_language=False, **self.options)
        ]


class CombinedParaphraser:
    """Several paraphrasers as one: the candidates of all, for a selection to choose from."""

    def __init__(self, paraphrasers: Sequence[ParaphraserLike]) -> None:
        if not paraphrasers:
            raise ConfigError("a paraphraser is missing", remedy="Give one or more.")
        self.paraphrasers = tuple(paraphrasers)

    @property
    def language(self) -> str | None:
        """The language of the first one that says it."""
        return next((one for part in self.paraphrasers if (one := getattr(part, "language", None))), None)

    @property
    def signature(self) -> str:
        """Those of all, between plus signs."""
        return "+".join(part.signature for part in self.paraphrasers)

    def paraphrase(self, texts: Sequence[str], *, n: int = 5, seed: int = 0) -> list[list[ParaphraseLike]]:
        """Paraphrase texts with all of them."""
        answers = [part.paraphrase(texts, n=n, seed=seed) for part in self.paraphrasers]
        results: list[list[ParaphraseLike]] = []
        for row in range(len(texts)):
            groups = [answer[row] for answer in answers]
            ranked = [group[rank] for rank in range(max(map(len, groups))) for group in groups if rank < len(group)]
            results.append(list({variant.text: variant for variant in reversed(ranked)}.values())[::-1])
        return results


def combined(paraphrasers: Sequence[ParaphraserLike]) -> ParaphraserLike:
    """One paraphraser, or several as one."""
    return paraphrasers[0] if len(paraphrasers) == 1 else CombinedParaphraser(paraphrasers)


def language_of_paraphraser(paraphraser: ParaphraserLike) -> str | None:
    """The ISO 639-1 code of the language that a paraphraser is for; None where it does not say."""
    if isinstance(paraphraser, ControlledParaphraser):
        paraphraser = TemplateCandidates(paraphraser)
    return language_code(getattr(paraphraser, "language", None))


def is_english(paraphraser: ParaphraserLike) -> bool:
    """Whether a paraphraser is for English, or does not say for what."""
    return language_of_paraphraser(paraphraser) in (None, "en")


def candidates_of(
    trained: ControlledParaphraser,
    *,
    selects: bool = True,
    template: str | None = None,
    like: str | None = None,
    height: int | None = None,
    decode: str | None = None,
) -> TemplateCandidates:
    """What a trained paraphraser gives a selection to choose from, or writes by itself."""
    if template is not None or like is not None:
        return TemplateCandidates(trained, template=template, like=like, height=height, decode=decode)
    return (TemplateCandidates if selects else FreeParaphrases)(trained, decode=decode)


class SelectingParaphraser:
    """A paraphraser with a selection: at most n paraphrases of each text, none where none is good enough."""

    def __init__(
        self, paraphraser: ParaphraserLike, selector: ParaphraseSelector | None, *, n: int, candidates: int
    ) -> None:
        check_number(n)
        self.paraphraser = paraphraser
        self.selector = selector
        self.n = n
        self.candidates = n if selector is None else max(n, candidates)

    @property
    def signature(self) -> str:
        """That of the paraphraser, with the number of candidates, and of the selection."""
        own = f"{self.paraphraser.signature}|candidates:{self.candidates}"
        return own if self.selector is None else f"{own}|{self.selector.signature}"

    def answer(self, texts: Sequence[str], *, seed: int = 0) -> tuple[list[list[ParaphraseLike]], Selection]:
        """The candidates of texts, and what is kept of them; long texts by sentences, which may stay as they are."""
        groups, selection = self._answer(texts, seed)
        if not is_english(self.paraphraser):
            for kept in selection.kept:
                kept[:] = [one._replace(changes="") for one in kept]
        return groups, selection

    def _answer(self, texts: Sequence[str], seed: int) -> tuple[list[list[ParaphraseLike]], Selection]:
        if self.selector is None:
            groups = [list(group) for group in self.paraphraser.paraphrase(texts, n=self.candidates, seed=seed)]
            return groups, without_selection(texts, groups, self.n)
        split = getattr(self.paraphraser, "split", None)
        parts: list[list[str]] = [[text] for text in texts] if split is None else split(texts)
        flat = [part for of_text in parts for part in of_text]
        groups = [list(group) for group in self.paraphraser.paraphrase(flat, n=self.candidates, seed=seed)]
        selection = self.selector.select(flat, groups, self.n)
        return (groups, selection) if len(flat) == len(parts) else _joined(parts, groups, selection, self.n)


def _joined(
    parts: Sequence[Sequence[str]], groups: Sequence[list[ParaphraseLike]], selection: Selection, n: int
) -> tuple[list[list[ParaphraseLike]], Selection]:
    """Candidates and selection of texts from those of their parts."""
    candidates: list[list[ParaphraseLike]] = []
    result = Selection([], selection.dropped, [], [], [])
    start = 0
    for of_text in parts:
        rows = range(start, start + len(of_text))
        start += len(of_text)
        fields = (selection.kept, selection.reasons, selection.positions, selection.measured)
        if len(rows) == 1:
            candidates.append(groups[rows[0]])
            whole: list[Any] = [field[rows[0]] for field in fields]
        else:
            variants = [_of_parts(of_text, [selection.kept[row] for row in rows], rank) for rank in range(n)]
            distinct = list({one.text: one for one in variants if one is not None}.values())
            candidates.append([one.candidate for one in distinct])
            figures = [Measured(one.meaning, one.difference, one.judge) for one in distinct]
            whole = [distinct, [""] * len(distinct), list(range(len(distinct))), figures]
        collected: list[list[Any]] = [result.kept, result.reasons, result.positions, result.measured]
        for field, values in zip(collected, whole, strict=True):
            field.append(values)
    return candidates, result


def _of_parts(
    parts: Sequence[str], kept: Sequence[Sequence[SelectedParaphrase]], rank: int
) -> SelectedParaphrase | None:
    """The paraphrase of a text from those of this rank of its parts; None if no part has one."""
    ones = [of_part[min(rank, len(of_part) - 1)] if of_part else None for of_part in kept]
    chosen = [one for one in ones if one is not None]
    if not chosen:
        return None
    text = " ".join(part if one is None else one.text for part, one in zip(parts, ones, strict=True))
    difference = sum(len(part) * one.difference for part, one in zip(parts, ones, strict=True) if one is not None)
    logprob, tokens = (sum(getattr(one.candidate, name) for one in chosen) for name in ("logprob", "tokens"))
    candidate = ControlledVariant(text, logprob, tokens, pieces=len(parts))
    lowest = {
        name: min(getattr(one, name) for one in chosen)
        for name in ("score", "meaning", "fluency", "judge", "template", "probability")
    }
    difference /= sum(map(len, parts))
    return SelectedParaphrase(text, difference=difference, candidate=candidate, changes=_changes(chosen), **lowest)


def _changes(parts: Sequence[SelectedParaphrase]) -> str:
    """The kinds of change of all parts."""
    of_parts = {kind for one in parts for kind in one.changes.split(", ")}
    return ", ".join(kind for kind in CHANGES if kind in of_parts)
