"""Words by number: what is observed, what is expected, and how several sources of evidence are tabulated."""

from __future__ import annotations

from collections import Counter

import numpy as np

from paraloom.alignment.numbered_words import (
    CAUSES,
    ExpectedWords,
    NumberedWords,
    expected_copies,
    expected_nothing,
    number_expected,
    number_observed,
)
from paraloom.alignment.word_kernels import tabulate_expected
from paraloom.text.tokens import tokenize


def random_source(rng: np.random.Generator, predictors: int, words: int) -> NumberedWords:
    """Up to eight words of each predictor, some of them twice."""
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 9, predictors))]).astype(np.int64)
    return NumberedWords(
        rng.integers(0, words, offsets[-1]).astype(np.int32),
        rng.integers(0, 4, offsets[-1]).astype(np.int32),
        rng.choice([0.25, 0.5, 0.75], offsets[-1]).astype(np.float32),
        offsets,
        rng.uniform(0.5, 2, predictors),
    )


def tabulated(sources: list[NumberedWords]) -> tuple[np.ndarray, ...]:
    """The table of several sources."""
    ends = np.cumsum([0, *(len(source.words) for source in sources)])
    return tabulate_expected(
        np.concatenate([source.words for source in sources]),
        np.concatenate([source.causes for source in sources]),
        np.concatenate([source.counts for source in sources]),
        np.stack([source.offsets + end for source, end in zip(sources, ends[:-1], strict=True)]),
        np.stack([source.scales for source in sources]),
    )


def test_sources_together_are_those_of_plain_counting() -> None:
    rng = np.random.default_rng(1)
    sources = [random_source(rng, 40, 12) for _ in range(3)]
    table = tabulated(sources)
    for i in range(40):
        plain = [Counter(source.words[source.offsets[i] : source.offsets[i + 1]].tolist()) for source in sources]
        some = slice(table.offsets[i], table.offsets[i + 1])
        assert table.words[some].tolist() == sorted(set().union(*plain))
        for word, row, capacity in zip(
            table.words[some].tolist(), table.counts[some], table.capacities[some], strict=True
        ):
            assert capacity == max(times[word] for times in plain)
            for source, value in zip(sources, row, strict=True):
                entries = slice(source.offsets[i], source.offsets[i + 1])
                mass = source.counts[entries][source.words[entries] == word].sum(dtype=np.float64)
                np.testing.assert_allclose(value, mass * source.scales[i], rtol=1e-5)
    assert table.offsets[-1] == len(table.words)


def test_causes_are_the_two_that_lead_to_expect_most() -> None:
    rng = np.random.default_rng(2)
    sources = [random_source(rng, 60, 3) for _ in range(2)]
    table = tabulated(sources)
    for i in range(60):
        for entry in range(table.offsets[i], table.offsets[i + 1]):
            strongest: dict[int, float] = {}
            times: Counter[int] = Counter()
            for source in sources:
                for k in range(source.offsets[i], source.offsets[i + 1]):
                    if source.words[k] != table.words[entry]:
                        continue
                    cause, strength = int(source.causes[k]), float(np.float32(source.counts[k] * source.scales[i]))
                    if strength > strongest.get(cause, -1.0):
                        strongest[cause], times[cause] = strength, 1
                    elif strength == strongest[cause]:
                        times[cause] += 1
            best = sorted(strongest.values(), reverse=True)[:2]
            kept = {int(cause): rank for rank, cause in enumerate(table.causes[entry]) if cause >= 0}
            assert [float(table.strengths[entry, rank]) for rank in kept.values()] == best
            assert all(strongest[cause] == table.strengths[entry, rank] for cause, rank in kept.items())


def test_predictors_that_expect_nothing() -> None:
    none = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32)
    table = tabulate_expected(*none, np.zeros((2, 4), np.int64), np.ones((2, 3)))
    assert (len(table.words), table.counts.shape, table.offsets.tolist()) == (0, (0, 2), [0, 0, 0, 0])
    numbered = number_expected(expected_nothing(3), np.array([1, 2, 0]), number_observed(tokenize(["a b"])).types)
    assert (len(numbered.words), numbered.offsets.tolist()) == (0, [0, 0, 0, 0])


def test_expected_words_that_the_other_text_lacks_are_left_out() -> None:
    lists, other = tokenize(["red green red", "blue", ""]), number_observed(tokenize(["green blue", "red"]))
    numbered = number_expected(expected_copies(lists), lists.lengths, other.types)
    assert numbered.offsets.tolist() == [0, 3, 4, 4] and numbered.scales.tolist()[:2] == [1.0, 1.0]
    assert [other.types[word] for word in numbered.words] == lists.ids.tolist()
    assert numbered.causes.tolist() == [int(word) % CAUSES for word in lists.ids.tolist()]
    without_red = number_expected(expected_copies(lists), lists.lengths, number_observed(tokenize(["green"])).types)
    assert (without_red.words.tolist(), without_red.offsets.tolist()) == ([0], [0, 1, 1, 1])


def test_selected_sentences_keep_their_words() -> None:
    observed = number_observed(tokenize(["a b a", "", "c", "b c b"]))
    chosen = observed.select(np.array([3, 0]))
    assert chosen.offsets.tolist() == [0, 2, 4]
    assert chosen.words[:2].tolist() == observed.words[observed.offsets[3] :].tolist()
    assert chosen.counts[2:].tolist() == observed.counts[:2].tolist()
    types = observed.types
    expected = ExpectedWords(types, types, np.ones(3, np.float32), np.array([0, 1, 3]), np.array([1.0, 4.0]))
    numbered = number_expected(expected, np.array([1, 2]), types).select(np.array([1]))
    assert (numbered.words.tolist(), numbered.offsets.tolist(), numbered.scales.tolist()) == ([1, 2], [0, 2], [0.5])
    assert numbered.causes.tolist() == [int(word) % CAUSES for word in types[1:].tolist()]
