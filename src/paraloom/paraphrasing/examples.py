"""Training examples of a paraphraser: a sentence with its template, and a template with the paraphrase."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paraloom.paraphrasing.config import ControlConfig
from paraloom.paraphrasing.linearization import SEPARATOR, cut_tree, height_of, nodes_of, plain_text, template_tokens

FREE, TEMPLATE, EXEMPLAR = MODES = ("free", "template", "exemplar")
"""Modes of an example: no template, one of a height that is drawn, or one that is deeper."""


class ParsedPair(NamedTuple):
    """A pair with the trees of both sides; None where a side has none."""

    source: str
    paraphrase: str
    source_tree: str | None = None
    paraphrase_tree: str | None = None

    def swapped(self) -> ParsedPair:
        """The pair in the other direction."""
        return ParsedPair(self.paraphrase, self.source, self.paraphrase_tree, self.source_tree)


class ControlExample(NamedTuple):
    """What a network reads and writes for a pair."""

    source: str
    target: str
    mode: str
    height: int


def source_text(text: str, template: str | None = None) -> str:
    """What the encoder reads."""
    tokens = f" {SEPARATOR}{''.join(template_tokens(template))}" if template else ""
    return plain_text(text) + tokens


def target_prefix(template: str | None = None) -> str:
    """What the decoder is made to begin with: the template and the separator; the separator alone for free writing."""
    return ("".join(template_tokens(template)) if template else "") + SEPARATOR


def bounded_cut(tree: str, height: int | None, max_labels: int) -> str:
    """The template of a tree at a height, or at the greatest lower height that has at most so many labels."""
    template = cut_tree(tree, height)
    while len(nodes_of(template)) > max_labels and height_of(template) > 1:
        template = cut_tree(template, height_of(template) - 1)
    return template


TEMPLATE_HEIGHT = 2
"""Height at which templates of two sentences are compared, and counted: the sentence's label and its constituents."""


def same_template(pair: ParsedPair) -> bool:
    """True if both sides of a pair have the same template; False where one has no tree."""
    if pair.source_tree is None or pair.paraphrase_tree is None:
        return False
    one, other = (cut_tree(tree, TEMPLATE_HEIGHT) for tree in (pair.source_tree, pair.paraphrase_tree))
    return one == other


def same_template_rate(same: int, different: int, share: float) -> float:
    """The rate at which pairs with the same template on both sides are used, so that they are a given share at most."""
    wanted = different * share / (1 - share) if share < 1 else same
    return min(1.0, wanted / same) if same else 1.0


def make_example(
    pair: ParsedPair, config: ControlConfig, random: np.random.Generator, *, same_rate: float = 1.0
) -> ControlExample:
    """The example of a pair in a mode that is drawn."""
    # All are drawn in any case, so that one pair's trees do not change what another pair draws.
    draw, shown, height, depth, kept = random.random(5)
    mode = FREE if draw < config.free_share else TEMPLATE
    if draw >= 1 - config.exemplar_share and mode != FREE:
        mode = EXEMPLAR
    template = None
    if pair.paraphrase_tree is None or (mode != FREE and kept >= same_rate and same_template(pair)):
        mode = FREE
    elif mode == TEMPLATE:
        levels = config.min_height + int(height * (config.max_height - config.min_height + 1))
        template = bounded_cut(pair.paraphrase_tree, levels, config.max_labels)
    elif mode == EXEMPLAR:
        whole = height_of(cut_tree(pair.paraphrase_tree, None))
        lowest = min(whole, config.max_height + 1)
        template = bounded_cut(pair.paraphrase_tree, lowest + int(depth * (whole - lowest + 1)), config.max_labels)
    own = None
    if pair.source_tree is not None and shown < config.source_parse_share:
        own = source_template(pair.source_tree, template, config)
    reached = height_of(template) if template else 0
    target = f"{target_prefix(template)} {plain_text(pair.paraphrase)}"
    return ControlExample(source_text(pair.source, own), target, mode, reached)


def source_template(tree: str, template: str | None, config: ControlConfig) -> str:
    """The template that the source of an example shows of its own tree."""
    height = min(config.max_height, max(config.min_height, height_of(template))) if template else config.max_height
    return bounded_cut(tree, height, config.max_labels)
