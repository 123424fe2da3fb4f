"""Paraphrases of sentences: free, by a template of syntax, or with the syntax of another sentence."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import islice
from typing import TypedDict, Unpack, cast, overload

from paraloom.core.digests import digest, signature
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import (
    ParserLike,
    PrefixScorerLike,
    PrefixTranslatorLike,
    ScoringTranslatorLike,
    Variant,
)
from paraloom.paraphrasing.control import ControlledVariant, control_variants, join_parts, nearness, warn_of_distance
from paraloom.paraphrasing.examples import TEMPLATE_HEIGHT, bounded_cut, source_template, source_text, target_prefix
from paraloom.paraphrasing.linearization import cut_tree, plain_text, read_template
from paraloom.paraphrasing.reordering import MOVED, completed, moved
from paraloom.paraphrasing.rewrites import rewrites
from paraloom.paraphrasing.round_trip import check_number, with_variants
from paraloom.paraphrasing.settings import ParaphraserSettings
from paraloom.paraphrasing.templates import TemplateTable
from paraloom.text.function_words import known_function_words, sample_language, suspected_language
from paraloom.text.language_names import language_name
from paraloom.text.normalize import is_copy
from paraloom.text.sequences import list_of_strings

AUTO = "auto"
"""Instead of a template: several, chosen for each sentence."""

TEMPLATES_SCORED = 20
"""Templates from which 'auto' chooses, at least: the commonest of paraphrases of sentences with the same template."""

EXEMPLAR_HEIGHT = 4
"""Height at which the tree of an exemplar is cut, by default: that of AESOP's results."""


class ParaphraseOptions(TypedDict, total=False):
    """Keywords of `ControlledParaphraser.paraphrase`, for type checkers."""

    n: int
    template: str | Sequence[str | None] | None
    like: str | Sequence[str] | None
    height: int | None
    decode: str | None
    seed: int
    check_language: bool


