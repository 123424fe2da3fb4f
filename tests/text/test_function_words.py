"""Languages by function words: whole samples, short ones, mixed ones, and scripts."""

from __future__ import annotations

import pytest

from paraloom.text.function_words import (
    FUNCTION_WORDS,
    known_function_words,
    likeness,
    sample_language,
    suspected_language,
)

TEXTS = {
    "cs": "Nevím, jestli to bude fungovat, ale můžete to zkusit, když mám čas. Byl jsem tam včera se svým bratrem.",
    "de": "Ich habe ihn seit gestern nicht gesehen, aber er kommt bestimmt, wenn das Essen auf dem Tisch steht.",
    "en": "I have not seen him since yesterday, but he will come when there is food on the table.",
    "es": "No lo he visto desde ayer, pero vendrá cuando haya comida en la mesa. Ella se quedó en casa con su hermano.",
    "fi": "En ole nähnyt häntä, mutta hän tulee kyllä kun ruoka on pöydässä. Se on niin, että he eivät ole täällä.",
    "fr": "Je ne l'ai pas vu depuis hier, mais il viendra quand le repas sera sur la table, avec son frère et sa sœur.",
    "is": "Ég hef ekki séð hann síðan í gær, en hann kemur þegar maturinn er kominn á borðið. Hún var með honum.",
    "it": "Non l'ho visto da ieri, ma verrà quando il pranzo sarà in tavola. Lei è rimasta a casa con suo fratello.",
    "ko": "어제부터 그를 보지 못했지만 음식이 식탁에 오르면 그는 올 것이다.",
    "nl": "Ik heb hem sinds gisteren niet gezien, maar hij komt wel als het eten op tafel staat. Zij bleef thuis.",
    "pl": "Nie widziałem go od wczoraj, ale przyjdzie, gdy jedzenie będzie na stole. Ona była w domu i nie ma czasu.",
    "pt": "Não o vejo desde ontem, mas ele vem quando a comida está na mesa. Ela ficou em casa com o seu irmão.",
    "ru": "Я не видел его со вчерашнего дня, но он придёт, когда еда будет на столе.",
    "sv": "Jag har inte sett honom sedan i går, men han kommer när maten står på bordet. Hon var hemma med sin bror.",
    "tr": "Onu dünden beri görmedim ama yemek hazır olduğunda gelir. Bu çok güzel bir gün ve ben de seninle geleceğim.",
    "zh": "我从昨天起就没有见过他，但是饭菜上桌的时候他会来的。",
}


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_two_sentences_are_enough_in_most_languages(language: str) -> None:
    assert sample_language([TEXTS[language]] * 3) == language
    assert language in known_function_words()


def test_an_answer_needs_words_of_one_language() -> None:
    assert sample_language([]) is None
    assert sample_language(["OK", "Version 2.0", "rako gor mili nin dasat"] * 50) is None
    assert sample_language([TEXTS["de"], "Tom", "42"]) is None  # eight function words
    assert sample_language([TEXTS["de"], TEXTS["en"]] * 20) is None
    assert sample_language(["Tom kam. Tom ging."] * 50) is None  # "tom" is a Czech word
    danish = "Jeg har ikke set ham siden i går, men han kommer nok, når der er mad på bordet."
    assert sample_language([danish] * 9) is None  # it might be Norwegian
    assert sample_language([TEXTS["de"]] * 19 + [TEXTS["en"]]) == "de"


def test_words_of_several_languages_count_less() -> None:
    of_die, of_in = (sum(word in words.split() for words in FUNCTION_WORDS.values()) for word in ("die", "in"))
    assert of_in > of_die >= 1
    assert likeness("Die in", "de") == pytest.approx((1 / of_die + 1 / of_in) / 2)
    assert likeness("어제", "ko") == 1.0 and likeness("abc", "ko") == 0.0 and likeness("", "de") == 0.0


def test_lists_have_words_of_their_own() -> None:
    for language, words in FUNCTION_WORDS.items():
        others = set().union(*(set(other.split()) for name, other in FUNCTION_WORDS.items() if name != language))
        assert len(set(words.split()) - others) >= 10, language


@pytest.mark.parametrize(
    ("text", "suspected"),
    [
        ("Wir gehen heute nach Hause.", "de"),
        ("Je ne sais pas.", "fr"),
        ("Wir gehen nach Hause, and they stay.", None),  # a function word of English
        ("Hause Hause", None),
        ("Nach nach nach", None),  # one word alone may be a name
        ("", None),
    ],
)
def test_a_few_words_make_a_language_suspected(text: str, suspected: str | None) -> None:
    assert suspected_language([text], "en") == suspected
    assert suspected_language([text], "xx") is None
