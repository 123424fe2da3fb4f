"""Candidates of several kinds for a selection: free ones, those of templates, those of other paraphrasers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paraloom.core.digests import digest
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import ParaphraseLike, ParaphraserLike
from paraloom.paraphrasing.control import ControlledVariant
from paraloom.paraphrasing.paraphraser import ControlledParaphraser


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
