"""Sentences in another order: the same words, parts of words together, the end in its place; what stays as it is."""

from __future__ import annotations

import re

import numpy as np
import pytest

from paraloom.paraphrasing.reordering import Leaf, completed, locate_leaves, moved, reordered

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


def test_one_constituent_has_another_place() -> None:
    assert moved(TEXT, TREE) == ["Don't run (please) if you're late!"]


@pytest.mark.parametrize(
    ("text", "tree", "expected"),
    [
        (
            "I fell because of you; he laughed.",
            "(S (NP (PRP I)) (VP (VBD fell) (PP (IN because) (IN of) (NP (PRP you)))) (: ;) (S (NP (PRP he)) "
            "(VP (VBD laughed))) (. .))",
            [],
        ),
        (
            "I fell because of you; he laughed.",
            "(S (NP (PRP I)) (VP (VBD fell) (PP (IN because) (IN of) (NP (PRP you))) (, ;) (S (NP (PRP he)) "
            "(VP (VBD laughed)))) (. .))",
            [],
        ),
        (
            "In March he went with Mary (in May).",
            "(S (PP (IN In) (NP (NNP March))) (NP (PRP he)) (VP (VBD went) (PP (IN with) (NP (NNP Mary))) "
            "(PP (-LRB- -LRB-) (IN in) (NP (NNP May)) (-RRB- -RRB-))) (. .))",
            ["He went with Mary (in May) in March."],
        ),
        (
            '"I left at noon," he said.',
            "(S (S (`` ``) (NP (PRP I)) (VP (VBD left) (PP (IN at) (NP (NN noon)))) (, ,) ('' '')) (NP (PRP he)) "
            "(VP (VBD said)) (. .))",
            [],
        ),
        (
            '"He quickly left."',
            "(S (`` ``) (NP (PRP He)) (ADVP (RB quickly)) (VP (VBD left)) (. .) ('' ''))",
            [],
        ),
        (
            "He said “at noon” then.",
            "(S (NP (PRP He)) (VP (VBD said) (PP (NNP “) (IN at) (NP (NN noon)) (NNP ”)) (ADVP (RB then))) (. .))",
            [],
        ),
        ("Yes, I do.", "(S (INTJ (UH Yes)) (, ,) (NP (PRP I)) (VP (VBP do)) (. .))", []),
        (
            "Please call me if you can.",
            "(S (INTJ (UH Please)) (VP (VB call) (NP (PRP me)) (SBAR (IN if) (S (NP (PRP you)) (VP (MD can))))) (. .))",
            ["If you can, please call me."],
        ),
    ],
)
def test_what_would_be_no_sentence_stays(text: str, tree: str, expected: list[str]) -> None:
    assert moved(text, tree) == expected


