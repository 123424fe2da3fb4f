"""Phrase tasks: the released formats, credit for answers and ties, and the real files."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.core.errors import DataError
from paraloom.core.stats import wilson_interval
from paraloom.papers.pgru.phrase_tasks import (
    FILES,
    PhraseQuestion,
    answer_credits,
    best_threshold,
    evaluate_phrases,
    read_judged_phrases,
    read_questions,
)


class Bag:
    """Sums word vectors: ignores word order."""

    signature = "bag"
    dimension = 8

    def __init__(self, vectors):
        self.vectors = vectors

    def encode(self, sentences):
        zero = np.zeros(self.dimension)
        return np.array([sum((self.vectors.get(w, zero) for w in s.split()), zero) for s in sentences], np.float32)


class Last(Bag):
    """Encodes only the last word: depends on word order."""

    signature = "last"

    def encode(self, sentences):
        return super().encode([s.split()[-1] for s in sentences])


AXES = {word: np.eye(8)[i] for i, word in enumerate(["black", "cat", "feline", "ink", "dog", "tree", "sky"])}
AXES["feline"] = AXES["cat"] + 0.1 * AXES["sky"]


def test_ties_are_shared_and_order_counts_among_ten():
    question = PhraseQuestion("black cat", ("feline", "ink", "dog", "tree", "sky"))
    assert question.reversed == "cat black"
    five, ten = answer_credits(Bag(AXES), [question])
    assert (five.tolist(), ten.tolist()) == ([1.0], [0.5])
    five, ten = answer_credits(Last(AXES), [question])
    assert (five.tolist(), ten.tolist()) == ([1.0], [1.0])
    five, ten = answer_credits(Bag({}), [question])
    assert (five.tolist(), ten.tolist()) == ([0.2], [0.1])
    wrong = PhraseQuestion("black cat", ("ink", "feline", "dog", "tree", "sky"))
    assert answer_credits(Bag(AXES), [wrong])[0].tolist() == [0.0]


def test_dot_and_cosine_may_answer_differently():
    vectors = {"a": np.eye(8)[0], "long": 5 * (np.eye(8)[0] + np.eye(8)[1]), "near": np.eye(8)[0]}
    question = PhraseQuestion("a a", ("near", "long", "x", "y", "z"))
    assert answer_credits(Bag(vectors), [question], "cosine")[0].tolist() == [1.0]
    assert answer_credits(Bag(vectors), [question], "dot")[0].tolist() == [0.0]


def test_the_threshold_is_the_best_of_all():
    draw = np.random.default_rng(1)
    for _ in range(50):
        scores = draw.normal(size=9).astype(np.float32).round(1)
        same = draw.random(9) < 0.5
        accuracy = ((scores > best_threshold(scores, same)) == same).mean()
        # Not below the accuracy of any cut between two different scores.
        cuts = [*(scores - 1e-3), scores.max()]
        assert accuracy == max(((scores > cut) == same).mean() for cut in cuts) or len(set(scores)) < 9


def test_files_are_read_in_the_released_format(tmp_path):
    (tmp_path / "judged").write_text("sudden\tJJ\nrush\tNN\nspate\n1\nacute\tJJ\nawareness\tNN\nwaiter\n0\n")
    assert [(item.phrase, item.word, item.same) for item in read_judged_phrases(tmp_path / "judged")] == [
        ("sudden rush", "spate", True),
        ("acute awareness", "waiter", False),
    ]
    (tmp_path / "asked").write_text("double\tJJ\nstar\tNN\nbinary\ndouble\nstar\ndual\nlumen\nneut\nkera\n")
    assert read_questions(tmp_path / "asked") == [
        PhraseQuestion("double star", ("binary", "dual", "lumen", "neut", "kera"))
    ]
    (tmp_path / "short").write_text("double\tJJ\nstar\tNN\nbinary\n")
    (tmp_path / "label").write_text("sudden\tJJ\nrush\tNN\nspate\n1\nacute\tJJ\nawareness\tNN\nwaiter\nyes\n")
    (tmp_path / "tags").write_text("double\nstar\tNN\nbinary\n1\n")
    for name, row in (("short", 1), ("label", 8), ("tags", 1)):
        with pytest.raises(DataError) as error:
            read_judged_phrases(tmp_path / name)
        assert error.value.row == row


def test_the_interval_is_wilsons():
    # Newcombe 1998, Table I: 81 of 263, method 3.
    low, high = wilson_interval(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert wilson_interval(0, 20)[0] == 0
    assert wilson_interval(20, 20)[1] == 1


def test_the_real_tasks_have_their_published_sizes(data):
    folder = data / "phrase"
    assert len(read_judged_phrases(folder / FILES["semeval-train"])) == 11175
    assert len(read_judged_phrases(folder / FILES["semeval-test"])) == 7490
    assert len(read_questions(folder / FILES["turney-train"])) == 432
    assert len(read_questions(folder / FILES["turney-test"])) == 1500
    result = evaluate_phrases(Bag({}), folder)
    assert result.accuracy("Turney2012(5)") == pytest.approx(20)
    assert result.accuracy("Turney2012(10)") == pytest.approx(10)
    assert "GRU, task-specific" in result.format()
    assert result.to_dict()["rows"][0]["n"] == 7490
