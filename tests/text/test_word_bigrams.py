"""Bigrams of words: ids and spellings against the tokens of a plain loop."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from paraloom.embed.vocabulary import UNITS, VocabularyCounter
from paraloom.text.ngrams import spell_word_bigrams, word_bigrams
from paraloom.text.tokens import token_hash, token_strings

TEXTS = ["A dog, a dog!", "", "one", "Größe  zählt\tnicht", "don't — stop", "日本語 です。", "x" * 300 + " y"]


def expected(text: str) -> list[str]:
    tokens = token_strings([text]).to_pylist()[0]
    return [f"{first} {second}" for first, second in pairwise(tokens)]


@pytest.mark.parametrize("text", TEXTS)
def test_bigrams_are_consecutive_tokens(text):
    bigrams = expected(text)
    assert word_bigrams([text])[0].tolist() == [token_hash(bigram) for bigram in bigrams]
    assert [spell_word_bigrams([text], np.array([k]))[0] for k in range(len(bigrams))] == bigrams


def test_lists_of_several_texts_do_not_mix():
    assert word_bigrams(TEXTS).lengths.tolist() == [len(expected(text)) for text in TEXTS]


def test_a_vocabulary_of_bigrams_is_counted_and_looked_up():
    texts = ["a dog runs", "a dog sleeps", "the dog runs"]
    counter = VocabularyCounter("bigram")
    counter.count(texts, UNITS["bigram"].split(texts))
    vocabulary = counter.most_common(2).vocabulary
    assert vocabulary.entries == ("a dog", "dog runs")
    assert vocabulary.row_lists(texts).rows.tolist() == [0, 1, 0, 1]
