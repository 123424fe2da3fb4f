"""SCPN: its training examples, and both networks as one translator, which writes a full parse, then a paraphrase."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from paraloom.core.protocols import PrefixTranslatorLike, Variant
from paraloom.paraphrasing.config import ControlConfig, ScpnConfig
from paraloom.paraphrasing.examples import TEMPLATE_HEIGHT, ParsedPair, bounded_cut, same_template, source_text
from paraloom.paraphrasing.linearization import (
    CLOSE,
    SEPARATOR,
    cut_tree,
    height_of,
    is_template,
    plain_text,
    template_of,
    template_tokens,
    tokens_of,
)

PARSE_DECODING = "beam:3,nbest=3"
"""Decoding of parses: SCPN's beam; the best hypothesis that is a parse is taken."""


class ScpnExample(NamedTuple):
    """Sources and targets of both networks for a pair."""

    source: str
    target: str
    parse_source: str
    parse_target: str
    height: int


def scpn_example(
    pair: ParsedPair, control: ControlConfig, config: ScpnConfig, random: np.random.Generator, *, same_rate: float = 1.0
) -> ScpnExample | None:
    """The example of a pair."""
    # All are drawn in any case, so that one pair's trees do not change what another pair draws.
    shown, kept, level, dropped = random.random(4)
    if pair.paraphrase_tree is None:
        return None
    parse = bounded_cut(pair.paraphrase_tree, None, config.max_parse_labels)
    own = bounded_cut(pair.source_tree, None, config.max_parse_labels) if pair.source_tree is not None else None
    if own == parse:
        return None
    height = _drawn_height(level, config.level_dropout, height_of(parse))
    template = cut_tree(parse, height)
    read = drop_constituents(parse, config.tree_dropout, np.random.default_rng(int(dropped * 2**53)))
    parse_source = parse_request(own if shown < control.source_parse_share else None, template)
    if kept >= same_rate and same_template(pair):
        parse_source = ""
    return ScpnExample(
        source_text(pair.source, read),
        plain_text(pair.paraphrase),
        parse_source,
        "".join(template_tokens(parse)),
        height_of(template),
    )


def parse_request(parse: str | None, template: str) -> str:
    """Source of the parse generator."""
    return "".join([*(template_tokens(parse) if parse else []), SEPARATOR, *template_tokens(template)])


def drop_constituents(parse: str, rate: float, random: np.random.Generator) -> str:
    """A parse in which some constituents below the top have lost what is below them."""
    if not rate:
        return parse
    kept: list[str] = []
    # Of each open constituent: whether it is kept, and whether what is below it is.
    above: list[tuple[bool, bool]] = []
    for token in template_tokens(parse):
        if token == CLOSE:
            visible, _ = above.pop()
        else:
            visible = not above or above[-1][1]
            above.append((visible, visible and not (above and random.random() < rate)))
        if visible:
            kept.append(token)
    return template_of(kept)


def leaf_labels(parse: str) -> set[str]:
    """Labels of a canonical parse that have nothing below them."""
    tokens = template_tokens(parse)
    return {one[2:-1] for one, after in pairwise(tokens) if one != CLOSE and after == CLOSE}


class ScpnTranslator:
    """Both networks of SCPN as a translator whose beginnings are templates.

    A source is a sentence, with its own parse after the separator if that is known; a beginning is a template and the
    separator. The parse generator makes a full parse of the template, and the paraphrase generator a paraphrase with
    this parse. A template that is a full parse already, as that of an exemplar may be, goes to the paraphrase generator
    as it is. SCPN cannot write without a template: a free paraphrase has the sentence's own, or where that is unknown
    the commonest of the training pairs. See Iyyer et al. 2018, §3.
    """

    def __init__(
        self, paraphrases: PrefixTranslatorLike, parses: PrefixTranslatorLike, tags: Collection[str], default: str
    ) -> None:
        self.paraphrases, self.parses = paraphrases, parses
        self.tags, self.default = frozenset(tags), default
        self.source = getattr(paraphrases, "source", None)

    @property
    def signature(self) -> str:
        """Those of both networks."""
        return f"scpn|{self.paraphrases.signature}|{self.parses.signature}"

    def split(self, sentences: Sequence[str], *, reserve: int = 0) -> list[list[str]]:
        """The parts that texts are paraphrased in, where they are longer than the paraphrase generator takes."""
        return self.paraphrases.split(sentences)

    def translate(
        self, sentences: Sequence[str], *, decode: Any = None, seed: int = 0, prefixes: Sequence[str] | None = None
    ) -> list[list[Variant]]:
        """Paraphrase sentences."""
        wanted = list(prefixes) if prefixes is not None else [SEPARATOR] * len(sentences)
        texts, templates, known = [], [], []
        for sentence, prefix in zip(sentences, wanted, strict=True):
            text, _, shown = sentence.partition(SEPARATOR)
            own, asked = tokens_of(shown), tokens_of(prefix.partition(SEPARATOR)[0])
            parse = template_of(own) if own else None
            texts.append(text.strip())
            known.append(parse)
            free = cut_tree(parse, TEMPLATE_HEIGHT) if parse else self.default
            templates.append(template_of(asked) if asked else free)
        full = self.full_parses(known, templates)
        sources = [source_text(text, parse) if text else "" for text, parse in zip(texts, full, strict=True)]
        return self.paraphrases.translate(sources, decode=decode, seed=seed)

    def full_parses(self, known: Sequence[str | None], templates: Sequence[str]) -> list[str]:
        """The full parses that paraphrases are to have."""
        requests = {
            (parse, template): parse_request(parse, template)
            for parse, template in zip(known, templates, strict=True)
            if not leaf_labels(template) <= self.tags
        }
        answers = self.parses.translate(list(requests.values()), decode=PARSE_DECODING) if requests else []
        written: dict[tuple[str | None, str], str] = {}
        for key, variants in zip(requests, answers, strict=True):
            rows = [tokens_of(variant.text) for variant in variants]
            parse = next((tokens for tokens in rows if is_template(tokens)), None)
            written[key] = template_of(parse) if parse else key[1]
        return [written.get(key, key[1]) for key in zip(known, templates, strict=True)]


def _drawn_height(draw: float, rate: float, height: int) -> int:
    """The level at which a template ends: each from 2 down with chance `rate`, or else the last."""
    level, left = min(TEMPLATE_HEIGHT, height), 1.0
    while level < height and draw < left * (1 - rate):
        left *= 1 - rate
        level += 1
    return level
