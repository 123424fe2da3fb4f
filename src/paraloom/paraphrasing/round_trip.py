"""Paraphrasers that translate: into another language and back, or into their own; with a number of variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, overload, runtime_checkable

from paraloom.core.digests import digest, signature
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import TranslatorLike, Variant
from paraloom.text.language_names import language_code

PIVOTS = 3
"""Translations of each text on the way, by default."""


@runtime_checkable
class AdjustableTranslator(Protocol):
    """A translator whose decoding can be chosen, such as those of `paraloom.mt`."""

    def with_decoding(self, decode: Any) -> Any:
        """The same translator with another decoding."""


class RoundTripVariant(NamedTuple):
    """A paraphrase by way of another language."""

    text: str
    logprob: float
    tokens: int
    pivot: str
    cut: bool = False
    reason: str | None = None


class PivotParaphraser:
    """Paraphrases by translating into another language and back: for languages that have no paraphraser.

    Args:
        forward: Translates from the language of the texts.
        backward: Translates back.
        pivots: Translations of each text on the way, 1 or more; what they lead to are different paraphrases.
        decode: How to decode both ways, such as 'sampling'; default: a beam as large as needed. Translators that decode
            in their own way, such as functions, return as many variants as they do.

    Raises:
        ConfigError: The translators do not lead back to the same language, or `pivots` is below 1.

    Example:
        >>> class Table:
        ...     signature = "table"
        ...     def __init__(self, rows): self.rows = rows
        ...     def translate(self, sentences, *, seed=0):
        ...         return [[Variant(text, -1.0, 2) for text in self.rows[sentence]] for sentence in sentences]
        >>> there = Table({"a film": ["ein Film"]})
        >>> back = Table({"ein Film": ["a film", "a movie"]})
        >>> [variant.text for variant in PivotParaphraser(there, back).paraphrase(["a film"])[0]]
        ['a film', 'a movie']
    """

    def __init__(
        self, forward: TranslatorLike, backward: TranslatorLike, *, pivots: int = PIVOTS, decode: str | None = None
    ) -> None:
        if pivots < 1:
            raise ConfigError(f"'pivots' must be 1 or more, got {pivots}")
        _check_directions(forward, backward)
        self.forward = forward
        self.backward = backward
        self.pivots = pivots
        self.decode = decode

    @property
    def language(self) -> str | None:
        """The language that is paraphrased; None where the translators do not say."""
        return _language(self.forward, "source") or _language(self.backward, "target")

    @property
    def signature(self) -> str:
        """Digests of both translators, the number of pivots and the decoding."""
        models = {"forward": digest(self.forward.signature)[:12], "backward": digest(self.backward.signature)[:12]}
        return signature("round-trip", **models, pivots=self.pivots, decode=self.decode or "beam")

    def __repr__(self) -> str:
        there = _language(self.forward, "target") or _language(self.backward, "source") or "?"
        language = self.language or "?"
        return f"<{type(self).__name__} {language} → {there} → {language}, pivots={self.pivots}>"

    @overload
    def paraphrase(  # type: ignore[overload-overlap]
        self, texts: str, *, n: int = ..., seed: int = ...
    ) -> list[RoundTripVariant]: ...

    @overload
    def paraphrase(self, texts: Sequence[str], *, n: int = ..., seed: int = ...) -> list[list[RoundTripVariant]]: ...

    def paraphrase(
        self, texts: str | Sequence[str], *, n: int = 5, seed: int = 0
    ) -> list[RoundTripVariant] | list[list[RoundTripVariant]]:
        """Paraphrase texts.

        Args:
            texts: m texts, or one text.
            n: Variants of each text at most, 1 or more; equal ones count once.
            seed: Seed of a decoding that samples.

        Returns:
            For each text its variants, the most probable first by the mean over all subwords. Copies are among them.
            For one text, its list alone.

        Raises:
            ConfigError: `n` is below 1, or a translator does not know the decoding.
        """
        check_number(n)
        given = [texts] if isinstance(texts, str) else list(texts)
        pivots = _translate(self.forward, given, self.pivots, self.decode, seed)
        good = [(row, pivot) for row, group in enumerate(pivots) for pivot in group if pivot.text.strip()]
        distinct = list(dict.fromkeys(pivot.text for _, pivot in good))
        returned = dict(zip(distinct, _translate(self.backward, distinct, n, self.decode, seed), strict=True))
        results: list[dict[str, RoundTripVariant]] = [{} for _ in given]
        for row, pivot in good:
            for back in returned[pivot.text]:
                variant = RoundTripVariant(
                    *(back.text, pivot.logprob + back.logprob, pivot.tokens + back.tokens, pivot.text),
                    *(pivot.cut or back.cut, pivot.reason or back.reason),
                )
                known = results[row].get(variant.text)
                if known is None or _mean(variant) > _mean(known):
                    results[row][variant.text] = variant
        # A stable order: where probabilities are unknown, that of the translators.
        groups = [sorted(group.values(), key=lambda one: -_mean(one))[:n] for group in results]
        return groups[0] if isinstance(texts, str) else groups


class MonolingualParaphraser:
    """Paraphrases with a translator from a language into itself, such as a language model with a prompt for that."""

    def __init__(self, translator: TranslatorLike, *, decode: str | None = None) -> None:
        source, target = _language(translator, "source"), _language(translator, "target")
        if source and target and source != target:
            raise ConfigError(
                f"the translator translates {source} → {target}, which does not paraphrase",
                remedy="Name one language for both sides, or a second translator that translates back.",
            )
        self.translator = translator
        self.decode = decode

    @property
    def language(self) -> str | None:
        """The language that is paraphrased; None where the translator does not say."""
        return _language(self.translator, "source") or _language(self.translator, "target")

    @property
    def signature(self) -> str:
        """Digest of the translator, and the decoding."""
        return signature(
            "paraphrase", translator=digest(self.translator.signature)[:12], decode=self.decode or "nucleus:0.95"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.language or '?'}: {self.translator!r}>"

    @overload
    def paraphrase(  # type: ignore[overload-overlap]
        self, texts: str, *, n: int = ..., seed: int = ...
    ) -> list[Variant]: ...

    @overload
    def paraphrase(self, texts: Sequence[str], *, n: int = ..., seed: int = ...) -> list[list[Variant]]: ...

    def paraphrase(
        self, texts: str | Sequence[str], *, n: int = 5, seed: int = 0
    ) -> list[Variant] | list[list[Variant]]:
        """As `PivotParaphraser.paraphrase`; a variant that the model refused or that failed a check has a `reason`."""
        check_number(n)
        given = [texts] if isinstance(texts, str) else list(texts)
        groups = _translate(self.translator, given, n, self.decode or "nucleus:0.95", seed)
        results = [list({variant.text: variant for variant in reversed(group)}.values())[::-1][:n] for group in groups]
        return results[0] if isinstance(texts, str) else results


def _translate(
    translator: TranslatorLike, texts: Sequence[str], n: int, decode: str | None, seed: int
) -> list[list[Variant]]:
    """Variants of each text, n where the translator lets its decoding be chosen."""
    if not texts:
        return []
    adjusted = translator
    if isinstance(translator, AdjustableTranslator):
        adjusted = translator.with_decoding(with_variants(decode or f"beam:{max(5, n)}", n))
    return adjusted.translate(list(texts), seed=seed)


def _mean(variant: RoundTripVariant) -> float:
    """Mean log-probability of a subword; lowest where it is unknown, and below that where a translator refused it."""
    if variant.reason is not None:
        return -2e9
    mean = variant.logprob / max(1, variant.tokens)
    return mean if mean == mean else -1e9


def _language(translator: TranslatorLike, side: str) -> str | None:
    return language_code(getattr(translator, side, None))


def _check_directions(forward: TranslatorLike, backward: TranslatorLike) -> None:
    there = _language(forward, "source"), _language(forward, "target")
    back = _language(backward, "source"), _language(backward, "target")
    for left, right in ((there[1], back[0]), (there[0], back[1])):
        if left and right and left != right:
            raise ConfigError(
                f"the translators do not lead back: {there[0] or '?'} → {there[1] or '?'}, then "
                f"{back[0] or '?'} → {back[1] or '?'}",
                remedy="The second one must translate what the first one writes, into the language of the texts.",
            )


def check_number(n: int) -> None:
    if n < 1:
        raise ConfigError(f"'n' must be 1 or more, got {n}")


_LIMITS = {"greedy": ("", 1), "beam": ("size", 5), "mbr": ("samples", 16), "diverse": ("samples", 32)}
"""Name → the setting that bounds the number of variants, and its default; others keep all samples by default."""


def with_variants(decode: str, n: int) -> str:
    """A decoding that gives n variants, or as many as its beam has hypotheses, or minimum Bayes risk has samples."""
    if "nbest=" in decode:
        return decode
    head, *settings = decode.strip().split(",")
    name, _, value = head.partition(":")
    setting, limit = _LIMITS.get(name, ("samples", n))
    given = dict(text.split("=", 1) for text in settings if "=" in text).get(setting, value if name == "beam" else "")
    if given.strip().isdecimal():
        limit = int(given) or n
    return f"{decode},nbest={min(n, max(1, limit))}"
