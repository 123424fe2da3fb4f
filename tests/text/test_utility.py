"""Expected utility: by hand, by sacreBLEU, and by the plain definition with multiplicities."""

from __future__ import annotations

import random

import numpy as np
import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.text.bleu import bleu_from_counts
from paraloom.text.buffers import code_points
from paraloom.text.chrf import chrf_from_points
from paraloom.text.ngram_kernels import prefixes_of, shared_in_groups, shared_ngrams
from paraloom.text.tokens import tokenize
from paraloom.text.utility import expected_utility

ODD = ["", " ", "a", "ü€ 𝄞", "aaaaaaaaaaaaaaaaaaaaaa", "A a", "a\u00a0a", "the cat sat"]


def random_texts(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    words = ["a", "dog", "dogs", "the", "Hund", "läuft", "quickly.", "1,5"]
    return [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(count)] + rng.sample(ODD, 3)


def test_by_hand() -> None:
    # "ab" and "ac" share 1 of 2 characters and 0 of 1 bigrams: precision and recall (1/2 + 0) / 2 = 1/4, so chrF is 25.
    # "ab" and "a": one order; precision 1/2, recall 1: F2 = 5 * 1/2 * 1 / (4 * 1/2 + 1) = 5/6. The other way: precision
    # 1, recall 1/2: F2 = 5 * 1/2 / (4 + 1/2) = 5/9.
    texts = ["ab", "ac", "a"]
    (values,) = expected_utility([texts], [texts])
    expected = [(100 + 25 + 500 / 6) / 3, (25 + 100 + 500 / 6) / 3, (500 / 9 + 500 / 9 + 100) / 3]
    np.testing.assert_allclose(values, expected, rtol=1e-12)


def test_a_sample_counts_as_often_as_it_occurs_and_a_candidate_need_not_be_one() -> None:
    (values,) = expected_utility([["ab", "ac"]], [["ab", "ab", "a"]])
    np.testing.assert_allclose(values, [(200 + 500 / 6) / 3, (50 + 500 / 6) / 3], rtol=1e-12)


def test_chrf_equals_that_of_sacrebleu() -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="pip install 'paraloom[evaluate]'")
    groups = [random_texts(seed, 12) for seed in range(4)]
    for texts, values in zip(groups, expected_utility(groups, groups), strict=True):
        expected = [np.mean([sacrebleu.sentence_chrf(a, [b]).score for b in texts]) for a in texts]
        np.testing.assert_allclose(values, expected, atol=1e-6)


def test_both_metrics_equal_their_scores_pair_by_pair() -> None:
    candidates, samples = [random_texts(1, 5), ["a dog"]], [random_texts(2, 7), ["a dog", "dogs", "a dog"]]
    for metric in ("chrf", "bleu"):
        for texts, references, values in zip(
            candidates, samples, expected_utility(candidates, samples, metric), strict=True
        ):
            expected = [np.mean([pair_score(text, reference, metric) for reference in references]) for text in texts]
            np.testing.assert_allclose(values, expected, atol=1e-4)


def pair_score(translation: str, reference: str, metric: str) -> float:
    if metric == "chrf":
        return float(np.nan_to_num(chrf_from_points(code_points([translation]), code_points([reference])))[0])
    lists = tokenize([translation, reference], lower=False)
    shared = shared_ngrams(prefixes_of(lists.ids), lists.offsets, np.array([0]), np.array([1]), 4)
    return float(bleu_from_counts(shared, lists.lengths[:1], lists.lengths[1:])[0])


def test_the_kernel_equals_the_one_for_single_pairs() -> None:
    groups = [random_texts(seed, 3 + seed) for seed in range(5)]
    lists = tokenize([text for group in groups for text in group])
    starts = np.cumsum([0, *map(len, groups)])
    pairs = [np.array(np.triu_indices(len(group))) + start for group, start in zip(groups, starts, strict=False)]
    left, right = np.concatenate(pairs, axis=1)
    bounds = np.cumsum([0, *(part.shape[1] for part in pairs)])
    prefixes = prefixes_of(lists.ids)
    np.testing.assert_array_equal(
        shared_in_groups(prefixes, lists.offsets, starts, left, right, bounds, 4),
        shared_ngrams(prefixes, lists.offsets, left, right, 4),
    )


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = [random_texts(seed, 6) for seed in range(5)]
    whole = expected_utility(groups, groups)
    monkeypatch.setattr("paraloom.text.utility._BLOCK_PAIRS", 50)
    for a, b in zip(whole, expected_utility(groups, groups), strict=True):
        assert a.tolist() == b.tolist()


def test_sentences_without_candidates_or_samples() -> None:
    empty, undefined, value = expected_utility([[], ["a"], ["a"]], [["a"], [], ["a"]])
    assert empty.tolist() == [] and np.isnan(undefined).all() and value.tolist() == [100]
    assert expected_utility([], []) == []


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ConfigError, match="unknown metric 'chfr'; did you mean 'chrf'"):
        expected_utility([["a"]], [["a"]], "chfr")
    with pytest.raises(DataError, match="samples for 1 sentences, got those of 2"):
        expected_utility([["a"]], [["a"], ["a"]])
