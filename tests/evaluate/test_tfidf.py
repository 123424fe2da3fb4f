"""TF-IDF against scikit-learn's, and the overlap of words and trigrams by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paraloom.evaluate.tfidf import Overlap, TfIdf
from paraloom.text.tokens import tokenize

SENTENCES = ["a dog runs home", "A dog sleeps", "stocks fell, again and again", "", "a cat sleeps at home"]


def words(text):
    return [word.strip(",") for word in text.lower().split()]


def trigrams(text):
    padded = f" {text.lower()} "
    return [padded[i : i + 3] for i in range(len(padded) - 2)]


def test_weights_are_those_of_scikit_learn():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    theirs = text.TfidfVectorizer(analyzer=words).fit(SENTENCES)
    lists = tokenize(SENTENCES, punctuation=False)
    table = TfIdf.count([tokenize(SENTENCES[:2], punctuation=False), tokenize(SENTENCES[2:], punctuation=False)])
    ours = table.matrix(lists)
    expected = theirs.transform(SENTENCES)
    np.testing.assert_allclose((ours @ ours.T).toarray(), (expected @ expected.T).toarray(), atol=1e-12)
    assert sorted(table.idf) == pytest.approx(sorted(theirs.idf_))


def test_overlap_is_the_mean_of_two_cosines_of_scikit_learn():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    first, second = SENTENCES[:4], SENTENCES[1:]
    both = [*first, *second]
    cosines = []
    for analyzer in (words, trigrams):
        vectors = text.TfidfVectorizer(analyzer=analyzer).fit(both)
        cosines.append(np.asarray(vectors.transform(first).multiply(vectors.transform(second)).sum(axis=1)).ravel())
    overlap = Overlap.count([first, second])
    np.testing.assert_allclose(overlap.similarities(first, second), np.mean(cosines, axis=0), atol=1e-6)
    assert overlap.signature.startswith("overlap|units:words+trigrams|weights:tfidf|sentences:8|")


def test_weights_by_hand():
    # Two sentences: `a` is in both (IDF 1), `dog` and `cat` in one (IDF 1 + ln(3/2)).
    rare = 1 + math.log(1.5)
    table = TfIdf.count([tokenize(["a dog", "a cat"])])
    row = table.matrix(tokenize(["a dog"])).toarray()[0]
    assert sorted(row[row > 0]) == pytest.approx(sorted(np.array([1, rare]) / math.hypot(1, rare)))
    assert table.matrix(tokenize(["fish", ""])).nnz == 0


def test_the_batches_do_not_matter():
    whole, parts = Overlap.count([SENTENCES]), Overlap.count([[sentence] for sentence in SENTENCES])
    pairs = (SENTENCES, SENTENCES[::-1])
    np.testing.assert_array_equal(whole.similarities(*pairs), parts.similarities(*pairs))
    assert whole.similarities(SENTENCES, SENTENCES).tolist() == pytest.approx([1, 1, 1, 0, 1])
