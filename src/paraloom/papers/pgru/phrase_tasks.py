"""Phrase similarity: SemEval 2013 task 5a and Turney's noun-modifier questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import digest, signature
from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.core.results import ResultRecord, text_table
from paraloom.core.stats import wilson_interval
from paraloom.embed.average import normalize_vectors
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.base import EvaluationResult
from paraloom.io import read_lines
from paraloom.papers.published import PAPERS, published_figures

Similarity: TypeAlias = Literal["cosine", "dot"]

# Rounding can separate two equal products by some 1e-6; closer ones are a tie.
_TIE = 1e-5

FILES = {
    "semeval-train": "semeval2013-5a/en.trainSet",
    "semeval-test": "semeval2013-5a/en.testSet",
    "turney-train": "turney2012/jair.test",
    "turney-test": "turney2012/jair.train",
}
"""Paths below the folder of tasks.  Turney's 1,500 test questions are in the file called jair.train (the paper has
1,500 for testing and 680 for training, of which jair.test has 432)."""


@dataclass(frozen=True)
class JudgedPhrase:
    """An item of SemEval 2013 task 5a: whether a phrase of two words and a word mean the same."""

    phrase: str
    word: str
    same: bool


@dataclass(frozen=True)
class PhraseQuestion:
    """A question of Turney 2012: which choice means the same as a phrase of two words; the answer is the first."""

    phrase: str
    choices: tuple[str, ...]

    @property
    def reversed(self) -> str:
        """The two words in reverse order."""
        return " ".join(reversed(self.phrase.split(" ")))


@dataclass(frozen=True)
class PhraseRow(ResultRecord):
    """The accuracy on a task of n items, in percent, with its 95 % interval (Wilson)."""

    task: str
    accuracy: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class PhraseResult(EvaluationResult):
    """The accuracies; the similarity above which SemEval's items count as the same; what was measured and how."""

    rows: tuple[PhraseRow, ...]
    threshold: float
    signature: str

    def accuracy(self, task: str) -> float:
        """The accuracy on a task in percent."""
        return next(row.accuracy for row in self.rows if row.task == task)

    def format(self) -> str:
        """A plain-text table, followed by the paper's."""
        ours = [(row.task, f"{row.accuracy:.2f}", f"[{row.low:.1f}, {row.high:.1f}]", str(row.n)) for row in self.rows]
        theirs = [(name, *map("{:.2f}".format, figures)) for name, figures in published_figures("pgru-1").items()]
        tables = [
            *text_table(("task", "accuracy", "95 %", "items"), ours),
            "",
            *text_table(("published (PGRU)", *PAPERS["pgru-1"].columns), theirs),
        ]
        return "\n".join([*tables, "", self.signature])


def evaluate_phrases(
    encoder: EncoderLike | str | Path, folder: str | Path, *, similarity: Similarity = "cosine"
) -> PhraseResult:
    """Compute accuracy on SemEval 2013 task 5a and on Turney's questions with five and ten choices.

    SemEval: a phrase and a word are the same where their similarity is above a threshold, that of the training set.
    Turney(5): the answer has the highest similarity of five choices; Turney(10): also higher than those of the reversed
    phrase with all five. Credit is shared among equal choices, so that an encoder that ignores word order gets half of
    (5) in (10).

    Args:
        encoder: A bundled name such as english, a folder, or a sentence-transformers model.
        folder: A folder of phrase tasks, such as data/phrase.
        similarity: The cosine, or for encoders that were trained by it, the dot product.

    Returns:
        The accuracies.

    Reference:
        PGRU Table 1.
    """
    model = open_encoder(encoder)
    folder = Path(folder)
    test = read_judged_phrases(folder / FILES["semeval-test"])
    questions = read_questions(folder / FILES["turney-test"])
    train = read_judged_phrases(folder / FILES["semeval-train"])
    threshold = best_threshold(*_similarities(model, train, similarity))
    scores, same = _similarities(model, test, similarity)
    five, ten = answer_credits(model, questions, similarity)
    rows = (_row("SemEval2013", (scores > threshold) == same), _row("Turney2012(5)", five), _row("Turney2012(10)", ten))
    how = signature("phrases", similarity=similarity, ties="shared", encoder=digest(model.signature)[:12])
    return PhraseResult(rows, threshold, how)


