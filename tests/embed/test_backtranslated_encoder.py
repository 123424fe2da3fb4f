"""`examples/backtranslated_encoder.py`: the pairs that its encoders learn from, and the line of its table."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.vocabulary import Vocabulary
from paraloom.evaluate.sts_tasks import STSPairs, STSTask

EXAMPLE = Path(__file__).parents[2] / "examples" / "backtranslated_encoder.py"


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))  # of word_vectors
    spec = importlib.util.spec_from_file_location("backtranslated_encoder", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "backtranslated_encoder", module)
    spec.loader.exec_module(module)
    return module


def test_only_shared_words_are_left_out_and_of_both_sides(recipe: Any) -> None:
    """The second side keeps its own word `is`, whatever else is missing; each shared word is missing half the time."""
    left = recipe.without_shared([("The dog runs.", "The dog is running.")] * 2000, seed=1)
    assert all("runs" in first.split() and "is running" in second for first, second in left)
    assert all(("dog" in first) == ("dog" in second) for first, second in left)
    counts = Counter(tuple(word for word in ("the", "dog", ".") if word in first.split()) for first, _ in left)
    # Eight subsets of three shared words, 2000 / 8 of each; three standard deviations are 3 √(2000 · 7) / 8 = 44.
    assert len(counts) == 8
    assert all(abs(count - 250) <= 60 for count in counts.values())


def test_a_pair_that_would_say_nothing_is_left_out(recipe: Any) -> None:
    """Of copies nothing differs; of `a b` and `a` the second side is empty, or both have the word."""
    assert recipe.without_shared([("Run!", "Run !")] * 20, seed=1) == []
    assert set(recipe.without_shared([("a b", "a")] * 50, seed=1)) == {("a b", "a")}


def test_wrong_pairs_have_the_same_sentences(recipe: Any) -> None:
    pairs = [(f"a{number}", f"b{number}") for number in range(50)]
    wrong = recipe.shuffled(pairs, seed=1)
    assert [first for first, _ in wrong] == [first for first, _ in pairs]
    assert {second for _, second in wrong} == {second for _, second in pairs}
    assert wrong != pairs


def test_pairs_with_a_test_sentence_are_left_out(recipe: Any) -> None:
    """Whatever its case, spaces and punctuation, and on either side."""
    task = STSPairs(STSTask("2012", "x", "x", "", ""), np.array([5.0]), ["A dog runs."], ["A dog is running."])
    pairs = [("a dog, runs", "x"), ("x", "A DOG IS RUNNING"), ("A dog ran.", "A dog runs fast.")]
    assert recipe.untested(pairs, {"2012": [task]}) == [("A dog ran.", "A dog runs fast.")]


def test_a_line_has_means_of_the_seeds_and_their_range(recipe: Any) -> None:
    figures = [{"2012": 60.0, "mean": 66.0}, {"2012": 62.0, "mean": 69.0}]
    starts = [{"2012": 0.0, "mean": 65.0}, {"2012": 0.0, "mean": 66.0}]
    line = recipe.row("name", "10", figures, starts, ["2012"])
    assert line == "| name | 10 | 67.50 (66.00 to 69.00) | +2.00 (+1.00 to +3.00) | 61.0 |"


def test_half_of_a_word_is_its_company(recipe: Any) -> None:
    """Squared lengths: half the random one, and half of (std √d / (1 + c f))², the same for all words as often."""
    vocabulary = Vocabulary("word", ["a", "b"])
    random = SentenceEncoder(parse_spec("word"), {"word": Average(vocabulary, np.zeros((2, 300), np.float32))})
    company = np.zeros((2, recipe.COMPANY), np.float32)
    company[:, 0] = 1
    table = recipe.company_start(random, company, np.array([0.0, 1e-3])).parts["word"].vectors
    expected = np.array([0.5, 0.5 / 4]) * recipe.WORD_STD**2 * 300
    assert np.einsum("vd,vd->v", table, table) == pytest.approx(expected, rel=1e-4)


def test_differences_by_task_begin_with_the_highest(recipe: Any) -> None:
    figures = [{"OnWN": 60.0, "images": 66.0}, {"OnWN": 62.0, "images": 69.0}]
    starts = [{"OnWN": 62.0, "images": 65.0}, {"OnWN": 63.0, "images": 66.0}]
    assert recipe.gains(figures, starts, ["OnWN", "images"]) == "images +2.0, OnWN -1.5"
