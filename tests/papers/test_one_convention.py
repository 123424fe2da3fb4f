"""References and translations are written by one convention."""

from __future__ import annotations

import pytest

from paraloom.papers.one_convention import one_convention
from paraloom.text.tokens import words


@pytest.mark.parametrize(
    ("tokenized", "plain"),
    [
        ("georgia ’ s war – “ a disaster ”", 'Georgia\'s war - "a disaster"'),
        ("we do n't know what they 're doing", "We don't know what they're doing"),
        ("the dogs ' owners , and « i ' m » …", "The dogs' owners, and \"I'm\" ..."),
    ],
)
def test_tokenized_and_plain_text_have_the_same_words(tokenized: str, plain: str) -> None:
    one, other = one_convention([tokenized, plain]).to_pylist()
    assert words(one) == words(other)


def test_plain_text_is_left_alone() -> None:
    texts = ["Tom's dog doesn't bark at 5 o'clock - he's \"tired\".", "rock 'n' roll", "", "Straße, naïve"]
    assert one_convention(texts).to_pylist() == texts
