"""Retrieval of paraphrases, and BLEU and chrF of translations."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu

from paraloom.core.errors import DataError
from paraloom.evaluate.translation import evaluate_translation
from paraloom.papers.pgru.retrieval import retrieval_accuracy


class Table:
    """Sentences are numbers; their vectors are one-hot, or all the same when `blind`."""

    dimension = 64

    def __init__(self, blind: bool = False) -> None:
        self.signature = f"table-{blind}"
        self.blind = blind

    def encode(self, sentences):
        if self.blind:
            return np.full((len(sentences), 64), 1 / 3, np.float32)
        return np.eye(64, dtype=np.float32)[[int(sentence.split()[0]) for sentence in sentences]]


QUERIES = [str(number) for number in range(40)]


@pytest.mark.parametrize(
    ("paraphrases", "expected"),
    [
        ([f"{number} again" for number in range(40)], 1.0),
        ([f"{(number + 1) % 40} again" for number in range(40)], 0.0),
        ([f"{number if number % 2 else number + 1} {number}" for number in range(40)], 0.0),
    ],
    ids=["all right", "all wrong", "each tied or wrong"],
)
def test_accuracy_by_hand(paraphrases, expected):
    assert retrieval_accuracy(Table(), QUERIES, paraphrases, num_candidates=40) == expected


def test_equal_vectors_for_all_sentences_have_an_accuracy_of_zero():
    assert retrieval_accuracy(Table(blind=True), QUERIES, QUERIES, num_candidates=10) == 0.0


def test_repeated_paraphrases_are_not_candidates_against_themselves():
    doubled = QUERIES + QUERIES
    assert retrieval_accuracy(Table(), doubled, doubled, num_candidates=40) == 1.0


@pytest.mark.parametrize(("a", "b"), [(QUERIES, QUERIES[:-1]), (QUERIES[:5], QUERIES[:5])])
def test_too_few_or_unequal_numbers_of_sentences_are_an_error(a, b):
    with pytest.raises(DataError):
        retrieval_accuracy(Table(), a, b, num_candidates=10)


def test_translation_figures_are_sacrebleus():
    hypotheses, references = ["A dog runs fast.", "Hello"], ["A dog is running fast.", "Hello!"]
    result = evaluate_translation(hypotheses, references)
    figures = result.to_dict()
    assert result.bleu.score == figures["bleu"] == sacrebleu.corpus_bleu(hypotheses, [references]).score
    assert result.chrf.score == figures["chrf"] == sacrebleu.corpus_chrf(hypotheses, [references]).score
    assert "tok:13a" in figures["bleu_signature"] and "nrefs:1" in figures["chrf_signature"]
    assert str(result).splitlines()[0].startswith(f"BLEU {result.bleu.score:.2f}")


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"), [(["a"], ["a", "b"], "got 2 for 1 hypotheses"), ([], [], "no sentences")]
)
def test_counts_must_match(hypotheses, references, message):
    with pytest.raises(DataError, match=message):
        evaluate_translation(hypotheses, references)
