"""Training examples: what each mode shows, by hand; the draws depend on the seed and the row."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from paraloom.core.errors import ConfigError
from paraloom.core.seeds import generator
from paraloom.paraphrasing.config import ControlConfig
from paraloom.paraphrasing.examples import (
    ParsedPair,
    bounded_cut,
    make_example,
    same_template,
    same_template_rate,
    source_template,
    source_text,
    target_prefix,
)

TREE = "(S (NP (DT The) (NN dog)) (VP (VBD slept) (PP (IN in) (NP (DT the) (NN house)))) (. .))"
OWN = "(S (PP (IN In) (NP (DT the) (NN house))) (NP (DT the) (NN dog)) (VP (VBD slept)) (. .))"
PAIR = ParsedPair("In the house the dog slept.", "The dog slept in the house.", OWN, TREE)


def example(pair: ParsedPair = PAIR, seed: int = 1, **settings: float) -> tuple[str, str, str, int]:
    return make_example(pair, ControlConfig(**settings), np.random.default_rng(seed))  # type: ignore[arg-type]


def test_free() -> None:
    source, target, mode, height = example(free_share=1, exemplar_share=0, source_parse_share=0)
    assert (source, target, mode, height) == (PAIR.source, f"<sep> {PAIR.paraphrase}", "free", 0)


def test_a_template_of_a_given_height() -> None:
    source, target, mode, height = example(
        free_share=0, exemplar_share=0, source_parse_share=1, min_height=2, max_height=2
    )
    assert target == f"<(S><(NP><)><(VP><)><(.><)><)><sep> {PAIR.paraphrase}"
    assert source == f"{PAIR.source} <sep><(S><(PP><)><(NP><)><(VP><)><(.><)><)>"
    assert (mode, height) == ("template", 2)


def test_an_exemplar_shows_more_than_a_template() -> None:
    heights = Counter(
        example(seed=seed, free_share=0, exemplar_share=1, min_height=2, max_height=2)[2:] for seed in range(60)
    )
    # The tree has five levels of labels.
    assert set(heights) == {("exemplar", 3), ("exemplar", 4), ("exemplar", 5)}
    whole = example(ParsedPair("a", "b", None, "(S (VP (VB Go)))"), free_share=0, exemplar_share=1)
    assert whole[1:] == ("<(S><(VP><(VB><)><)><)><sep> b", "exemplar", 3)


def test_shares_and_heights() -> None:
    config = ControlConfig(free_share=0.2, exemplar_share=0.3, source_parse_share=0.6)
    examples = [make_example(PAIR, config, generator(1, row)) for row in range(2000)]
    modes = Counter(one.mode for one in examples)
    assert {mode: modes[mode] / 2000 for mode in modes} == pytest.approx(
        {"free": 0.2, "exemplar": 0.3, "template": 0.5}, abs=0.04
    )
    assert sum("<sep>" in one.source for one in examples) / 2000 == pytest.approx(0.6, abs=0.04)
    heights = Counter(one.height for one in examples if one.mode == "template")
    assert set(heights) == {2, 3, 4} and min(heights.values()) > 250
    assert examples == [make_example(PAIR, config, generator(1, row)) for row in range(2000)]


def test_pairs_with_the_same_template_are_used_at_a_rate() -> None:
    same = ParsedPair("a", "b", TREE, TREE)
    assert same_template(same) and not same_template(PAIR) and not same_template(ParsedPair("a", "b", None, TREE))
    config = ControlConfig(free_share=0, exemplar_share=0)
    modes = Counter(make_example(same, config, generator(1, row), same_rate=0.3).mode for row in range(2000))
    assert modes["template"] / 2000 == pytest.approx(0.3, abs=0.04)
    assert make_example(PAIR, config, generator(1), same_rate=0).mode == "template"
    # 800 pairs with the same template, 200 others: a quarter of them makes a half of those that are used.
    assert same_template_rate(800, 200, 0.5) * 800 == 200
    assert same_template_rate(800, 200, 0.2) * 800 == pytest.approx(50)
    assert (same_template_rate(0, 5, 0.5), same_template_rate(5, 0, 0.5), same_template_rate(5, 0, 1)) == (1, 0, 1)


def test_without_trees() -> None:
    pair = ParsedPair("a <sep> b", "c <)> d")
    assert example(pair, free_share=0, exemplar_share=1) == ("a < sep> b", "<sep> c < )> d", "free", 0)


def test_swapped() -> None:
    assert PAIR.swapped() == ParsedPair(PAIR.paraphrase, PAIR.source, TREE, OWN)


def test_long_templates_are_cut() -> None:
    assert bounded_cut(TREE, 3, 8) == "(S (NP (DT) (NN)) (VP (VBD) (PP)) (.))"
    assert bounded_cut(TREE, 3, 7) == "(S (NP) (VP) (.))"
    assert bounded_cut(TREE, None, 1) == "(S)"
    assert source_template(OWN, None, ControlConfig(max_height=2)) == "(S (PP) (NP) (VP) (.))"
    assert source_template(OWN, "(S (NP (DT)))", ControlConfig()) == bounded_cut(OWN, 3, 40)


def test_texts_for_decoding_are_those_of_training() -> None:
    source, target, _, _ = example(free_share=0, exemplar_share=0, source_parse_share=1, min_height=2, max_height=2)
    template = "(S (NP) (VP) (.))"
    assert target == f"{target_prefix(template)} {PAIR.paraphrase}"
    assert source == source_text(PAIR.source, "(S (PP) (NP) (VP) (.))")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"free_share": 1.5}, "'free_share' must be from 0 to 1, got 1.5"),
        ({"free_share": 0.6, "exemplar_share": 0.6}, "must not add up to more than 1, got 0.6 and 0.6"),
        ({"min_height": 5}, "'min_height' must be from 1 to 'max_height', got 5 and 4"),
        ({"same_template_share": -0.1}, "'same_template_share' must be from 0 to 1, got -0.1"),
        ({"max_labels": 0}, "'max_labels' must be at least 1, got 0"),
    ],
)
def test_settings_out_of_range(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ControlConfig(**settings)  # type: ignore[arg-type]
