"""Noise in sentences: what each kind does alone, what is never changed, and abbreviations written in full again."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from rapidfuzz.distance import OSA

from paraloom.core.errors import ConfigError
from paraloom.paraphrasing.noise import (
    ABBREVIATIONS,
    NoiseConfig,
    add_noise,
    expand_abbreviations,
    is_edited,
    noisy_pair,
)

NOTHING = dict.fromkeys(vars(NoiseConfig()), 0.0)
TEXT = (
    "Don't write to Bob@x.org at 10:30, please. You are going to see https://a.org/B?c=1 and @Ann_K with #Tag and <b>!"
)
HELD = ("Bob@x.org", "10:30", "https://a.org/B?c=1", "@Ann_K", "#Tag", "<b>")


def noise(text: str, seed: int = 1, **shares: Any) -> str:
    return add_noise(text, NoiseConfig(**(NOTHING | shares)), np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({}, "It's late, you are tired. Why?"),
        ({"lower_share": 1}, "it's late, you are tired. why?"),
        ({"upper_share": 1}, "IT'S LATE, YOU ARE TIRED. WHY?"),
        ({"first_share": 1}, "it's late, you are tired. Why?"),
        ({"end_share": 1}, "It's late, you are tired. Why"),
        ({"pause_share": 1}, "It's late you are tired Why?"),
        ({"apostrophe_share": 1}, "Its late, you are tired. Why?"),
        ({"clean_share": 1, "lower_share": 1, "end_share": 1}, "It's late, you are tired. Why?"),
    ],
)
def test_one_kind_alone(shares: dict[str, float], expected: str) -> None:
    assert noise("It's late, you are tired. Why?", **shares) == expected


def test_abbreviations_of_every_phrase() -> None:
    for full, short in ABBREVIATIONS.items():
        written = {noise(f"({full})", seed, abbreviation_rate=1) for seed in range(20)}
        assert written == {f"({one})" for one in short}
    assert noise("Thank you.", abbreviation_rate=1) == "Ty."
    assert (
        noise("We are going to the church, going to sing.", abbreviation_rate=1)
        == "We r going to the church, gonna sing."
    )
    assert noise("I don’t know.", abbreviation_rate=1) == "Idk."


def test_typing_errors_are_one_edit() -> None:
    for seed in range(200):
        written = noise("wonderful", seed, typo_rate=1)
        assert OSA.distance("wonderful", written) <= 1 and len(written) in (8, 9, 10)
    assert noise("to be", 1, typo_rate=1) == "to be"  # words of one or two letters are not hit
    kinds = {len(noise("wonderful", seed, typo_rate=1)) for seed in range(50)}
    assert kinds == {8, 9, 10}


def test_stretched_words() -> None:
    for seed in range(20):
        assert re.fullmatch("so{3,5}", noise("so", seed, stretch_rate=1))
        assert re.fullmatch(r"Stop!{2,4}", noise("Stop!", seed, emphasis_share=1))


@pytest.mark.parametrize("seed", range(40))
def test_what_is_never_changed(seed: int) -> None:
    everything = NoiseConfig(
        clean_share=0, lower_share=0.4, upper_share=0.3, first_share=0.3, end_share=1, pause_share=1,
        apostrophe_share=1, abbreviation_rate=1, typo_rate=1, stretch_rate=1, placeholder_share=0,
    )  # fmt: skip
    written = add_noise(TEXT, everything, np.random.default_rng(seed))
    assert written != TEXT and all(part in written for part in HELD)
    assert sorted(re.findall(r"\d+", written)) == ["1", "10", "30"]
    assert written == add_noise(TEXT, everything, np.random.default_rng(seed))


def test_a_pair_has_the_same_placeholders_on_both_sides() -> None:
    config = NoiseConfig(**(NOTHING | {"placeholder_share": 1, "lower_share": 1, "typo_rate": 1}))
    for seed in range(20):
        source, target = noisy_pair("He paid $5 to @ann for 3 apples.", config, np.random.default_rng(seed))
        assert target == "He paid A1 to A2 for A3 apples."
        assert re.findall(r"A\d", source) == ["A1", "A2", "A3"] and source != target
    config = NoiseConfig(**(NOTHING | {"lower_share": 1}))
    assert noisy_pair("Go to 5.", config, np.random.default_rng(1)) == ("go to 5.", "Go to 5.")


def test_abbreviations_in_full() -> None:
    assert expand_abbreviations("Thx 4 ur msg, idk y u r late @u #r") == (
        "Thanks 4 your message, I don't know why you are late @u #r"
    )
    assert expand_abbreviations("THX, its were") == "THANKS, its were"  # "its" and "were" may be right


def test_edited_text() -> None:
    assert is_edited("“We left,” he said.") and is_edited("Is 5 enough?") and is_edited("Go home!")
    for text in ("", "5!", "we left.", "We left", "Man Bites Dog In New York.", "OH NO!", "...", "5 of us left"):
        assert not is_edited(text)


def test_settings() -> None:
    with pytest.raises(ConfigError, match="'typo_rate' must be from 0 to 1"):
        NoiseConfig(typo_rate=1.5)
    with pytest.raises(ConfigError, match=r"must not add up to more than 1, got 1\.4"):
        NoiseConfig(lower_share=0.7, first_share=0.7, upper_share=0.0)