@pytest.mark.parametrize(
    ("text", "tree", "expected"),
    [
        ("He sat in May.", "(S (NP (PRP He)) (VP (VBD sat) (PP (IN in) (NP (NNP May)))) (. .))", ["In May, he sat."]),
        ("He looked in May.", "(S (NP (PRP He)) (VP (VBD looked) (PP (IN in) (NP (NNP May)))) (. .))", []),
        ("He sat with Ann.", "(S (NP (PRP He)) (VP (VBD sat) (PP (IN with) (NP (NNP Ann)))) (. .))", []),
        (
            "He only sat in May.",
            "(S (NP (PRP He)) (ADVP (RB only)) (VP (VBD sat) (PP (IN in) (NP (NNP May)))) (. .))",
            [],
        ),
        ("He sat near her.", "(S (NP (PRP He)) (VP (VBD sat) (PP (IN near) (NP (PRP her)))) (. .))", []),
        ("Sit in May.", "(S (VP (VB Sit) (PP (IN in) (NP (NNP May)))) (. .))", []),
        ("He sat on a bench.", "(S (NP (PRP He)) (VP (VBD sat) (PP (IN on) (NP (DT a) (NN bench)))) (. .))", []),
        (
            "Data is stored in a file.",
            "(S (NP (NNS Data)) (VP (VBZ is) (VP (VBN stored) (PP (IN in) (NP (DT a) (NN file))))) (. .))",
            [],
        ),
        (
            "He dug holes in a field.",
            "(S (NP (PRP He)) (VP (VBD dug) (NP (NNS holes)) (PP (IN in) (NP (DT a) (NN field)))) (. .))",
            ["In a field, he dug holes."],
        ),
        (
            "He dug holes in a field.",  # whose holes are in a field
            "(S (NP (PRP He)) (VP (VBD dug) (NP (NP (NNS holes)) (PP (IN in) (NP (DT a) (NN field))))) (. .))",
            [],
        ),
        (
            "He rested his chin on a stone.",
            "(S (NP (PRP He)) (VP (VBD rested) (NP (PRP$ his) (NN chin)) (PP (IN on) (NP (DT a) (NN stone)))) (. .))",
            [],
        ),
        (
            "He wore a hat with trees in the back.",
            "(S (NP (PRP He)) (VP (VBD wore) (NP (DT a) (NN hat)) (PP (IN with) (NP (NNS trees))) (PP (IN in) "
            "(NP (DT the) (NN back)))) (. .))",
            [],
        ),
        (
            "He ran in a field in May.",
            "(S (NP (PRP He)) (VP (VBD ran) (PP (IN in) (NP (DT a) (NN field))) (PP (IN in) (NP (NNP May)))) (. .))",
            ["In May, he ran in a field."],
        ),
        (
            "Work falls on Sunday.",
            "(S (NP (NN Work)) (VP (VBZ falls) (PP (IN on) (NP (NNP Sunday)))) (. .))",
            [],
        ),
        (
            "If set, it works.",
            "(S (SBAR (IN If) (S (VP (VBN set)))) (, ,) (NP (PRP it)) (VP (VBZ works)) (. .))",
            [],
        ),
        (
            "If Tom likes it, let him go.",
            "(S (SBAR (IN If) (S (NP (NNP Tom)) (VP (VBZ likes) (NP (PRP it))))) (, ,) (VP (VB let) (S (NP (PRP him)) "
            "(VP (VB go)))) (. .))",
            [],
        ),
        (
            "If it's dear, it is not.",
            "(S (SBAR (IN If) (S (NP (PRP it)) (VP (VBZ 's) (ADJP (JJ dear))))) (, ,) (NP (PRP it)) (VP (VBZ is) "
            "(RB not)) (. .))",
            [],
        ),
        (
            "In May we sold a file named it.",
            "(S (PP (IN In) (NP (NNP May))) (NP (PRP we)) (VP (VBD sold) (NP (NP (DT a) (NN file)) (VP (VBN named) "
            "(NP (PRP it))))) (. .))",
            [],
        ),
        (
            "I see that he sat when it rained.",
            "(S (NP (PRP I)) (VP (VBP see) (SBAR (IN that) (S (NP (PRP he)) (VP (VBD sat)))) (SBAR (WRB when) "
            "(S (NP (PRP it)) (VP (VBD rained))))) (. .))",
            [],
        ),
        (
            "Since May, phpMyAdmin works.",
            "(S (PP (IN Since) (NP (NNP May))) (, ,) (NP (NN phpMyAdmin)) (VP (VBZ works)) (. .))",
            ["phpMyAdmin works since May."],
        ),
        (
            "In fact, he sat.",
            "(S (PP (IN In) (NP (NN fact))) (, ,) (NP (PRP he)) (VP (VBD sat)) (. .))",
            [],
        ),
        (  # An abbreviation shares its full stop.
            "The train leaves at 5 p.m.",
            "(S (NP (DT The) (NN train)) (VP (VBZ leaves) (PP (IN at) (NP (CD 5) (NN p.m.)))))",
            [],
        ),
        (
            "The train leaves for Bern at 5 p.m.",
            "(S (NP (DT The) (NN train)) (VP (VBZ leaves) (PP (IN for) (NP (NNP Bern)))"
            " (PP (IN at) (NP (CD 5) (NN p.m)))) (. .))",
            [],
        ),
        (  # "Said hello on Monday John."
            "On Monday John said hello.",
            "(S (PP (IN On) (NP (NNP Monday) (NNP John))) (VP (VBD said) (NP (UH hello))) (. .))",
            [],
        ),
        (  # Two sentences that a parser takes for one.
            "In March, the bill passed. The president signed it on Monday.",
            "(S (PP (IN In) (NP (NNP March))) (, ,) (NP (DT the) (NN bill)) (VP (VBN passed.) (NP (NP (DT The)"
            " (NN president)) (VP (VBD signed) (NP (PRP it)) (PP (IN on) (NP (NNP Monday)))))) (. .))",
            [],
        ),
        (  # "In June, australian farms close."
            "Australian farms close in June.",
            "(S (NP (JJ Australian) (NNS farms)) (VP (VBP close) (PP (IN in) (NP (NNP June)))) (. .))",
            [],
        ),
        (
            "Small farms close in June.",
            "(S (NP (JJ Small) (NNS farms)) (VP (VBP close) (PP (IN in) (NP (NNP June)))) (. .))",
            ["In June, small farms close."],
        ),
    ],
)
def test_adjuncts_move_and_complements_stay(text: str, tree: str, expected: list[str]) -> None:
    assert moved(text, tree) == expected


