"""Candidates of several kinds for a selection: free ones, those of templates, those of other paraphrasers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paraloom.core.digests import digest
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import ParaphraseLike, ParaphraserLike
from paraloom.paraphrasing.control import ControlledVariant
from paraloom.paraphrasing.paraphraser import AUTO, ControlledParaphraser
from paraloom.paraphrasing.selection import ParaphraseSelector, Selection, without_selection


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
        """That of the paraphraser, and a digest of the options."""
        return f"{self.paraphraser.signature}|options:{digest(sorted(map(repr, self.options.items())))[:8]}"

    def paraphrase(self, texts: Sequence[str], *, n: int = 5, seed: int = 0) -> list[list[ControlledVariant]]:
        """Paraphrase texts, without a warning where no variant has the template."""
        groups = self.paraphraser.candidates(texts, n=n, seed=seed, **self.options)
        return self.paraphraser.with_free_logprobs(texts, groups)


class FreeParaphrases(TemplateCandidates):
    """A trained paraphraser as it writes by itself: without copies of the text, where it has another variant."""

    def paraphrase(self, texts: Sequence[str], *, n: int = 5, seed: int = 0) -> list[list[ControlledVariant]]:
        """Paraphrase texts, without a check of their language."""
        return self.paraphraser.paraphrase(texts, n=n, seed=seed, check_language=False, **self.options)


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


def kinds_of(trained: ControlledParaphraser, decode: str | None = None) -> list[ParaphraserLike]:
    """The candidates of a trained paraphraser: free ones, and those of templates that suit a text."""
    free = TemplateCandidates(trained, decode=decode)
    return [free, TemplateCandidates(trained, template=AUTO)] if trained.templates.counts else [free]


def candidates_of(
    trained: ControlledParaphraser,
    *,
    selects: bool = True,
    template: str | None = None,
    like: str | None = None,
    height: int | None = None,
    decode: str | None = None,
) -> list[ParaphraserLike]:
    """What a trained paraphraser gives a selection to choose from, or writes by itself."""
    if template is not None or like is not None:
        return [TemplateCandidates(trained, template=template, like=like, height=height, decode=decode)]
    return kinds_of(trained, decode) if selects else [FreeParaphrases(trained, decode=decode)]


class SelectingParaphraser:
    """A paraphraser with a selection: at most n paraphrases of each text, none where none is good enough."""

    def __init__(
        self, paraphraser: ParaphraserLike, selector: ParaphraseSelector | None, *, n: int, candidates: int
    ) -> None:
        if n < 1:
            raise ConfigError(f"'n' must be 1 or more, got {n}")
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
        """The candidates of texts, and what is kept of them."""
        groups = [list(group) for group in self.paraphraser.paraphrase(texts, n=self.candidates, seed=seed)]
        if self.selector is None:
            return groups, without_selection(texts, groups, self.n)
        return groups, self.selector.select(texts, groups, self.n)
