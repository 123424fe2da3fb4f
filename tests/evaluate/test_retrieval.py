"""Finding the right paraphrase among N, and the translation figures."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu

from paraloom.core.errors import DataError
from paraloom.evaluate.retrieval import choose_among
from paraloom.evaluate.translation import evaluate_translation


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


ANCHORS = [str(number) for number in range(40)]


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
    assert choose_among(Table(), ANCHORS, paraphrases, n=40).accuracy == expected


def test_an_encoder_that_says_the_same_of_everything_scores_nothing():
    assert choose_among(Table(blind=True), ANCHORS, ANCHORS, n=10).accuracy == 0.0


def test_repeated_paraphrases_are_not_drawn_against_themselves():
    doubled = ANCHORS + ANCHORS
    found = choose_among(Table(), doubled, doubled, n=40)
    assert (found.accuracy, found.anchors) == (1.0, 80)


@pytest.mark.parametrize(("a", "b"), [(ANCHORS, ANCHORS[:-1]), (ANCHORS[:5], ANCHORS[:5])])
def test_too_few_or_uneven_sentences_are_an_error(a, b):
    with pytest.raises(DataError):
        choose_among(Table(), a, b, n=10)


def test_translation_figures_are_sacrebleus():
    hypotheses, references = ["A dog runs fast.", "Hello"], ["A dog is running fast.", "Hello!"]
    figures = evaluate_translation(hypotheses, references)
    assert figures["bleu"] == sacrebleu.corpus_bleu(hypotheses, [references]).score
    assert figures["chrf"] == sacrebleu.corpus_chrf(hypotheses, [references]).score
    assert "tok:13a" in figures["bleu_signature"] and "nrefs:1" in figures["chrf_signature"]


@pytest.mark.parametrize(
    ("hypotheses", "references", "said"), [(["a"], ["a", "b"], "1 hypotheses"), ([], [], "no sen")]
)
def test_counts_must_match(hypotheses, references, said):
    with pytest.raises(DataError, match=said):
        evaluate_translation(hypotheses, references)