@pytest.mark.parametrize(
    ("text", "tree", "expected"),
    [
        ("A dog in May running.", "(S (NP (NP (DT A) (NN dog)) (PP (IN in) (NP (NN May)))) (VP (VBG running)) (. .))",
         "A dog in May is running."),
        ("Dogs running", "(S (NP (NNS Dogs)) (VP (VBG running)))", "Dogs are running."),
        ("Dog running", "(S (NP (NN Dog)) (VP (VBG running)))", ""),
        ("A key for opening.", "(NP (NP (DT A) (NN key)) (PP (IN for) (S (VP (VBG opening)))) (. .))", ""),
        (
            "A dog on a rope climbing wall.",
            "(NP (NP (DT A) (NN dog)) (PP (IN on) (NP (DT a) (NN rope) (VBG climbing) (NN wall))) (. .))",
            "",
        ),
        ("Dogs are running.", "(S (NP (NNS Dogs)) (VP (VBP are) (VP (VBG running))) (. .))", ""),
    ],
)  # fmt: skip
def test_a_caption_is_made_a_sentence(text: str, tree: str, expected: str) -> None:
    assert completed(text, tree) == expected


@pytest.mark.parametrize("text", ["If you're late, run!", TEXT + " Now.", ""])
def test_a_tree_of_another_text(text: str) -> None:
    assert locate_leaves(text, TREE) is None
    assert moved(text, TREE) == []
    assert reordered(text, TREE, np.random.default_rng(1)) is None


def test_words_are_the_same_in_another_order() -> None:
    written = [reordered(TEXT, TREE, np.random.default_rng(seed)) for seed in range(200)]
    different = [text for text in written if text is not None]
    assert 30 < len(different) < 200 and len(set(different)) > 2
    for text in different:
        assert words(text) == words(TEXT)
        assert "you're" in text.lower() and "don't" in text.lower(), "parts of a word stay together"
        assert text.endswith("!") and text[0].isupper()
        assert "," not in text, "commas of the clause are left out"
    assert any(text.startswith("Don't run") for text in different)


def test_who_does_what_stays() -> None:
    text = "In the morning, the old man quickly gave the dog a bone at home."
    tree = (
        "(S (PP (IN In) (NP (DT the) (NN morning))) (, ,) (NP (DT the) (JJ old) (NN man)) (ADVP (RB quickly)) "
        "(VP (VBD gave) (NP (DT the) (NN dog)) (NP (DT a) (NN bone)) (PP (IN at) (NP (NN home)))) (. .))"
    )
    written = {reordered(text, tree, np.random.default_rng(seed)) for seed in range(100)} - {None}
    assert len(written) > 10
    for one in written:
        places = [str(one).lower().index(part) for part in ("the old man", "gave", "the dog", "a bone")]
        assert places == sorted(places)
        assert "in the morning" in str(one).lower() and "at home" in str(one).lower(), "phrases stay whole"
    assert any(str(one).endswith("in the morning.") for one in written)


def test_coordinations_and_infinitives_stay() -> None:
    for text, tree in [
        (
            "He came and left early.",
            "(S (NP (PRP He)) (VP (VP (VBD came)) (CC and) (VP (VBD left) (ADVP (RB early)))) (. .))",
        ),
        (
            "It rains and we sleep.",
            "(S (S (NP (PRP It)) (VP (VBZ rains))) (CC and) (S (NP (PRP we)) (VP (VBP sleep))) (. .))",
        ),
        ("To go home.", "(S (VP (TO To) (VP (VB go) (ADVP (RB home)))) (. .))"),
    ]:
        assert {reordered(text, tree, np.random.default_rng(seed)) for seed in range(20)} == {None}


def test_the_order_follows_from_the_random_numbers() -> None:
    one, same = ([reordered(TEXT, TREE, np.random.default_rng(seed)) for seed in range(50)] for _ in range(2))
    assert one == same and len(set(one)) > 1


def test_names_keep_their_capitals() -> None:
    tree = "(S (NP (NNP Ann)) (VP (VBD left) (ADVP (RB early))) (. .))"
    written = {reordered("Ann left early.", tree, np.random.default_rng(seed)) for seed in range(30)}
    assert all(text is None or "Ann" in text for text in written)
    tree = tree.replace("NNP Ann", "PRP She")
    written = {reordered("She left early.", tree, np.random.default_rng(seed)) for seed in range(100)}
    assert "Early she left." in written and written <= {None, "Early she left.", "She early left."}


def test_a_single_word_has_no_other_order() -> None:
    assert reordered("Go!", "(S (VP (VB Go)) (. !))", np.random.default_rng(1)) is None
