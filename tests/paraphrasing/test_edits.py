"""Changes of English texts that are seldom right, and the words that changed."""

from __future__ import annotations

import pytest

from paraloom.paraphrasing.edits import (
    FORMS,
    MARKS,
    REPEATED,
    UNKNOWN,
    Edit,
    english_fault,
    english_words,
    kinds_of_change,
)


@pytest.mark.parametrize(
    ("source", "candidate", "fault"),
    [
        ("There is a gap at terminal 1", "There is a gap at terminal 1 1", REPEATED),
        ("the place where it changes", "the place, the place where it changes", REPEATED),
        ("He had had enough.", "He had had it.", ""),
        ("It was 72 years ago.", "It was 27 years ago.", MARKS),
        ("missing for 10 months", "missing for ten months", ""),
        ("missing for ten months", "missing for 10 months", ""),
        ("What is volume 7 in?", "What is volume7 in?", MARKS),
        ('Next to a "welcome" stone.', 'Beside a "welcome stone.', MARKS),
        ('"I do not think so here."', 'Here, "I do not think so."', MARKS),
        ("“It is,” he says.", '"It is," he says.', ""),
        ("The crystals are like the alum crystals.", "The crystals are like the alum crystal.", FORMS),
        ("near boxes", "near box", FORMS),
        ("what is the cause of death?", "how is the cause of death?", FORMS),
        ("whats the cause of death?", "What's the cause of death?", ""),
        ("Australia's biggest producer", "Australia is biggest producer", FORMS),
        ("Four boys jump into a swimming pool.", "Four boys jump into a swim pool.", FORMS),
        ("Woman looking at dresses", "Woman look at dresses", FORMS),
        ("who recorded the song", "who recording the song", FORMS),
        ("had you not seen it", "have you not seen it", FORMS),
        ("which languages are spoken", "which languages is spoken", FORMS),
        ("A dog is running.", "A dog runs.", ""),
        ("He gets home at six.", "He gets home in six.", FORMS),
        ("alive or dead?", "alive and dead?", FORMS),
        ("a clock on the street", "the clock on the street", FORMS),
        ("a clock on the street", "there is a clock on the street", ""),
        ("Look that word up.", "Look this word up.", FORMS),
        ("a man holds a dog", "a person holds a dog", FORMS),
        ("How much does it cost?", "How a lot does it cost?", FORMS),
        ("In time, output is read.", "output is read in time.", FORMS),
        ("We need to go.", "We must go.", ""),
        ("near the house", "close to the house", ""),
        ("a large dog", "a big dog", ""),
        ("It works, Ann Miyoshi says.", "It works, Ann Miyorow says.", MARKS),
        ("a christmas carol", "a Christmas carol", ""),
        ("Why I Left A Big City", "Why I Left A Large City", ""),
        ("the singer bob", "the singing bob", FORMS),
        ("We have no clue where he is.", "We have no clue where he's.", FORMS),
        ("Say how tall you are and where.", "Say how tall you're and where.", FORMS),
        ("Take a running start.", "Take a running begin.", FORMS),
        ('Press "Start" now.', 'Press "Begin" now.', MARKS),
        ('"It is cold," Smith says, "and wet."', '"It\'s cold," says Smith, "and wet."', ""),
        ('"We begin," he said.', '"We start," he said.', ""),
        ("The conductor will make it go.", "The conductor'll make it go.", FORMS),
        ("That will happen.", "That'll happen.", ""),
        ("Its mission is set.", "It's mission is set.", FORMS),
        ("two dogs run", "three dogs run", MARKS),
        ("1.9 million boxes", "1,9 million boxes", MARKS),
        ("Man stands outside", "Men stands outside", FORMS),
        ("it's a film", "It is a movie", ""),
        ("They can't go and won't say.", "They cannot go and will not say.", ""),
        ("Which do you like?", "Which are you like?", FORMS),
        ("Where is the closest stop?", "Where does the closest stop?", FORMS),
        ("What is the meaning of it?", "What does it mean?", ""),
        ("I'll do anything he asks.", "I'll do something he asks.", FORMS),
        ("I'll do anything he asks.", "I will do anything he asks.", ""),
        ("A boy jumps.", "A child jumps.", ""),
        ("He got his start there.", "He got his begin there.", FORMS),
        ("See V5.3 for this.", "See V5 .3 for this.", MARKS),
        ("Wait.Then turn left.", "Wait. Then turn left.", ""),
        ("men/women who work here", "men and women who work here", ""),
        ("A child jumps.", "A kid jumps.", ""),
        ("It is the largest city.", "It is the largest town.", FORMS),
        ("Close the door.", "Shut the door.", ""),
        ("A child holds his hand.", "A child holds their hand.", FORMS),
        ("They drank wine.", "They drink wine.", FORMS),
        ("Did he see you?", "Has he seen you?", ""),
        ("The body still lies here.", "The body still lie here.", FORMS),
        ("He came by plane, not in a bus.", "He came by a airplane, not in a bus.", FORMS),
        ("an airplane in the sky", "an plane in the sky", FORMS),
        ("It has been fun.", "It's been fun.", ""),
        ("It has a loop.", "It is a loop.", FORMS),
        ("Do you go often?", "Are you going often?", FORMS),
        ("Two dogs swimming", "Two dogs can swim", FORMS),
        ("We have to go.", "We must go.", ""),
        ("We ought to be ready.", "We should be ready.", ""),
        ("I'd like to know why.", "I would like to know why.", ""),
        ("A tent is set up on the ice.", "A tent is set on the ice.", FORMS),
        ("in closed paths.", "in closed paths,", MARKS),
        ("It is useful for an hour.", "For an hour, it is a useful one.", ""),
    ],
)
def test_faults(source: str, candidate: str, fault: str) -> None:
    assert english_fault(source, candidate) == fault


