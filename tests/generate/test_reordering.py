"""Sentences in another order: the same words, glued ones together, the end in its place; what is left as it is."""

from __future__ import annotations

import re

import numpy as np
import pytest

from paraloom.generate.reordering import Leaf, locate_leaves, reordered

TEXT = "If you're late, don't run (please)!"
TREE = (
    "(S (SBAR (IN If) (S (NP (PRP you)) (VP (VBP 're) (ADJP (JJ late))))) (, ,) (VP (VB do) (RB n't) (VP (VB run) "
    "(-LRB- -LRB-) (INTJ (UH please)) (-RRB- -RRB-))) (. !))"
)


def words(text: str) -> list[str]:
    return sorted(re.findall(r"[\w']+", text.lower()))


def test_leaves_are_found_in_the_text() -> None:
    leaves = locate_leaves(TEXT, TREE)
    assert leaves is not None
    assert [TEXT[leaf.start : leaf.end] for leaf in leaves] == [
        "If", "you", "'re", "late", ",", "do", "n't", "run", "(", "please", ")", "!"
    ]  # fmt: skip
    assert leaves[0] == Leaf("IN", 0, 2)
    assert locate_leaves('"Go!"', "(S (`` ``) (VP (VB Go)) (. !) ('' ''))") is not None


@pytest.mark.parametrize("text", ["If you're late, run!", TEXT + " Now.", ""])
def test_a_tree_of_another_text(text: str) -> None:
    assert locate_leaves(text, TREE) is None
    assert reordered(text, TREE, np.random.default_rng(1)) is None


def test_words_are_the_same_in_another_order() -> None:
    made = [reordered(TEXT, TREE, np.random.default_rng(seed)) for seed in range(200)]
    different = [text for text in made if text is not None]
    assert 150 < len(different) < 200 and len(set(different)) > 50
    for text in different:
        assert words(text) == words(TEXT)
        assert "you're" in text.lower() and "don't" in text.lower(), "parts of a word stay together"
        assert (text.endswith("!") and text[0].isupper()) or text[0] == "("
    # Most keep constituents whole.
    assert sum("(please)" in text for text in different) > 100


def test_the_order_follows_from_the_random_numbers() -> None:
    one, same, other = (reordered(TEXT, TREE, np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert one == same != other


def test_names_keep_their_capitals() -> None:
    tree = "(S (NP (NNP Ann)) (VP (VBD left) (ADVP (RB early))) (. .))"
    made = {reordered("Ann left early.", tree, np.random.default_rng(seed)) for seed in range(30)}
    assert all(text is None or "Ann" in text for text in made)
    tree = tree.replace("NNP Ann", "PRP She")
    made = {reordered("She left early.", tree, np.random.default_rng(seed)) for seed in range(30)}
    assert "Early left she." in made or "Left early she." in made


def test_a_single_word_has_no_other_order() -> None:
    assert reordered("Go!", "(S (VP (VB Go)) (. !))", np.random.default_rng(1)) is None
