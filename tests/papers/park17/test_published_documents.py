"""Document pairs as PARK17 and MultiNews make them, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from toy_documents import documents

from paraloom.alignment.document_features import Documents
from paraloom.alignment.document_pairs import DocumentPair
from paraloom.alignment.images import ImageKey
from paraloom.papers.multinews.document_pairs import all_scores, pair_by_scores
from paraloom.papers.park17 import topic_pairs
from paraloom.papers.park17.topic_pairs import pair_by_topics

SOURCE = documents(["our Zoo Riga since 1990\nis. again", "nothing to see"], prefix="s")
TARGET = documents(
    ["der Zoo in Riga seit 1991 ist offen", "eins zwei acht. neun. im Zoo", "nichts", "nichts zu sehen"],
    prefix="t",
)


def test_scores_by_hand() -> None:
    [scores] = all_scores(SOURCE, TARGET)
    # Sentences: 3 (in two lines) and 1 against 1, 3, 1, 1.  Words: 8 and 3 against 8, 8, 1, 3.
    assert scores.sentences == pytest.approx(np.array([[1 / 3, 1, 1 / 3, 1 / 3], [1, 1 / 3, 1, 1]]))
    assert scores.words == pytest.approx(np.array([[8 / 8, 8 / 8, 1 / 8, 3 / 8], [3 / 8, 3 / 8, 1 / 3, 1]]))
    # Names of the first source: Zoo, Riga, 1990.  The first target shares two of its three, the second has one, shared.
    assert scores.entities == pytest.approx(np.array([[2 / 3, 1 / 3 * 1 / 3, 0, 0], [0, 0, 0, 0]]))
    assert scores.total[0, 1] == pytest.approx(1 + 1 + 1 / 9)


def test_the_best_of_all_targets_is_taken_also_without_a_shared_word() -> None:
    pairs = pair_by_scores(SOURCE, TARGET)
    assert [(pair.source, pair.target) for pair in pairs] == [("s0", "t1"), ("s1", "t3")]
    assert pairs[0].score == pytest.approx(2 + 1 / 9)
    assert pairs[0].margin == pytest.approx(2 + 1 / 9 - 2)
    assert pair_by_scores(SOURCE, documents([])) == []
    assert pair_by_scores(documents([]), TARGET) == []


def test_words_are_compared_unscaled() -> None:
    # The targets have twice the words of the sources: that is a ratio of one half for each true pair.
    source, target = documents(["a b", "a b c d"]), documents(["a b c d", "a b c d e f g h"])
    assert np.concatenate([scores.words for scores in all_scores(source, target)]).tolist() == [[0.5, 0.25], [1, 0.5]]


def test_pictures_are_a_further_score() -> None:
    picture = [ImageKey("1" * 64, None)]
    source = documents(["a b c"], images=[picture])
    target = documents(["a b c", "a b"], images=[[], picture])
    assert [pair.target for pair in pair_by_scores(source, target)] == ["d0"]
    [with_pictures] = pair_by_scores(source, target, pictures=0.5)
    assert with_pictures.target == "d1" and with_pictures.score == pytest.approx(1 + 2 / 3 + 0.5)


def test_blocks_of_sources_have_their_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pair_by_scores(TARGET, SOURCE)
    monkeypatch.setattr("paraloom.papers.multinews.document_pairs._BLOCK", 1)
    assert pair_by_scores(TARGET, SOURCE) == whole


@pytest.fixture
def topics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Topic distributions by hand instead of a topic model."""

    def vectors(sides: object, topics: int, seed: int) -> list[np.ndarray]:
        return [
            np.array([[1, 0, 0], [0.6, 0.4, 0], [0, 0, 1]], np.float32),
            np.array([[0, 1, 0], [1, 0, 0]], np.float32),
        ]

    monkeypatch.setattr(topic_pairs, "topic_vectors", vectors)


@pytest.mark.parametrize(("threshold", "expected"), [(0.5, ["b1", "b1"]), (0.9, ["b1"]), (0.0, ["b1", "b1", "b0"])])
def test_topics_are_compared_over_all_pairs_above_theta(topics: None, threshold: float, expected: list[str]) -> None:
    source, target = documents(["x", "y", "z"], prefix="a"), documents(["p", "q"], prefix="b")
    pairs = pair_by_topics(source, target, threshold, topics=3)
    assert [pair.target for pair in pairs] == expected
    assert pairs[0] == DocumentPair("a0", "b1", 1.0, 1.0)
    if len(pairs) > 1:
        cosine, rival = 0.6 / 0.52**0.5, 0.4 / 0.52**0.5
        assert pairs[1].score == pytest.approx(cosine) and pairs[1].margin == pytest.approx(cosine - rival)


def test_no_topics_without_documents() -> None:
    empty = Documents.from_texts([])
    assert pair_by_topics(empty, SOURCE) == pair_by_topics(SOURCE, empty) == []