@pytest.mark.parametrize(
    ("candidate", "fault"),
    [("She is beautifulr.", UNKNOWN), ("She is lovely.", ""), ("She is xyz.", ""), ("She is handsomer.", "")],
)
def test_a_new_word_is_in_the_list_if_there_is_one(candidate: str, fault: str) -> None:
    assert english_fault("She is handsomer.", candidate, {"lovely"}) == fault
    assert not english_fault("She is handsomer.", candidate)


@pytest.mark.parametrize(
    ("source", "candidate", "edit"),
    [
        ("They're small.", "they are small", Edit("", "", False, False)),
        ("Two small dogs run.", "Two little dogs run", Edit("small", "little", True, True)),
        ("If it rains, we leave.", "We leave if it rains.", Edit("", "", False, True)),
        ("It can rain.", "It may rain.", Edit("", "", True, True)),
        ("We need to go now.", "We must go.", Edit("need now", "", True, True)),
    ],
)
def test_words_that_changed(source: str, candidate: str, edit: Edit) -> None:
    assert Edit.between(english_words(source), english_words(candidate)) == edit


@pytest.mark.parametrize(
    ("source", "candidate", "kinds"),
    [
        ("When it rained, we left early.", "We went early when it rained.", ["word", "order"]),
        ("It's late.", "It is late.", ["contraction"]),
        ("The boys don’t run.", "The boys do not run!", ["contraction"]),
        ("It is late.", "it is late!", []),
        ("It is late.", "It is very late.", []),
        ("I gave her a book.", "I gave a book to her.", ["order"]),
        ("What is the use?", "What use is it?", []),
        ("A man is in the house.", "There is a man in the house.", []),
        ("I think that he left.", "I think he left.", []),
        ("They were playing.", "They played.", []),
        ("They prefer to work at home.", "They like working at home.", ["word"]),
        ("The film was good.", "The movie was good.", ["word"]),
        ("A dog sleeps.", "The dog sleeps.", []),
    ],
)  # fmt: skip
def test_kinds_of_change(source: str, candidate: str, kinds: list[str]) -> None:
    assert kinds_of_change(source, candidate) == kinds
