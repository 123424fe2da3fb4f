"""Topics of documents, and documents compared by them."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from toy_documents import documents, made_up_world

from paraloom.alignment.candidates import CandidatePairs
from paraloom.alignment.document_evidence import dense_cosines, topic_unit_vectors
from paraloom.alignment.topics import topic_vectors
from paraloom.core.errors import MissingExtraError
from paraloom.text.tokens import tokenize


@pytest.fixture
def tomotopy() -> None:
    pytest.importorskip("tomotopy", reason="topics need tomotopy: pip install 'paraloom[topics]'")


def test_topics_are_distributions_and_the_same_for_the_same_seed(tomotopy: None) -> None:
    world = made_up_world()
    sides = [
        tokenize([*(page.translation for page in world.source), ""]),
        tokenize([page.text for page in world.target]),
    ]
    first, again, other = (topic_vectors(sides, topics=10, passes=45, seed=seed) for seed in (3, 3, 4))
    assert [side.shape for side in first] == [(61, 10), (60, 10)]
    assert all(side.dtype == np.float32 for side in first)
    assert np.concatenate(first).sum(axis=1) == pytest.approx(np.ones(121), abs=1e-4)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert not (first[0] == other[0]).all()
    assert first[0][60] == pytest.approx(np.full(10, 0.1))


@pytest.mark.parametrize("texts", [[], [""], ["a b", "c"], ["a"] * 40, ["a b c d e f " * 50] * 5])
def test_with_too_few_words_topics_are_uniform(texts: list[str], tomotopy: None) -> None:
    vectors = topic_vectors([tokenize(texts), tokenize(["z"])], topics=4)
    assert [side.shape for side in vectors] == [(len(texts), 4), (1, 4)]
    assert (np.concatenate(vectors) == 0.25).all()


def test_documents_are_compared_in_the_language_of_the_translations(tomotopy: None) -> None:
    world = made_up_world(30, 0, 0)
    kal = documents([page.text for page in world.source], [page.translation for page in world.source])
    english = documents([page.text for page in world.target])
    rows = {page.name: row for row, page in enumerate(world.target)}
    gold = dict(world.gold)
    counterparts = np.array([rows[gold[page.name]] for page in world.source])
    for source, target, sides in (
        (kal, english, (np.arange(30), counterparts)),
        (english, kal, (counterparts, np.arange(30))),
    ):
        vectors = topic_unit_vectors(source, target, (None, None), 1)
        right = dense_cosines(vectors, CandidatePairs(*sides))
        wrong = dense_cosines(vectors, CandidatePairs(sides[0], np.roll(sides[1], 1)))
        assert right.mean() > wrong.mean() + 0.2


def test_without_tomotopy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    with pytest.raises(MissingExtraError, match=r"paraloom\[topics\]"):
        topic_vectors([tokenize(["a"])])
