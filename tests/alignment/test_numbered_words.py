"""Words by number: what is observed, what is expected, and how several sources of evidence are joined."""

from __future__ import annotations

from collections import Counter

import numpy as np

from paraloom.alignment.evidence_kernels import tabulate_expected
from paraloom.alignment.numbered_words import (
    ExpectedWords,
    NumberedWords,
    expected_copies,
    number_expected,
    number_observed,
)
from paraloom.text.tokens import tokenize


def random_source(rng: np.random.Generator, predictors: int, words: int) -> NumberedWords:
    """Up to eight words of each predictor, some of them twice."""
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 9, predictors))]).astype(np.int64)
    return NumberedWords(
        rng.integers(0, words, offsets[-1]).astype(np.int32),
        rng.uniform(0.1, 1, offsets[-1]).astype(np.float32),
        offsets,
        rng.uniform(0.5, 2, predictors),
    )


def test_joined_sources_are_those_of_plain_counting() -> None:
    rng = np.random.default_rng(1)
    sources = [random_source(rng, 40, 12) for _ in range(3)]
    ends = np.cumsum([0, *(len(source.words) for source in sources)])
    words, counts, capacities, offsets = tabulate_expected(
        np.concatenate([source.words for source in sources]),
        np.concatenate([source.counts for source in sources]),
        np.stack([source.offsets + end for source, end in zip(sources, ends[:-1], strict=True)]),
        np.stack([source.scales for source in sources]),
    )
    for i in range(40):
        plain = [Counter(source.words[source.offsets[i] : source.offsets[i + 1]].tolist()) for source in sources]
        some = slice(offsets[i], offsets[i + 1])
        assert words[some].tolist() == sorted(set().union(*plain))
        for word, row, capacity in zip(words[some].tolist(), counts[some], capacities[some], strict=True):
            assert capacity == max(times[word] for times in plain)
            for source, value in zip(sources, row, strict=True):
                entries = slice(source.offsets[i], source.offsets[i + 1])
                mass = source.counts[entries][source.words[entries] == word].sum(dtype=np.float64)
                np.testing.assert_allclose(value, mass * source.scales[i], rtol=1e-5)
    assert offsets[-1] == len(words)


def test_predictors_that_expect_nothing() -> None:
    none = np.empty(0, np.int32), np.empty(0, np.float32)
    words, counts, capacities, offsets = tabulate_expected(*none, np.zeros((2, 4), np.int64), np.ones((2, 3)))
    assert (len(words), counts.shape, len(capacities), offsets.tolist()) == (0, (0, 2), 0, [0, 0, 0, 0])


def test_expected_words_that_the_other_text_lacks_are_left_out() -> None:
    lists, other = tokenize(["red green red", "blue", ""]), number_observed(tokenize(["green blue", "red"]))
    numbered = number_expected(expected_copies(lists), lists.lengths, other.types)
    assert numbered.offsets.tolist() == [0, 3, 4, 4] and numbered.scales.tolist()[:2] == [1.0, 1.0]
    assert [other.types[word] for word in numbered.words] == lists.ids.tolist()
    without_red = number_expected(expected_copies(lists), lists.lengths, number_observed(tokenize(["green"])).types)
    assert (without_red.words.tolist(), without_red.offsets.tolist()) == ([0], [0, 1, 1, 1])


def test_selected_sentences_keep_their_words() -> None:
    observed = number_observed(tokenize(["a b a", "", "c", "b c b"]))
    chosen = observed.select(np.array([3, 0]))
    assert chosen.offsets.tolist() == [0, 2, 4]
    assert chosen.words[:2].tolist() == observed.words[observed.offsets[3] :].tolist()
    assert chosen.counts[2:].tolist() == observed.counts[:2].tolist()
    expected = ExpectedWords(observed.types, np.ones(3, np.float32), np.array([0, 1, 3]), np.array([1.0, 4.0]))
    numbered = number_expected(expected, np.array([1, 2]), observed.types).select(np.array([1]))
    assert (numbered.words.tolist(), numbered.offsets.tolist(), numbered.scales.tolist()) == ([1, 2], [0, 2], [0.5])
