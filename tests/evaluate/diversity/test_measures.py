"""Measuring variants in memory: the figures, their formats, and invalid arguments."""

from __future__ import annotations

import itertools
import json
import math
import warnings

import numpy as np
import pytest
import sacrebleu

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import Variant
from paraloom.evaluate.diversity.measures import DiversityScores, diversity

VARIANTS = [
    ["The dog sleeps.", "A dog is asleep.", "The dog sleeps."],
    ["It rained all night.", "All night there was rain."],
    ["alone"],
    [],
]


def by_sacrebleu(texts: list[str]) -> tuple[float, float]:
    pairs = list(itertools.permutations(texts, 2))
    bleu = np.mean([sacrebleu.sentence_bleu(a, [b], lowercase=True).score for a, b in pairs])
    chrf = np.mean([sacrebleu.sentence_chrf(a, [b]).score for a, b in pairs])
    return 100 - float(bleu), 100 - float(chrf)


def test_figures_equal_those_of_sacrebleu() -> None:
    scores = diversity(VARIANTS)
    ibleu, ichrf = (np.mean(values) for values in zip(*map(by_sacrebleu, VARIANTS[:2]), strict=True))
    assert (scores.ibleu, scores.ichrf) == pytest.approx((ibleu, ichrf))
    assert scores["repeated"].value == pytest.approx((1 / 3 + 0) / 2)
    assert scores.counts == {"groups": 2, "alone": 2, "variants": 6, "empty": 0}
    assert not {"cost", "chrf", "kernel_sst"} & set(scores.figures)


def test_references_add_chrf() -> None:
    references = ["The dog is sleeping.", None, "alone", None]
    expected = [np.mean([sacrebleu.sentence_chrf(text, [references[0]]).score for text in VARIANTS[0]]), 100.0]
    assert diversity(VARIANTS, references=references)["chrf"].value == pytest.approx(np.mean(expected))


def test_variants_of_a_translator_add_their_cost() -> None:
    variants = [[Variant("a b", -3.0, 3), Variant("a", -4.0, 2)], [Variant("c", -1.0, 2)]]
    scores = diversity(variants)
    assert scores["cost"].value == pytest.approx(((1 + 2) / 2 + 0.5) / 2)
    assert scores.ibleu == diversity([["a b", "a"], ["c"]]).ibleu


def test_trees_add_kernel_differences() -> None:
    trees = [["(S (NP x))", "(S (NP x))", None], ["(S (NP x))", "(FRAG (NN x))"], [None], []]
    scores = diversity(VARIANTS, trees=trees, kernels=["sst", "bbh22"])
    assert scores["kernel_sst"].value == pytest.approx((0 + 100) / 2)
    assert "kind:sst|decay:1.0" in scores.signatures["kernel_bbh22"]


def test_formats() -> None:
    scores = diversity(VARIANTS)
    lines = scores.format().splitlines()
    assert str(scores) == scores.format()
    assert lines[0].startswith(f"ibleu: {scores.ibleu:.2f} ± ") and lines[0].endswith(
        "(0 to 100, higher is more diverse)"
    )
    words = {word for group in VARIANTS for text in group for word in text.split()}
    assert f"vocabulary: {len(words)} (distinct words)" in lines
    stored = json.loads(json.dumps(scores.to_dict(), allow_nan=False))
    assert stored["groups"] == 2 and stored["figures"]["ichrf"]["value"] == scores.ichrf
    assert stored["figures"]["ibleu"]["signature"].startswith("ibleu|case:lc")


@pytest.mark.parametrize("variants", [[], [[]], [["one"]]])
def test_without_pairs_diversity_is_undefined(variants: list[list[str]]) -> None:
    scores = diversity(variants)
    assert isinstance(scores, DiversityScores)
    assert math.isnan(scores.ibleu) and math.isnan(scores.ichrf)
    assert scores.counts["groups"] == 0
    assert scores.to_dict()["figures"]["ibleu"]["value"] is None


@pytest.mark.parametrize(
    ("variants", "message"),
    [
        ("a dog", "got str"),
        (["a dog", "a cat"], "got str at index 0"),
        ([["a dog"], None], "got NoneType at index 1"),
        ([Variant("a", -1.0, 1)], "got Variant at index 0"),
        ([["a dog", 5]], "group 0 of 'variants' must have texts, got int"),
        (None, "got NoneType"),
    ],
)
def test_anything_but_groups_of_texts_is_a_type_error(variants: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        diversity(variants)  # type: ignore[arg-type]


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(DataError, match="expected a reference for each of 4 groups, got 1"):
        diversity(VARIANTS, references=["x"])
    with pytest.raises(DataError, match="expected a tree, or None, for each variant"):
        diversity(VARIANTS, trees=[["(S x)"]])
    with pytest.raises(ConfigError, match="unknown tree kernel 'stt'"):
        diversity(VARIANTS, kernels=["stt"])


def test_ibleu_of_text_without_spaces_is_warned_of() -> None:
    """Clauses are words to it, so that any change is 100."""
    with pytest.warns(UserWarning, match="the variants have no spaces between words: i-BLEU takes whole clauses"):
        assert diversity([["我喜欢这本书。", "我很喜欢这本书。"]]).ibleu == 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        diversity([["그는 오늘 아침 일찍 일어났다.", "그는 오늘 아침에 일찍 일어났다."]])