def best_threshold(scores: npt.NDArray[np.float32], same: npt.NDArray[np.bool_]) -> float:
    """Find the threshold with the highest accuracy."""
    order = np.argsort(scores, kind="stable")
    sorted_scores = scores[order].astype(np.float64)
    # With k items below the threshold these are right: the different ones below it and the same ones above it.
    below = np.concatenate([[0], np.cumsum(~same[order])])
    above = same.sum() - np.concatenate([[0], np.cumsum(same[order])])
    edges = np.concatenate([[sorted_scores[0] - 1], (sorted_scores[1:] + sorted_scores[:-1]) / 2, sorted_scores[-1:]])
    return round(float(edges[int((below + above).argmax())]), 6)


def answer_credits(
    encoder: EncoderLike, questions: Sequence[PhraseQuestion], similarity: Similarity = "cosine"
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Credit for each question: 1 where the answer is the nearest choice, 1 / k where k choices are, otherwise 0."""
    words = list(dict.fromkeys(word for question in questions for word in question.choices))
    index = {word: i for i, word in enumerate(words)}
    choices = np.array([[index[word] for word in question.choices] for question in questions])
    vectors = phrase_vectors(encoder, words, similarity)
    phrases = phrase_vectors(encoder, [question.phrase for question in questions], similarity)
    reversed_phrases = phrase_vectors(encoder, [question.reversed for question in questions], similarity)
    five = np.einsum("nd,nkd->nk", phrases, vectors[choices])
    others = np.einsum("nd,nkd->nk", reversed_phrases, vectors[choices])
    return _credits(five), _credits(np.concatenate([five, others], axis=1))


def read_judged_phrases(path: str | Path) -> list[JudgedPhrase]:
    """Read SemEval 2013 task 5a: records of four lines, two of the phrase, the word, and 1 or 0."""
    items = []
    for row, (first, second, word, label) in _records(path, 4):
        if label not in ("0", "1"):
            raise DataError(f"expected 1 or 0, got '{label}'", file=path, row=row + 3)
        items.append(JudgedPhrase(_phrase(first, second), word, label == "1"))
    return items


def read_questions(path: str | Path) -> list[PhraseQuestion]:
    """Read Turney's questions: records of nine lines, two of the phrase, the answer, its own two words, four others."""
    return [
        PhraseQuestion(_phrase(first, second), (answer, *others[2:]))
        for _, (first, second, answer, *others) in _records(path, 9)
    ]


def task_texts(folder: str | Path) -> Iterator[str]:
    """Every phrase and word of the tasks, of training and test sets."""
    for name in ("semeval-train", "semeval-test"):
        for item in read_judged_phrases(Path(folder) / FILES[name]):
            yield from (item.phrase, item.word)
    for name in ("turney-train", "turney-test"):
        for question in read_questions(Path(folder) / FILES[name]):
            yield from (question.phrase, *question.choices)


def _similarities(
    encoder: EncoderLike, items: Sequence[JudgedPhrase], similarity: Similarity
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    first = phrase_vectors(encoder, [item.phrase for item in items], similarity)
    second = phrase_vectors(encoder, [item.word for item in items], similarity)
    scores: npt.NDArray[np.float32] = np.einsum("nd,nd->n", first, second)
    return scores, np.array([item.same for item in items])


def _credits(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    best = scores >= scores.max(axis=1, keepdims=True) - _TIE
    return np.where(best[:, 0], 1 / best.sum(axis=1), 0.0)


def phrase_vectors(encoder: EncoderLike, texts: list[str], similarity: Similarity) -> npt.NDArray[np.float32]:
    """Vectors of texts whose dot products are the similarities."""
    vectors = encoder.encode(texts)
    return vectors if similarity == "dot" else normalize_vectors(vectors)


def _row(task: str, credits: npt.NDArray[Any]) -> PhraseRow:
    share, n = float(np.mean(credits)), len(credits)
    low, high = wilson_interval(share * n, n)
    return PhraseRow(task, 100 * share, 100 * low, 100 * high, n)


def _phrase(first: str, second: str) -> str:
    return f"{first.partition(chr(9))[0]} {second.partition(chr(9))[0]}"


def _records(path: str | Path, size: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each record with the row of its first line."""
    lines = iter(read_lines(path))
    for number, record in enumerate(zip_longest(*[lines] * size)):
        row = number * size + 1
        if None in record:
            raise DataError(f"the last record has fewer than {size} lines", file=path, row=row)
        if not (record[0].count("\t") == record[1].count("\t") == 1):
            raise DataError("expected 'word<TAB>tag' in the first two lines of a record", file=path, row=row)
        yield row, record
