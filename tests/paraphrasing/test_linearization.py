"""Templates as text and tokens: values by hand, round trips, and what a wrong template's error says."""

from __future__ import annotations

import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.paraphrasing.linearization import (
    cut_tree,
    height_of,
    is_template,
    nodes_of,
    plain_text,
    read_template,
    special_tokens,
    template_of,
    template_tokens,
)

TREE = "(S (PP (IN In) (NP (NN spring))) (, ,) (NP (PRP it)) (VP (VBZ rains) (ADVP (RB often))) (. .))"


@pytest.mark.parametrize(
    ("height", "template"),
    [
        (1, "(S)"),
        (2, "(S (PP) (,) (NP) (VP) (.))"),
        (3, "(S (PP (IN) (NP)) (,) (NP (PRP)) (VP (VBZ) (ADVP)) (.))"),
        (4, "(S (PP (IN) (NP (NN))) (,) (NP (PRP)) (VP (VBZ) (ADVP (RB))) (.))"),
        (None, "(S (PP (IN) (NP (NN))) (,) (NP (PRP)) (VP (VBZ) (ADVP (RB))) (.))"),
    ],
)
def test_heights(height: int | None, template: str) -> None:
    assert cut_tree(TREE, height) == template
    assert cut_tree(f"(ROOT {TREE})", height) == template
    assert read_template(template) == template
    tokens = template_tokens(template)
    assert is_template(tokens) and template_of(tokens) == template
    assert len(tokens) == 2 * len(nodes_of(template))
    assert height_of(template) == (height or 4)


def test_root_above_two_sentences_stays() -> None:
    two = "(TOP (S (VP (VB Go))) (S (VP (VB Stop))))"
    assert cut_tree(two) == "(TOP (S) (S))"
    assert cut_tree("( (NP (NN snow)) )") == "(NP (NN))"


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("( ROOT ( S ( NP ) ( VP ) ( . ) ) ) EOP", "(S (NP) (VP) (.))"),
        ("(S(NP)(VP)(.))", "(S (NP) (VP) (.))"),
        (" (ROOT (NP (NP) (.)))\n", "(NP (NP) (.))"),
        ("(S (``) (S) ('') (PRP$))", "(S (``) (S) ('') (PRP$))"),
    ],
)
def test_reading(text: str, template: str) -> None:
    assert read_template(text) == template


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("S (NP)", "'S' at character 1 is not in a bracket"),
        ("(S (NP) (VP)", "the bracket at character 1 is not closed"),
        ("(S (NP (VP) (.)", "the bracket at character 4 is not closed"),
        ("(S (NP)) (VP)", r"'\(VP\)' at character 10 follows the end of the tree"),
        ("(S (NP)))", r"'\)' at character 9 follows the end"),
        (")", "the bracket at character 1 closes nothing"),
        ("(S ())", "the bracket at character 4 has no label"),
        ("(S (NP dog))", "'dog' at character 8 is a word, not a label"),
        ("(S (NX) (VP))", "unknown label 'NX' at character 5; did you mean 'NP'"),
        ("(S (np) (VP))", "unknown label 'np' at character 5; did you mean 'NP'"),
        ("(S (QQQQ))", r"unknown label 'QQQQ' at character 5.\nKnown labels: \. NP S VP"),
    ],
)
def test_a_wrong_template_says_where(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_template(text, ("S", "NP", "VP", "."))


def test_tokens_that_are_not_a_template() -> None:
    assert not is_template([])
    assert not is_template(["<(S>"])
    assert not is_template(["<)>", "<(S>"])
    assert not is_template(["<(S>", "<)>", "<(S>", "<)>"])
    with pytest.raises(DataError, match="not the tokens of one template"):
        template_of(["<(S>", "dog", "<)>"])


def test_vocabulary() -> None:
    tokens = special_tokens(["NP", "S", "NP", "."])
    assert tokens == ("<sep>", "<)>", "<(.>", "<(NP>", "<(S>")


def test_texts_cannot_contain_tokens() -> None:
    text = plain_text("x<sep>y<(NP>z<)> 1 < 2 <b>")
    assert text == "x< sep>y< (NP>z< )> 1 < 2 <b>"
    assert plain_text(text) == text


def test_heights_begin_at_one() -> None:
    with pytest.raises(ConfigError, match="height of a template must be 1 or more, got 0"):
        cut_tree(TREE, 0)
