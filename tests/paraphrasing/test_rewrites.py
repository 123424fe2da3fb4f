"""Rewrites by rules: what the bundled ones write, and tables that are not valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraloom.bundled import KINDS_OF_TEXT
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
        # parts that move
        ("I had a good dream last night.", "Last night, I had a good dream."),
        ("In 1986, it refined a lot of oil.", "It refined a lot of oil in 1986."),
        ("Tom looked both ways before crossing the road.", "Before crossing the road, Tom looked both ways."),
        ("When I left, he cried.", "He cried when I left."),
        ("Lock the door when you go out.", "When you go out, lock the door."),
        ("To open the file, click Open.", "Click Open to open the file."),
        ("Click Sound to open the panel.", "To open the panel, click Sound."),
        ("Researchers say the drug could help people.", "The drug could help people, researchers say."),
        ('"It is cold," Smith says.', '"It is cold," says Smith.'),
        ("It was raining, so we stayed home.", "Because it was raining, we stayed home."),
        ("Because he was tired, he went to bed.", "He was tired, so he went to bed."),
        ("I like oranges, but I like lemons more.", "Although I like oranges, I like lemons more."),
        ("Although he is rich, he is not happy.", "He is rich, but he is not happy."),
        # another construction
        ("The roof was damaged by the storm.", "The storm damaged the roof."),
        ("He was bitten by a dog.", "A dog bit him."),
        ("Tom was followed by two men.", "Two men followed Tom."),
        ("It is difficult to talk to him.", "Talking to him is difficult."),
        ("He was too tired to study.", "He was so tired that he couldn't study."),
        ("Tom sent a message to Mary.", "Tom sent Mary a message."),
        ("There were only six people at the meeting.", "Only six people were at the meeting."),
        ("which city was jake born in", "in which city was jake born"),
        ("This feature can be disabled in the menu.", "You can disable this feature in the menu."),
        ("Tom is a patient of mine.", "Tom is one of my patients."),
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


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("As soon as the bell rang, the class ended.", "The class ended as soon as the bell rang."),
        ("We'll stay here if it rains.", "If it rains, we'll stay here."),
        ("I know you are busy.", "I know that you are busy."),
        ("Some people think it is fun.", "Some people think it's fun."),
        ("The delay is due to the rain.", "The delay is because of the rain."),
        ("It took about ten miles.", "It took around ten miles."),
    ],
)
def test_what_was_repaired_still_writes(text: str, output: str) -> None:
    assert output in [one.text for one in rewrites(text)]


@pytest.mark.parametrize(
    ("text", "output"),
    [
        # a contraction where the clause ends or the verb is not the subject's
        ("All of you are welcome.", "All of you're welcome."),
        ("I like who I am today.", "I like who I'm today."),
        ("Do you know what time it is in London?", "Do you know what time it's in London?"),
        ("The work done in compressing it is lost.", "The work done in compressing it's lost."),
        # a negation that belongs to what follows, or is stressed
        ("The important thing is not to panic.", "The important thing isn't to panic."),
        ("You can not only save time.", "You can't only save time."),
        ("He is NOT ready.", "He isn't ready."),
        # a noun for a verb, a preposition for a conjunction, an object for a subject
        ("His need to win is strong.", "His have to win is strong."),
        ("The will not to fight is strong.", "The won't to fight is strong."),
        ("I know you well.", "I know that you well."),
        ("We often say the right things.", "We often say that the right things."),
        ("The board is due to approve it.", "The board is because of approve it."),
        ("They talked about tennis.", "They talked around tennis."),
        ("A man came for talks on peace.", "A man came for is talking on peace."),
        # an auxiliary before, or another beside
        ("Would you have to pay for it?", "Would you must pay for it?"),
        ("You may want to use it.", "You may would like to use it."),
        ("It has to do with rain.", "It must do with rain."),
        ("A man wearing jeans rides a horse.", "A man is wearing jeans rides a horse."),
        ("Two women holding signs stand near a bus.", "Two women are holding signs stand near a bus."),
        # a question of "which", a condition of "if"
        ("The method by which country music spread is old.", "The method by what country music spread is old."),
        ("You will see if you look.", "You will see whether you look."),
        # who acts, and what a part belongs to
        ("This feature can be disabled by the vendor.", "You can disable this feature by the vendor."),
        ("The house was built by the river.", "The river built the house."),
        ("He cried when the man left.", "When the man left, he cried."),
        ("Select the files you want to copy.", "To copy, select the files you want."),
        ("Please don't tell me to stop drinking.", "To stop drinking, please don't tell me."),
        ("Tom and Mary said they wanted to go.", "They wanted to go, Tom and Mary said."),
        ("Why don't we ask Tom?", "How come we don't ask Tom?"),
        ("I'm going to Japan in August.", "I will Japan in August."),
        ("It's very kind of you to come.", "It's very sort of you to come."),
        # articles, names, tags
        ("They wrote an entire book.", "They wrote an whole book."),
        ("It was an extremely cold night.", "It was an very cold night."),
        ("It is a whole day of work.", "It is a entire day of work."),
        ("We watched Wait Until Dark.", "We watched Wait Till Dark."),
        ("@everyone must read this.", "@everybody must read this."),
        # idioms, and words with another sense
        ("I am sick and tired of it.", "I am ill and tired of it."),
        ("He was beside himself.", "He was next to himself."),
        ("They get hotels for free.", "They become hotels for free."),
        ("He speaks, or will speak with an accent.", "He speaks, or will speak to an accent."),
        ("Several of these stories are new.", "A number of of these stories are new."),
        ("I met no more than 20 people.", "I met no over 20 people."),
        ("They sailed around the world.", "They sailed across the world."),
        # what is usual, in place of a scene
        ("The Wearer wears the hat.", "The Wearer is wearing the hat."),
        ("The town sits on a hill.", "The town is sitting on a hill."),
        # clauses that belong to a word within the other, and pronouns before their names
        ("On Monday, Tom said he would leave.", "Tom said he would leave on Monday."),
        ("I don't remember when the film began.", "When the film began, I don't remember."),
        ("When Tom arrived, he was tired.", "He was tired when Tom arrived."),
        ("The man acted as if the house was his.", "If the house was his, the man acted as."),
        ("My evidence is that it is denser because it sank.", "Because it sank, my evidence is that it is denser."),
        ("My evidence is it is denser because it sank.", "Because it sank, my evidence is it is denser."),
        ("A group of people are sitting at a table.", "A group of people are are sitting at a table."),
        ("He said it over and over again.", "He said it again and again again."),
        ("Who will tell you that you are right?", "Who will tell you you are right?"),
        # no doer, or more than the doer
        ("He was hit by a car and badly hurt.", "A car and badly hurt hit him."),
        ("Tom was bitten by a dog when he was thirteen.", "A dog when he was thirteen bit Tom."),
        ("He was scolded by his teacher for being lazy.", "His teacher for being lazy scolded him."),
        ("She was taken by the elbow.", "The elbow took her."),
        ("They were taken by his brother to the station.", "His brother to the station took them."),
        # names of buttons, kinds of bikes, and a capital where a word goes
        ('Press "Repair it" to begin.', 'Press "Fix it" to begin.'),
        ("He has a speed bike.", "He has a speed bicycle."),
        ("Please make sure that it works.", "make sure that it works."),
        ("The euro will only exist if the people believe.", "If the people believe, the euro will only exist."),
    ],
)
def test_a_wording_stays_where_another_would_be_wrong(text: str, output: str) -> None:
    assert output not in [one.text for one in rewrites(text)]


@pytest.mark.parametrize(
    "text", ["Till Lindemann sings.", "Everybody Loves Raymond", "SHE CANNOT COME.", "Maybe Someday is a song."]
)
def test_names_that_begin_a_text_and_capitals_stay(text: str) -> None:
    assert not rewrites(text)


def test_a_text_of_marks_takes_no_time() -> None:
    assert rewrites("who directed " + "!" * 100_000) == []


def test_every_rule_is_a_change_of_words() -> None:
    assert len(bundled_rules()) == len({rule.pattern.pattern for rule in bundled_rules()})
    for text in ("I have to go because the whole film is on each day.", "There is a lot of water next to a bike."):
        outputs = [one.text for one in rewrites(text)]
        assert len(outputs) == len(set(outputs)) > 2
        assert all(english_words(one) != english_words(text) or "'" in one for one in outputs)


def test_beginnings_exclude_only_rules_that_do_not_apply() -> None:
    lines = KINDS_OF_TEXT.read_text("utf-8").splitlines()[::3]
    texts = [field for line in lines for field in line.split("\t")]
    slowly = [rule._replace(beginnings=("",)) for rule in bundled_rules()]
    assert [rewrites(text) for text in texts] == [rewrites(text, slowly) for text in texts]


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