class ControlledParaphraser:
    """Paraphrases sentences with a translator that was trained to write a template, then a paraphrase.

    The template is forced as the beginning of what the decoder writes; a parser checks that what follows has it.
    """

    def __init__(
        self,
        translator: PrefixTranslatorLike,
        settings: ParaphraserSettings,
        templates: TemplateTable,
        parser: ParserLike | None = None,
    ) -> None:
        self.translator = translator
        self.settings = settings
        self.templates = templates
        self.parser = parser

    @property
    def signature(self) -> str:
        """Digests of model and parser, for the metadata of columns; without the decoding and the template."""
        model = digest([self.translator.signature, self.settings.labels])[:12]
        parser = "none" if self.parser is None else digest(self.parser.signature)[:12]
        return signature("paraphraser", model=model, parser=parser)

    def __repr__(self) -> str:
        language = f" {language_name(self.settings.language)}" if self.settings.language else ""
        parser = "no parser" if self.parser is None else f"parser {type(self.parser).__name__}"
        return f"<{type(self).__name__}{language}: {len(self.templates.counts):,} templates, {parser}>"

    @overload
    def paraphrase(  # type: ignore[overload-overlap]
        self, texts: str, **options: Unpack[ParaphraseOptions]
    ) -> list[ControlledVariant]: ...

    @overload
    def paraphrase(
        self, texts: Sequence[str], **options: Unpack[ParaphraseOptions]
    ) -> list[list[ControlledVariant]]: ...

    def paraphrase(
        self,
        texts: str | Sequence[str],
        *,
        n: int = 5,
        template: str | Sequence[str | None] | None = None,
        like: str | Sequence[str] | None = None,
        height: int | None = EXEMPLAR_HEIGHT,
        decode: str | None = None,
        seed: int = 0,
        check_language: bool = True,
    ) -> list[ControlledVariant] | list[list[ControlledVariant]]:
        """Paraphrase sentences, and warn where no variant has the template that was asked for.

        Args:
            texts: m texts, or one text. What is longer than the model takes is paraphrased by sentences, each of which
                gets the template.
            n: Variants of each text at most, 1 or more; equal ones count once. Without a template, copies of the text
                are left out where there is another variant.
            template: A template such as `(S (NP) (VP) (.))`, or one for each text (None for none); 'auto' takes n
                templates for each text, those that are most probable to begin a paraphrase of it, and returns one
                variant of each. None paraphrases freely.
            like: Instead of a template: a sentence whose syntax to follow, or one for each text.
            height: Levels of the tree of `like` to follow, below ROOT; None follows all.
            decode: How to decode, such as 'beam:12', 'sampling' or 'nucleus:0.95'. Default: a beam of n, at least 5;
                with a template and a parser, of 2n, at least 5, whose n nearest to the template are returned.
            seed: Seed of decodings that sample.
            check_language: Identify the language of the texts together, and refuse them if it is another one than that
                of the training pairs. A few short sentences are not enough to tell.

        Returns:
            For each text its variants; for one text, its list alone. With a template and a parser the nearest to the
            template come first, and a warning says where none has it; otherwise best first. An empty text has one
            empty variant.

        Raises:
            ConfigError: Both `template` and `like` are given, `n` is below 1, a template is not valid or has a label
                that the model does not know, or the decoding is not valid.
            DataError: The sentence of `like` cannot be parsed, or the texts are in another language.
        """
        given = [texts] if isinstance(texts, str) else list_of_strings(texts)
        if check_language:
            self.check_language(given)
        if template is None and like is None and n >= 1:
            # One more, in place of the copy that the most probable variant often is.
            free = self.candidates(given, n=n + 1, decode=decode, seed=seed)
            results = [_without_copies(text, group)[:n] for text, group in zip(given, free, strict=True)]
        else:
            results = self.candidates(given, n=n, template=template, like=like, height=height, decode=decode, seed=seed)
            if template != AUTO:
                warn_of_distance(given, results)
        return results[0] if isinstance(texts, str) else results

    def candidates(
        self,
        texts: Sequence[str],
        *,
        n: int = 5,
        template: str | Sequence[str | None] | None = None,
        like: str | Sequence[str] | None = None,
        height: int | None = EXEMPLAR_HEIGHT,
        decode: str | None = None,
        seed: int = 0,
    ) -> list[list[ControlledVariant]]:
        """As `paraphrase`, but with copies and without warnings: for a selection, and for many texts.

        Args:
            texts: m texts.
            n, template, like, height, decode, seed: See `paraphrase`.

        Returns:
            See `paraphrase`.
        """
        check_number(n)
        if template is not None and like is not None:
            raise ConfigError("'template' and 'like' cannot be combined", remedy="Give one of them.")
        parts = self.split(texts)
        flat = [part for of_text in parts for part in of_text]
        # A free paraphrase needs no parse of its text, but for SCPN, which always reads it.
        free = template is None and like is None and not self.settings.max_parse_labels
        trees = [None] * len(flat) if free else self._trees(flat)
        if template == AUTO:
            groups = self._by_templates(flat, trees, n, decode, seed)
        else:
            wanted = self._read(template, texts) if like is None else self._from_exemplars(like, len(texts), height)
            of_parts = [one for one, of_text in zip(wanted, parts, strict=True) for _ in of_text]
            groups = self._decoded(flat, trees, of_parts, n, decode, seed, exemplar=like is not None)
        remaining = iter(groups)
        return [join_parts(list(islice(remaining, len(of_text))))[:n] for of_text in parts]

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        """The parts of each text that are paraphrased: its sentences, where it is longer than the model takes.

        Args:
            texts: m texts.

        Returns:
            For each text its parts; the text alone if the model takes it.
        """
        return self.translator.split(texts, reserve=2 * self.settings.control.max_labels + 2)

    def with_free_logprobs(
        self, texts: Sequence[str], groups: Sequence[Sequence[ControlledVariant]]
    ) -> list[list[ControlledVariant]]:
        """Variants whose log-probability is that of a free paraphrase.

        The probability of a variant with a template is conditional on the template: where this does not suit the text,
        it says little. The free one tells good variants of all templates from bad ones.

        Args:
            texts: m texts.
            groups: The variants of each.

        Returns:
            The same variants with other log-probabilities and numbers of tokens, where the network can score given
            texts and they are not longer than it takes.
        """
        if not hasattr(self.translator, "score"):
            return [list(group) for group in groups]
        places = [(text, one) for text, group in zip(texts, groups, strict=True) for one in group]
        scores = cast(ScoringTranslatorLike, self.translator).score(
            [source_text(text) for text, _ in places],
            [f"{target_prefix()} {plain_text(one.text)}" for _, one in places],
        )
        scored = (
            one if math.isnan(logprob) else one._replace(logprob=logprob, tokens=tokens)
            for (_, one), (logprob, tokens) in zip(places, scores, strict=True)
        )
        return [list(islice(scored, len(group))) for group in groups]

    def with_moves(
        self, texts: Sequence[str], groups: Sequence[Sequence[ControlledVariant]]
    ) -> list[list[ControlledVariant]]:
        """Variants with a template, and what has it of the texts as rules rewrite them and with moved adjuncts.

        Args:
            texts: m English texts.
            groups: The variants of each, all with the same template.

        Returns:
            The variants, then the others, whose log-probability is unknown.
        """
        templates = [group[0].template if group else None for group in groups]
        rules = [
            dict.fromkeys(orders, MOVED) | {one.text: one.rule for one in rewrites(text)}
            for text, orders in zip(texts, self._orders(texts), strict=True)
        ]
        written = [[Variant(one, math.nan, 1) for one in of_text] for of_text in rules]
        results = []
        for group, ones, of_text in zip(groups, control_variants(written, templates, self.parser), rules, strict=True):
            exemplar = any(one.exemplar for one in group)
            named = [one._replace(rule=of_text.get(one.text, MOVED), exemplar=exemplar) for one in ones]
            added = {one.text: one for one in named if one.has_template}
            results.append([*(one for one in group if one.text not in added), *added.values()])
        return results

    def _orders(self, texts: Sequence[str]) -> list[list[str]]:
        """Each text with moved adjuncts, and the sentence that a caption stands for, likewise."""
        trees = self._trees(texts)
        captions = [completed(*one) for one in zip(texts, trees, strict=True)]
        whole = [*zip(captions, self._trees(captions), strict=True)]
        return [
            [*moved(*one), *filter(None, [caption]), *moved(caption, tree)]
            for one, (caption, tree) in zip(zip(texts, trees, strict=True), whole, strict=True)
        ]

    def check_language(self, texts: Sequence[str]) -> None:
        """Refuse texts in another language than that of the training pairs; warn where they are too few to be sure.

        Args:
            texts: Texts, which are looked at together.

        Raises:
            DataError: They are in another language; names it.
        """
        language = self.settings.language
        identified = sample_language(texts) if language in known_function_words() else None
        if identified is not None and identified != language:
            raise DataError(
                f"the text is {language_name(identified)}, and the paraphraser was trained on "
                f"{language_name(language)}",
                remedy="Use a paraphraser of this language. If it is right as it is, switch the check off: "
                "--no-language-check, check_language=False, or check_languages = false in a pipeline.",
            )
        if identified is None and (suspected := suspected_language(texts, language)) is not None:
            warnings.warn(
                f"the text looks {language_name(suspected)}, and the paraphraser was trained on "
                f"{language_name(language)}: expect wrong paraphrases",
                stacklevel=3,
            )

    def _trees(self, texts: Sequence[str]) -> list[str | None]:
        if self.parser is None:
            return [None] * len(texts)
        return [tree or None for tree in self.parser.parse(texts)]

    def _by_templates(
        self, texts: Sequence[str], trees: Sequence[str | None], n: int, decode: str | None, seed: int
    ) -> list[list[ControlledVariant]]:
        """One variant of each of n templates for each text, those that have their template first."""
        wanted = self._suggested(texts, trees, n)
        counts = [len(of_text) for of_text in wanted]
        rows = [row for row, count in enumerate(counts) for _ in range(count)]
        flat: list[str | None] = [template for of_text in wanted for template in of_text]
        decoded = self._decoded([texts[row] for row in rows], [trees[row] for row in rows], flat, 1, decode, seed)
        groups, remaining = [], iter(decoded)
        for text, count in zip(texts, counts, strict=True):
            variants = {one.text: one for group in reversed(list(islice(remaining, count))) for one in group}
            ranked = sorted(reversed(variants.values()), key=nearness)
            groups.append(ranked if text and ranked else [ControlledVariant("", 0.0, 0)])
        return groups

    def _suggested(self, texts: Sequence[str], trees: Sequence[str | None], n: int) -> list[list[str]]:
        """n templates for each text: of common ones the most probable, where the network can score them."""
        own = [cut_tree(tree, TEMPLATE_HEIGHT) if tree else None for tree in trees]
        if not isinstance(self.translator, PrefixScorerLike):
            return [self.templates.suggest(template, n) for template in own]
        many = max(4 * n, TEMPLATES_SCORED)
        groups = [self.templates.suggest(one, many) if text else [] for text, one in zip(texts, own, strict=True)]
        places = [(row, template) for row, group in enumerate(groups) for template in group]
        scores = self.translator.score_prefixes(
            [source_text(texts[row], self._shown(trees[row], template)) for row, template in places],
            [target_prefix(template) for _, template in places],
        )
        logprobs = iter(-math.inf if math.isnan(score) else score for score in scores)
        results = []
        for group in groups:
            ranked = sorted(zip(group, islice(logprobs, len(group)), strict=True), key=lambda scored: -scored[1])
            results.append([template for template, _ in ranked[:n]])
        return results

    def _decoded(
        self,
        texts: Sequence[str],
        trees: Sequence[str | None],
        templates: Sequence[str | None],
        n: int,
        decode: str | None,
        seed: int,
        exemplar: bool = False,
    ) -> list[list[ControlledVariant]]:
        sources = [
            source_text(text, self._shown(tree, template)) if text else ""
            for text, tree, template in zip(texts, trees, templates, strict=True)
        ]
        checked = self.parser is not None and any(template is not None for template in templates)
        variants = self.translator.translate(
            sources,
            decode=_decoding(decode, n, max(5, 2 * n) if checked else n),
            seed=seed,
            prefixes=[target_prefix(template) for template in templates],
        )
        groups = control_variants(variants, templates, self.parser)
        return [[one._replace(exemplar=exemplar) for one in group[:n]] for group in groups]

    def _shown(self, tree: str | None, template: str | None) -> str | None:
        """What the source shows of its own tree: of SCPN's all of it, else its template."""
        control = self.settings.control
        if tree is None or not control.source_parse_share:
            return None
        if self.settings.max_parse_labels:
            return bounded_cut(tree, None, self.settings.max_parse_labels)
        return source_template(tree, template, control)

    def _read(self, template: str | Sequence[str | None] | None, texts: Sequence[str]) -> list[str | None]:
        if template is None or isinstance(template, str):
            return [None if template is None else read_template(template, self.settings.labels)] * len(texts)
        _check_count("templates", len(template), len(texts))
        return [None if one is None else read_template(one, self.settings.labels) for one in template]

    def _from_exemplars(self, like: str | Sequence[str], count: int, height: int | None) -> list[str | None]:
        if self.parser is None:
            raise ConfigError(
                "an exemplar needs a parser, and this paraphraser has none",
                remedy="Give the folder of `paraloom train parser` as parser, or a template.",
            )
        sentences = [like] if isinstance(like, str) else list(like)
        if not isinstance(like, str):
            _check_count("exemplars", len(like), count)
        templates: list[str | None] = []
        for row, (sentence, tree) in enumerate(zip(sentences, self.parser.parse(sentences), strict=True), start=1):
            if not tree:
                raise DataError(
                    f"the exemplar '{sentence}' cannot be parsed",
                    row=None if isinstance(like, str) else row,
                    remedy="Give one sentence in the language of the parser, or a template.",
                )
            cut = bounded_cut(tree, height, self.settings.control.max_labels)
            templates.append(read_template(cut, self.settings.labels))
        return templates * count if isinstance(like, str) else templates


def _decoding(decode: str | None, n: int, candidates: int) -> str:
    """The decoding string with a number of variants."""
    if decode is None:
        return f"beam:{max(5, candidates)},nbest={candidates}"
    return with_variants(decode, n)


def _check_count(what: str, given: int, expected: int) -> None:
    if given != expected:
        raise ConfigError(
            f"expected {expected} {what}, one for each text, got {given}", remedy=f"Or give one of the {what}."
        )


def _without_copies(text: str, variants: list[ControlledVariant]) -> list[ControlledVariant]:
    """The variants that are not the text but for case, spaces and punctuation; all if all are copies."""
    return [variant for variant in variants if not is_copy(text, variant.text)] or variants
