"""Rewrites by rules: what the bundled ones write, and tables that are not valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraloom.core.errors import DataError
from paraloom.paraphrasing.edits import english_words
from paraloom.paraphrasing.rewrites import bundled_rules, read_rules, rewrites


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("I know that you are busy.", "I know you are busy."),
        ("Tom said he was tired.", "Tom said that he was tired."),
        ("We have to go now.", "We must go now."),
        ("Which country is he from?", "What country is he from?"),
        ("A man is standing on a hill.", "A man stands on a hill."),
        ("a black dog runs through the snow", "a black dog is running through the snow"),
        ("Two boys playing in the sand.", "Two boys are playing in the sand."),
        ("A girl in a red dress smiles.", "A girl wearing a red dress smiles."),
        ("If it rains, we will stay here.", "We will stay here if it rains."),
        ("We stayed at home because it was raining.", "Because it was raining, we stayed at home."),
        ("In 2005, Meissner landed the jump.", "Meissner landed the jump in 2005."),
        ("It is not cold.", "It isn't cold."),
        ("Verify that it is set.", "Check that it is set."),
    ],
)
def test_bundled_rules_write_another_wording(text: str, output: str) -> None:
    assert output in [one.text for one in rewrites(text)]


@pytest.mark.parametrize(
    "text",
    [
        "the largest city",
        "It has a bitter taste.",
        "That's what it is.",
        "He is taller than she is.",
        "For example, London, Paris and Rome",
        "",
    ],
)
def test_a_rule_does_not_end_inside_a_word_or_shorten_a_last_verb(text: str) -> None:
    allowed = {"the biggest city", "He's taller than she is.", "For instance, London, Paris and Rome"}
    assert {one.text for one in rewrites(text)} <= allowed


def test_every_rule_is_a_change_of_words() -> None:
    assert len(bundled_rules()) == len({rule.pattern.pattern for rule in bundled_rules()})
    for text in ("I have to go because the whole film is on each day.", "There is a lot of water next to a bike."):
        outputs = [one.text for one in rewrites(text)]
        assert len(outputs) == len(set(outputs)) > 2
        assert all(english_words(one) != english_words(text) or "'" in one for one in outputs)


def test_classes_of_words_groups_and_capitals(tmp_path: Path) -> None:
    table = tmp_path / "rules.tsv"
    table.write_text("# a comment\n{PET}\tdog|cat\nlittle ({PET})\tsmall \\1\n", "utf-8")
    (one,) = rewrites("Little cats and a little cat", read_rules(table))
    assert one.text == "Little cats and a small cat"
    (one,) = rewrites("Little dog", read_rules(table))
    assert one.text == "Small dog"


@pytest.mark.parametrize("row", ["no template", "(open\tx", "a\tb\tc"])
def test_a_row_that_is_no_rule_is_named(row: str, tmp_path: Path) -> None:
    table = tmp_path / "rules.tsv"
    table.write_text(f"a\tb\n{row}\n", "utf-8")
    with pytest.raises(DataError, match="row 2"):
        read_rules(table)
